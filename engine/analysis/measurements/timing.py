"""How long a piece of work takes: the shortest of several goes, since whatever else a machine does only adds time."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter

import torch

ENOUGH = 0.05
"""Seconds after which no further go is made, beyond the fewest."""
FEWEST, MOST = 5, 40


def shortest(work: Callable[[], object], device: torch.device, patience: float = math.inf) -> float:
    """Seconds of the shortest go; the first, which warms up, is not counted. After ``patience`` (s) one go is enough."""
    work()
    times: list[float] = []
    while not times or (sum(times) < patience and _more(times)):
        _wait_for(device)
        began = perf_counter()
        work()
        _wait_for(device)
        times.append(perf_counter() - began)
    return min(times)


def _more(times: list[float]) -> bool:
    return len(times) < FEWEST or (sum(times) < ENOUGH and len(times) < MOST)


def _wait_for(device: torch.device) -> None:
    """An accelerator is given its work and goes on by itself: the clock is read when it is done."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)
