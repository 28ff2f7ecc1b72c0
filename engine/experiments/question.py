"""A question with three answers, asked before training, and the rule that decides the right answer.

Issues, steps of lessons and phones ask the same question. It holds no result.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from engine.config.run_config import RunConfig
from engine.runs.log import EventLog

Direction = Literal[-1, 0, 1]
# the three answers; of a number they say that it is lower, the same, or higher
ANSWERS: tuple[Direction, ...] = (-1, 0, 1)


class Observed(NamedTuple):
    right: tuple[Direction, ...]
    """Empty if the run does not decide."""
    sentence: str


@dataclass(frozen=True)
class Reading:
    name: str
    """The name in links and tables."""
    words: str
    """The subject and the three answers, in the words from which a teacher chooses."""
    observe: Callable[[RunConfig, EventLog], Observed | None] = field(repr=False)
    """None while there is nothing to read."""
    fits: Callable[[RunConfig], bool] = field(repr=False)
    """True if a run of these settings can be read."""
    pictures: tuple[np.ndarray, ...] = field(default=(), repr=False, compare=False)
    """Weights [query, key] of each answer, drawn up and not measured; empty if the answers are no pictures."""


@dataclass(frozen=True)
class Question:
    words: str
    answers: tuple[str, str, str]
    """In the order of :data:`ANSWERS`."""
    decided_by: str | Reading | Direction
    """The id of the claim whose finding decides, the reading of a run that does, or the right answer that a teacher gives."""
    sample: str = ""

    @property
    def taught(self) -> tuple[Direction, ...]:
        return (self.decided_by,) if isinstance(self.decided_by, int) else ()

    @property
    def pictures(self) -> tuple[np.ndarray, ...]:
        return self.decided_by.pictures if isinstance(self.decided_by, Reading) else ()

    def in_words(self, answer: Direction) -> str:
        return self.answers[ANSWERS.index(answer)]

    def observe(self, config: RunConfig, events: EventLog) -> Observed | None:
        return self.decided_by.observe(config, events) if isinstance(self.decided_by, Reading) else None
