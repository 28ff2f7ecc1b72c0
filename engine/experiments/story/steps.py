"""The steps of the story, in ``steps.toml``: sentences, one setting that the reader changes, one figure, one question about the run."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from engine.config.run_config import RunConfig, parse, settings_of
from engine.experiments.question import ANSWERS, Direction, Question
from engine.experiments.run_readings import READINGS
from engine.foundation.tables import Text, read_tables
from engine.settings.fields import Setting, Value, to_text

Figure = Literal["accuracy", "heads", "samples"]
"""The figures that a step may show, by their names on the board of a run."""
REVERSE: dict[str, Value] = {
    "task": "reverse", "family": "encoder", "seq_len": 8, "learning_rate": 0.01, "schedule": "cosine", "steps": 200,
}  # fmt: skip
"""An encoder that reverses eight symbols: it reads all of them at once and answers at each position."""
POSITIONS = 8
PICTURES = (
    np.eye(POSITIONS)[::-1],  # mirrored
    np.eye(POSITIONS, k=2),  # one distance
    np.random.default_rng(1).dirichlet(np.ones(POSITIONS), POSITIONS),  # spread
)


@dataclass(frozen=True, kw_only=True)
class StoryStep:
    slug: str
    title: str
    sentences: tuple[Text, ...]
    """Two or three, in Markdown; none of them says how a run ends."""
    settings: dict[str, Value]
    """The settings of its run beside :data:`REVERSE` and the one that the reader changes."""
    setting: str
    """The name of the setting that the reader changes."""
    values: tuple[Value, ...]
    """Its allowed values, two to four."""
    first: Value
    """The value that it has until the reader changes it."""
    figure: Figure
    asks: Text
    """The question about its run."""
    answers: tuple[str, str, str]
    reads: str
    """The name of the reading that decides."""
    lessons: tuple[str, str, str]
    """What a run teaches, by its answer, in one sentence without its numbers."""
    leads_to: str
    """The sentence that leads on."""

    @property
    def base(self) -> dict[str, Value]:
        """The settings of the run that differ from the defaults, apart from the one that the reader changes."""
        return REVERSE | self.settings

    @property
    def question(self) -> Question:
        return Question(self.asks, self.answers, READINGS[self.reads])

    def lesson_of(self, answer: Direction) -> str:
        return self.lessons[ANSWERS.index(answer)]

    @property
    def pictures(self) -> tuple[np.ndarray, ...]:
        """Where the answers are pictures: weights [query, key] of each, drawn up and not measured."""
        return PICTURES if self.reads == "picture-of-the-weights" else ()

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
        words = self.row.words(value)
        return words.capitalize() if isinstance(value, bool) else words

    def label_in(self, config: RunConfig) -> str:
        """The label of the value that a run has."""
        return self.label_of(config.flat()[self.setting])


STEPS = tuple(read_tables(Path(__file__).with_suffix(".toml"), StoryStep).values())
