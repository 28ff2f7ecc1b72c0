"""A step of a story: a few sentences, one setting that the reader changes, one figure, and one question about the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from engine.config.run_config import RunConfig, parse, settings_of
from engine.runs.log import EventLog
from engine.settings.fields import Setting, Value, to_text

Figure = Literal["accuracy", "heads", "samples"]
"""The figures that a step may show, by their names on the board of a run."""


@dataclass(frozen=True)
class Observed:
    """What a run says about a question."""

    answer: str
    """The name of the right answer."""
    sentence: str
    """The numbers behind it, in Markdown."""


@dataclass(frozen=True)
class Question:
    """A question asked before a run. Its right answer is read from the run, never written beforehand."""

    text: str
    answers: Mapping[str, str]
    """The words of each answer, by its name; exactly one of them is right, whatever the run does."""
    observe: Callable[[RunConfig, EventLog], Observed | None]
    """Reads the right answer from a run's events; None while the run has not finished."""
    pictures: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Where answers are pictures: weights [query, key] by the name of each answer, drawn up and not measured."""


@dataclass(frozen=True, kw_only=True)
class Step:
    title: str
    sentences: tuple[str, ...]
    """Two or three, in Markdown; none of them says how a run ends."""
    base: Mapping[str, Value]
    """The settings of the run that differ from the defaults, apart from the one that the reader changes."""
    setting: str
    """The name of the setting that the reader changes."""
    values: tuple[Value, ...]
    """Its allowed values, two to four."""
    first: Value
    """The value that it has until the reader changes it."""
    figure: Figure
    question: Question
    leads_to: str
    """The sentence that leads on."""

    def config(self, value: Value, seed: int = 0) -> RunConfig:
        """The settings of a run. Raises ConfigError where the value is not allowed."""
        return parse({**self.base, self.setting: value, "seed": seed})

    @cached_property
    def choices(self) -> dict[str, Value]:
        """The allowed values by their text in a link."""
        return {to_text(value): value for value in self.values}

    @cached_property
    def row(self) -> Setting:
        """The setting that the reader changes, with its label and help."""
        return next(row for row in settings_of(self.config(self.first)) if row.name == self.setting)

    def label_of(self, value: Value) -> str:
        """A value as a reader sees it."""
        if isinstance(value, bool):
            return "On" if value else "Off"
        text = to_text(value)
        return self.row.label_of(text) if self.row.kind == "choice" else text
