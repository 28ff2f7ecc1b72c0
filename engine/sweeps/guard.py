"""Whether a point may be started: its memory has to fit with room to spare, its time must not be out of all proportion."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.estimate.by_length import flops_at, memory_at
from engine.foundation.formatting import in_bytes, in_fine_time
from engine.sweeps.plan import Plan
from engine.sweeps.visit import Visit

SPARE = 2
"""The memory that is free must hold a point so many times."""
TRANSIENT = 4
"""Before a peak was measured: how many times what is kept a step may take at its highest."""
CAUTIOUS_RATE = 2e9
"""Floating-point operations a second, before anything was timed: slower than any machine of today."""
STEEPEST = 2.5
"""No cost here grows by more than this power."""


def reason_not_to(plan: Plan, kind: str, place: int, before: Sequence[Visit], room: int) -> str | None:
    """One sentence, or None where the point may be started.

    ``before``: the kind's visits with their memory, along the axis; ``room``: bytes that are free.
    """
    config, length = plan.config(kind, place), plan.length_at(place)
    sees = config.architecture.sees(config)
    if sees is not None and sees + 1 >= 4 * length:
        return f"its last layer would reach only beyond the {length} tokens there are"
    needed = needed_bytes(plan, kind, place, before)
    if needed * SPARE > room:
        return f"at its highest it would take about {in_bytes(needed)}, and {SPARE} times that must fit in the {in_bytes(room)} there are"
    seconds = needed_seconds(plan, kind, place, before)
    if seconds > plan.patience:
        return f"a step would take about {in_fine_time(seconds)}; the longest allowed is {plan.patience:g} s"
    return None


def needed_bytes(plan: Plan, kind: str, place: int, before: Sequence[Visit]) -> int:
    """The peak to expect: along the kind's own peaks so far, and no less than the formula's total."""
    config, length = plan.config(kind, place), plan.length_at(place)
    memory = memory_at(config, length)
    peaks = [(v.place, float(v.memory.peak)) for v in before if v.memory is not None and v.memory.peak is not None]
    told = memory.total
    if told is None:  # about forty numbers a token, width and layer
        told = 4 * memory.parameters + 160 * config.batch_size * length * config.d_model * config.n_layers
    return int(max(told, onward(peaks, place) if peaks else TRANSIENT * told))


def needed_seconds(plan: Plan, kind: str, place: int, before: Sequence[Visit]) -> float:
    """The step time to expect: along the kind's own so far; of one point alone, as the arithmetic grows."""

    def arithmetic(at: int) -> float:
        return flops_at(plan.config(kind, at), plan.length_at(at))

    if not before:
        return arithmetic(place) / CAUTIOUS_RATE
    if len(before) == 1:
        return before[0].train * arithmetic(place) / arithmetic(before[0].place)
    return onward([(visit.place, visit.train) for visit in before], place)


def onward(points: Sequence[tuple[int, float]], place: int) -> float:
    """The value at a further place, by the power law through the last two points; of one point alone, by the square."""
    (last, value), slope = points[-1], 2.0
    if len(points) > 1 and points[-2][1] > 0 < value:
        earlier, small = points[-2]
        slope = math.log(value / small) / math.log(last / earlier)
    return value * float((place / last) ** min(STEEPEST, max(0.0, slope)))
