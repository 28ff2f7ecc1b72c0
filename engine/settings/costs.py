"""What a training step costs in memory, predicted or measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Memory:
    """Bytes of one training step, part by part. ``scores`` is the share of ``saved`` that attention scores take."""

    parameters: int
    gradients: int
    optimizer: int
    saved: int | None
    """Saved for backward; None where there is no formula ("measured only")."""
    scores: int | None
    peak: int | None = None
    """Highest allocation during a step; measured only."""

    @property
    def total(self) -> int | None:
        return None if self.saved is None else self.parameters + self.gradients + self.optimizer + self.saved
