"""What is looked at along a run. It changes no number of the training, only what is said of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Watch:
    """By default everything a person sees in the lab."""

    snapshots: bool = True
    """Patterns, encoding and samples at geometrically spaced steps."""
    evaluations: int = 100
    """About so many validation passes a run, with the gradient norms by part."""
    memory: bool = True
    """Whether the memory of one step is measured at the end."""
    measurements: tuple[str, ...] = ()
    """Rows of ``engine.analysis.measurements.MEASUREMENTS``, taken from the trained model at the end."""


EVERYTHING = Watch()
