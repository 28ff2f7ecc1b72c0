"""Questions of the page to a worker, with a cache: an unchanged side is not computed again. All raise JobError."""

from __future__ import annotations

from pathlib import Path

from engine.analysis.encoding_jobs import (
    ComputeMatrices,
    ComputePortrait,
    ComputePortraitOfSnapshot,
    FirstPortrait,
    FollowSnapshots,
    Matrices,
    MeasureFinalScales,
    Portrait,
)
from engine.config.run_config import RunConfig
from pages.parts.app.questions import ask
from pages.parts.app.remembered import remembered

TIMEOUT = 90.0
"""Seconds to wait for an answer, which includes the start of the workers."""


@remembered(64)
def pictures(config: RunConfig, shown: int) -> Matrices:
    """The quick part of :func:`portrait`, shown first."""
    return ask(ComputeMatrices(config, shown), timeout=TIMEOUT)


@remembered(64)
def portrait(config: RunConfig, shown: int) -> FirstPortrait:
    """The portrait of first weights over ``shown`` positions."""
    return ask(ComputePortrait(config, shown), timeout=TIMEOUT)


@remembered(64)
def portrait_at(folder: Path, config: RunConfig, step: int, layer: int) -> Portrait:
    """The portrait of a run's snapshot."""
    return ask(ComputePortraitOfSnapshot(str(folder), config, step, layer), timeout=TIMEOUT)


@remembered(16)
def along(folder: Path, steps: tuple[int, ...], layer: int) -> dict[str, list[float]]:
    """``order`` and ``scale`` at each of a run's snapshots."""
    return ask(FollowSnapshots(str(folder), steps, layer), timeout=TIMEOUT)


@remembered(16)
def final_scales(folder: Path, layer: int) -> dict[str, float]:
    """The scales of the trained weights of a run."""
    return ask(MeasureFinalScales(str(folder), layer), timeout=TIMEOUT)
