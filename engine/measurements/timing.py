"""How long a piece of work takes: the shortest of several goes, since whatever else a machine does only adds time."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import torch

ENOUGH = 0.05
"""Seconds after which no further go is made, beyond the fewest."""
FEWEST, MOST = 5, 40


def shortest(work: Callable[[], object], device: torch.device, fewest: int = FEWEST) -> float:
    """Seconds of the shortest go; the first, which warms up, is not counted."""
    work()
    times: list[float] = []
    while len(times) < fewest or (sum(times) < ENOUGH and len(times) < MOST):
        _wait_for(device)
        began = perf_counter()
        work()
        _wait_for(device)
        times.append(perf_counter() - began)
    return min(times)


def _wait_for(device: torch.device) -> None:
    """An accelerator is given its work and goes on by itself: the clock is read when it is done."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)
