"""Runs as data frames. Imports pandas, which workers should not load: import it only where a frame is needed."""

from collections.abc import Iterable

import pandas as pd

from engine.runs.events import Event, Finished, Progress


def steps_frame(events: Iterable[Event]) -> pd.DataFrame:
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
    return pd.DataFrame(finished.by_length).drop(columns="note", errors="ignore")
