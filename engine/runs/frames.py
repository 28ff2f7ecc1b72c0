"""Runs as data frames. This module imports pandas, which workers should not load: import it only where a frame is needed."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from engine.estimate.layout import metric_names
from engine.runs.events import Event, Finished, Progress
from engine.runs.run import Run

RUN_COLUMNS = ["run", "task", "encoding", "depth", "steps", "outcome", "accuracy", "created"]


def steps_frame(events: Iterable[Event]) -> pd.DataFrame:
    """A row for each step; empty cells where validation was not measured at a step."""
    return pd.DataFrame([
        {
            "step": event.step,
            "loss": event.loss,
            "gradient norm": event.grad_norm,
            "learning rate": event.learning_rate,
            **{f"training {name}": value for name, value in event.metrics.items()},
            **{f"validation {name}": value for name, value in (event.validation or {}).items()},
        }
        for event in events
        if isinstance(event, Progress)
    ])  # fmt: skip


def lengths_frame(finished: Finished) -> pd.DataFrame:
    """A row for each test length: the held-out metrics, and whether the length was trained."""
    return pd.DataFrame(finished.by_length).drop(columns="note", errors="ignore")


def runs_frame(runs: Iterable[Run]) -> pd.DataFrame:
    """A row for each run: its settings, the steps that it did, its state, its last held-out accuracy (the task's main one; empty
    where none was measured) and the time of its creation (UTC)."""
    rows = [
        (
            run.id, run.config.task, run.config.pos_encoding, run.config.n_layers, run.step, run.state, _accuracy(run), run.created
        )
        for run in runs
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=RUN_COLUMNS).astype({"accuracy": "float"})
    return frame.assign(created=pd.to_datetime(frame["created"], unit="s", utc=True))


def _accuracy(run: Run) -> float | None:
    name = metric_names(run.config)[0]
    for event in reversed(run.events):
        measured = event.metrics if isinstance(event, Finished) else getattr(event, "validation", None)
        if measured and name in measured:
            value: float = measured[name]
            return value
    return None
