"""What the page asks of a worker, remembered: a side that did not change is not computed anew. All raise JobError."""

from __future__ import annotations

from pathlib import Path

from engine.analysis.encoding_jobs import (
    DrawPictures,
    DrawPortrait,
    DrawSnapshot,
    FirstPortrait,
    FollowSnapshots,
    MeasureFinalScales,
    Pictures,
    Portrait,
)
from engine.config.run_config import RunConfig
from pages.parts.app import server
from pages.parts.app.remembered import remembered

TIMEOUT = 90.0
"""Seconds: the first question of a visit may come while the workers wake up."""


@remembered(64)
def pictures(config: RunConfig, shown: int) -> Pictures:
    """The part of :func:`portrait` that is seen first and found first."""
    return server.pool().ask(DrawPictures(config, shown), timeout=TIMEOUT)


@remembered(64)
def portrait(config: RunConfig, shown: int) -> FirstPortrait:
    """First weights, looked at over so many positions."""
    return server.pool().ask(DrawPortrait(config, shown), timeout=TIMEOUT)


@remembered(64)
def portrait_at(folder: Path, config: RunConfig, step: int, layer: int) -> Portrait:
    """What a run's snapshot kept."""
    return server.pool().ask(DrawSnapshot(str(folder), config, step, layer), timeout=TIMEOUT)


@remembered(16)
def along(folder: Path, steps: tuple[int, ...], layer: int) -> dict[str, list[float]]:
    """Numbers at each of a run's snapshots."""
    return server.pool().ask(FollowSnapshots(str(folder), steps, layer), timeout=TIMEOUT)


@remembered(16)
def final_scales(folder: Path, layer: int) -> dict[str, float]:
    """Of the trained weights that a run left."""
    return server.pool().ask(MeasureFinalScales(str(folder), layer), timeout=TIMEOUT)
