"""The criteria of an encoding that a reader may need, and the experiment that measures every encoding by each.

Within a criterion the models differ in the encoding alone, each at its own best learning rate.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS, NO_ENCODING
from engine.encodings.base import RotationSettings
from engine.estimate.layout import shapes
from engine.estimate.memory import count_parameters
from engine.experiments.comparison import DESIGN
from engine.experiments.experiment import CONFIRMATORY_SEEDS, Arm, Experiment
from engine.experiments.rates import at_best_rates, read_grids
from engine.foundation.formatting import counted
from engine.foundation.tables import Text, read_tables

TIMES = (1, 2, 4, 8)  # tested lengths, in trained lengths
# the share of the way from guessing to perfect that the best encoding must reach; below it there is no answer
SOLVED = 0.5
# The same at the trained length, for an encoding that is tested on longer sequences. It has not learned the task if the
# whole 95 % interval lies below that: with the mean it would hang on a thousandth.
LEARNED_ACCURACY = 0.9
FEW = "dataset_size"  # the setting with which a model trains on few sequences again and again
Metric = Literal["accuracy", "decorrelated_accuracy", "loss"]


@dataclass(frozen=True)
class Paper:
    source: str
    url: str
    what: Text
    baseline: str
    times: tuple[int, ...]
    """The multiples of our trained length next to which its numbers are shown."""
    numbers: Mapping[str, tuple[float, ...]]
    """By encoding, a number for each of ``times``."""
    theirs: tuple[int, ...] = ()
    """The multiples of the paper's own trained length at which it measured, if they differ from ``times``."""
    higher_is_better: bool = False
    smallest: float = 0.005
    """The smallest difference of two of its numbers that has a sign, as a share of the baseline's: most papers report
    no spread."""

    def multiple(self, times: int) -> int:
        return (self.theirs or self.times)[self.times.index(times)]


@dataclass(frozen=True)
class Criterion:
    slug: str
    label: str
    need: str
    """In plain words, after "you must". Criteria with the same need are asked about together."""
    task: Text
    metric: Metric
    smallest: float
    settings: Mapping[str, Any]
    lengths: tuple[int, ...] = ()
    """The trained length and its multiples; empty if only the trained one is tested."""
    specific: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By encoding, its settings in this criterion that differ from the defaults."""
    papers: tuple[Paper, ...] = ()

    @property
    def times(self) -> tuple[int, ...]:
        """The tested lengths that are columns, in trained lengths."""
        if not self.lengths:
            return (1,)
        # an accuracy at the trained length only says who has learned the task, and nearly all have
        return TIMES if self.lower_is_better else TIMES[1:]

    def number(self, times: int) -> str:
        return f"{self.metric}@{self.lengths[TIMES.index(times)]}" if self.lengths else self.metric

    @property
    def lower_is_better(self) -> bool:
        return self.metric == "loss"


CRITERIA = read_tables(Path(__file__).with_suffix(".toml"), Criterion)  # criteria.toml says what each field is
COSTS = {"parameters": "add no parameters", "time": "add little time"}  # needs that no training measures
COMPARED = tuple(name for name in ENCODINGS if name != DESIGN)
SETS = (CONFIRMATORY_SEEDS[0],)  # the first seed of each set of seeds on which every encoding is measured


def needed_by(slug: str) -> tuple[Criterion, ...]:
    return tuple(criterion for criterion in CRITERIA.values() if criterion.need == CRITERIA[slug].need)


# in plain words
NEEDS = {slug: criterion.need for slug, criterion in CRITERIA.items() if needed_by(slug)[0] is criterion} | COSTS


def arm_name(criterion: Criterion, encoding: str) -> str:
    return f"{criterion.label}: {ENCODINGS[encoding].label}"


def fresh_arm_of(criterion: Criterion, encoding: str) -> Arm | None:
    """The same training with fresh sequences at every step, also at the same learning rate: the difference is the price
    of few data. None if all sequences are fresh anyway."""
    if FEW not in criterion.settings:
        return None
    fresh = {name: value for name, value in criterion.settings.items() if name != FEW}
    arm = arm_of(replace(criterion, label=f"{criterion.label}, fresh sequences", settings=fresh), encoding)
    return replace(arm, tuned=False)


def arm_of(criterion: Criterion, encoding: str) -> Arm:
    measured = ("decorrelated",) if criterion.metric == "decorrelated_accuracy" else ()
    points = tuple((float(times), criterion.number(times)) for times in criterion.times) if criterion.lengths else ()
    settings = {**criterion.settings, "pos_encoding": encoding, **criterion.specific.get(encoding, {})}
    return Arm(arm_name(criterion, encoding), "comparison", settings, criterion.number(1), measured, points=points)


def _with_fresh_rates(experiment: Experiment) -> Experiment:
    pairs = [(fresh_arm_of(one, name), arm_of(one, name)) for one in CRITERIA.values() for name in COMPARED]
    rates = {fresh.name: experiment.config(few).learning_rate for fresh, few in pairs if fresh is not None}
    return replace(experiment, rates={**experiment.rates, **rates})


_AT_ONE_RATE = Experiment(
    slug="choice",
    title="Which encoding should I use?",
    base={"vocab_size": 10, "d_model": 32, "n_heads": 4, "schedule": "cosine", "learning_rate": 0.01},
    arms=(
        *(arm_of(criterion, encoding) for criterion in CRITERIA.values() for encoding in COMPARED),
        *filter(None, (fresh_arm_of(criterion, encoding) for criterion in CRITERIA.values() for encoding in COMPARED)),
    ),
    claims=(),
    seeds=len(CONFIRMATORY_SEEDS),
    first_seed=SETS[0],
    matched="In each column only the encoding and the learning rate differ. Each encoding trains at its best rate.",
)
CHOICE = _with_fresh_rates(at_best_rates(_AT_ONE_RATE, read_grids("choice")))


def share(criterion: Criterion, number: float) -> float:
    """The share of the way from guessing to perfect: of an accuracy, or of a loss, whose perfect value is 0."""
    config = model_of(criterion)
    if criterion.lower_is_better:
        return 1 - number / math.log(config.task_settings.n_answers(config))
    chance = config.task_settings.chance(config)
    return (number - chance) / (1 - chance)


def model_of(criterion: Criterion, encoding: str = NO_ENCODING) -> RunConfig:
    return CHOICE.config(arm_of(criterion, encoding))


def scope_of(criterion: Criterion) -> str:
    """A phrase such as "models of 2 layers, width 32 and about 22,000 parameters, trained at 32 characters"."""
    config = model_of(criterion)
    count = sum(count_parameters(config, shapes(config)).values())
    layers = counted(config.n_layers, "layer")
    unit = getattr(config.task_settings, "unit", "symbols")
    upto = "up to " if config.min_seq_len else ""
    size = f"{layers}, width {config.d_model} and about {float(f'{count:.2g}'):,.0f} parameters"
    return f"models of {size}, trained at {upto}{config.seq_len} {unit}"


def turns_in_words(config: RunConfig) -> str:
    """The number of a head's pairs of dimensions that turn at least once within the trained length; empty for an
    encoding that turns none. The other pairs say more about the scale of the model than about the encoding."""
    settings = config.encoding_settings
    if not isinstance(settings, RotationSettings):
        return ""
    pairs, base = config.head_width // 2, settings.rope_base
    turning = sum(2 * math.pi * base ** (pair / pairs) <= config.seq_len for pair in range(pairs))
    turn = "turns" if turning == 1 else "turn"
    return f"{turning} of the {pairs} pairs of dimensions of a head {turn} once or more within the trained length (base {base:,.0f})."
