"""The time of a piece of work: the shortest of several repetitions, since other load on the machine only adds time."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter

import torch

ENOUGH = 0.05
"""Seconds after which no further repetition is made, beyond the fewest."""
FEWEST, MOST = 5, 40


def shortest(work: Callable[[], object], device: torch.device, patience: float = math.inf) -> float:
    """Seconds of the shortest repetition after one warm-up. After ``patience`` (s) one repetition is enough."""
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
    """Wait until an accelerator has finished: calls return before their work is done."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)
