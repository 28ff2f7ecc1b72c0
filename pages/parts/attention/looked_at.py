"""The argument of every view of the attention page."""

from __future__ import annotations

from dataclasses import dataclass

from engine.analysis.attention_asked import ModelAsked, Place, SampleAsked
from engine.config.run_config import RunConfig
from engine.runs.run import Run
from pages.parts.attention.state import AttentionState

CELLS, KEYS_ACROSS, KEYS_DOWN = ("key", "query"), ("key", ""), ("", "key")
"""The names of a figure's columns and rows; figures with a common name highlight together."""


@dataclass(frozen=True)
class LookedAt:
    run: Run
    model: ModelAsked
    now: AttentionState
    place: Place
    sample: SampleAsked
    queries: list[str]
    keys: list[str]
    query: int
    color: str

    @property
    def config(self) -> RunConfig:
        return self.run.config

    @property
    def subject(self) -> str:
        """The key under which zoom is kept: another run or another sequence is another figure."""
        return f"{self.now.run} {self.place.which} {len(self.queries)} {len(self.keys)}"


def metric_label(name: str) -> str:
    return {"loss": "Held-out loss (nats)"}.get(name, name.replace("_", " ").capitalize())
