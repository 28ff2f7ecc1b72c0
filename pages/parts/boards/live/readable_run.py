from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # the routes use this type and exist before the engine is imported
    from engine.runs.run import Run
    from pages.parts.boards.live.untrained import Untrained

ReadableRun: TypeAlias = "Run | Untrained"  # a run's events are appended while others read


def controlled_as(run: ReadableRun | None) -> str:
    """Return the state as far as a run's buttons depend on it: a queued run has those of a running one. Empty without a
    run."""
    return "" if run is None else "running" if run.state == "queued" else run.state
