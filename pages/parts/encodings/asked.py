"""What the page asks of a worker, remembered: a side that did not change is not computed anew. All raise JobError."""

from __future__ import annotations

from pathlib import Path

from engine.config.run_config import RunConfig
from pages.parts.app import server
from pages.parts.app.remembered import remembered
from pages.parts.charts.portrait import Portrait

EXPLORE = "engine.analysis.encodings"
PATIENCE = 90.0
"""Seconds: the first question of a visit may come while the workers wake up."""


@remembered(64)
def pictures(config: RunConfig, shown: int) -> Portrait:
    """The part of :func:`portrait` that is seen first and found first."""
    found: Portrait = server.pool().ask(f"{EXPLORE}:pictures", config, shown, timeout=PATIENCE)
    return found


@remembered(64)
def portrait(config: RunConfig, shown: int) -> Portrait:
    """First weights, looked at over so many positions."""
    found: Portrait = server.pool().ask(f"{EXPLORE}:portrait", config, shown, timeout=PATIENCE)
    return found


@remembered(64)
def portrait_at(folder: Path, config: RunConfig, step: int, layer: int) -> Portrait:
    """What a run's snapshot kept."""
    found: Portrait = server.pool().ask(
        f"{EXPLORE}:portrait_of_snapshot", str(folder), config, step, layer, timeout=PATIENCE
    )
    return found


@remembered(16)
def along(folder: Path, steps: tuple[int, ...], layer: int) -> dict[str, list[float]]:
    """Numbers at each of a run's snapshots."""
    found: dict[str, list[float]] = server.pool().ask(f"{EXPLORE}:along", str(folder), steps, layer, timeout=PATIENCE)
    return found


@remembered(16)
def final_scales(folder: Path, layer: int) -> dict[str, float]:
    """Of the trained weights that a run left."""
    found: dict[str, float] = server.pool().ask(f"{EXPLORE}:final_scales", str(folder), layer, timeout=PATIENCE)
    return found
