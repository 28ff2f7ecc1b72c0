"""The qualities of an encoding that a reader may need, and the experiment that measures every encoding in each of them.

Within a quality the models differ in the encoding alone, each at its own best learning rate.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from engine.encodings import ENCODINGS
from engine.experiments.comparison import DESIGN
from engine.experiments.experiment import Arm, Experiment
from engine.experiments.rates import chosen_rates, rates_at_end
from engine.foundation.tables import Text, read_tables

TIMES = (1, 2, 4, 8)
"""The tested lengths, in trained lengths."""
SOLVED = 0.5
"""The share of the way from guessing to perfect that the best encoding must reach: below it there is no answer."""
LEARNED = 0.9
"""The same at the trained length, for an encoding that is asked about longer sequences."""
Metric = Literal["accuracy", "decorrelated_accuracy", "loss"]


@dataclass(frozen=True)
class Paper:
    """Published numbers of encodings, beside ours."""

    source: str
    url: str
    what: Text
    baseline: str
    """The encoding with which each is compared."""
    times: tuple[int, ...]
    numbers: Mapping[str, tuple[float, ...]]
    """By encoding, a number for each of ``times``."""
    higher_is_better: bool = False


@dataclass(frozen=True)
class Quality:
    """A quality of an encoding that a reader may need, and the task that measures it."""

    slug: str
    label: str
    need: str
    task: str
    metric: Metric
    smallest: float
    settings: Mapping[str, Any]
    lengths: tuple[int, ...] = ()
    """The trained length and its multiples; empty where only the trained one is asked about."""
    papers: tuple[Paper, ...] = ()

    @property
    def times(self) -> tuple[int, ...]:
        return TIMES[: len(self.lengths)] or (1,)

    def number(self, times: int) -> str:
        """The name of the number at so many times the trained length."""
        return f"{self.metric}@{self.lengths[TIMES.index(times)]}" if self.lengths else self.metric

    @property
    def lower_is_better(self) -> bool:
        return self.metric == "loss"


QUALITIES = read_tables(Path(__file__).with_suffix(".toml"), Quality)
"""The qualities in ``qualities.toml``, which says what each field is."""
COMPARED = tuple(name for name in ENCODINGS if name != DESIGN)
NO_PARTS: Mapping[str, Any] = {}
SETS = (0, 100)
"""The first seeds of the two sets of eight on which every encoding is measured."""
COSTS = {"parameters": "Few extra parameters", "time": "Little extra time"}
"""The needs that only order the encodings that meet the others."""


def arm_name(quality: Quality, encoding: str, parts: Mapping[str, Any] = NO_PARTS) -> str:
    """``parts``: those of a design, which has a row of its own for each set of parts."""
    own = f" {hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]}" if parts else ""
    return f"{quality.label}: {ENCODINGS[encoding].label}{own}"


def arm_of(quality: Quality, encoding: str, parts: Mapping[str, Any] = NO_PARTS) -> Arm:
    measured = ("decorrelated",) if quality.metric == "decorrelated_accuracy" else ()
    points = tuple((float(times), quality.number(times)) for times in quality.times) if quality.lengths else ()
    settings = {**quality.settings, "pos_encoding": encoding, **parts}
    return Arm(arm_name(quality, encoding, parts), "comparison", settings, quality.number(1), measured, points=points)


CHOICE = Experiment(
    slug="choice",
    title="Which encoding should I use?",
    base={"vocab_size": 10, "d_model": 32, "n_heads": 4, "schedule": "cosine", "learning_rate": 0.01},
    arms=tuple(arm_of(quality, encoding) for quality in QUALITIES.values() for encoding in COMPARED),
    claims=(),
    rates=chosen_rates("choice"),
    rates_at_end=rates_at_end("choice"),
    matched="All else is the same in each quality, except for the learning rate: each is trained at its own best one.",
)


def row_of(encoding: str, parts: Mapping[str, Any] = NO_PARTS) -> Experiment:
    """The experiment that measures one row. Raises ConfigError where the parts of a design do not go together."""
    return replace(CHOICE, arms=tuple(arm_of(quality, encoding, parts) for quality in QUALITIES.values()))


def share(quality: Quality, number: float) -> float:
    """The share of the way from guessing to perfect: of an accuracy, or of a loss, whose perfect value is 0."""
    config = CHOICE.config(arm_of(quality, "nope"))
    if quality.lower_is_better:
        return 1 - number / math.log(config.task_settings.n_answers(config))
    chance = config.task_settings.chance(config)
    return (number - chance) / (1 - chance)
