"""What a sweep finds: visits, one a point and round, and what was left out and why. Plain data, torch-free."""

from __future__ import annotations

from dataclasses import dataclass

from engine.settings.costs import Memory

QUANTITIES = {
    "train": "time of a training step",
    "inference": "time of a pass without gradient",
    "cached": "time of the next token with the past kept",
    "saved": "bytes saved for backward",
}
"""What is followed along the axis and fitted; times in seconds."""


@dataclass(frozen=True)
class Visit:
    """One point, looked at once."""

    kind: str
    place: int
    """Tokens or layers, as the plan's axis says."""
    round: int
    width: int
    parameters: int
    train: float
    """Seconds of a training step: forward, backward, optimizer. The shortest of a few goes, as all times here."""
    inference: float
    """Seconds of one pass without gradient; this is also what the next token costs where nothing is kept."""
    cached: float | None
    """Seconds of the next token where keys and values, or the state, are kept; None where that is not measured."""
    cache_bytes: int | None
    """Of what is kept, counted."""
    memory: Memory | None
    """Of a training step; measured in the first round only, since it is the same in every one."""
    inference_peak: int | None
    """Highest allocation of a pass without gradient, beyond the weights; first round only."""
    took: float = 0.0
    """Seconds that the whole visit took."""


@dataclass(frozen=True)
class Skip:
    """A point that was not started, and with it every further one of its kind."""

    kind: str
    place: int
    why: str


@dataclass(frozen=True)
class Machine:
    """Where it was measured."""

    device: str
    """In words."""
    kind: str
    """``cpu``, ``cuda`` ..."""
    torch: str
    threads: int
    free: int
    """Bytes that were free before."""
