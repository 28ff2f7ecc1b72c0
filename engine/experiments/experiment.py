"""An experiment as one frozen value: the arms, the claims, the seeds, and what all arms share.

A documented issue is an experiment with a page of text (:class:`engine.experiments.issues.issue.Issue`); a comparison of a design
is another one (:mod:`engine.experiments.comparison`). Code that runs, stores or shows experiments needs only this.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np

from engine.config.run_config import RunConfig, changes_between, parse
from engine.experiments.finding import READERS_SEEDS
from engine.foundation.stored_json import hash_of
from engine.runs.record_options import RecordOptions
from engine.settings.fields import Setting
from engine.tasks.text import TextSettings

Role = Literal["fault", "control", "remedy", "comparison"]
MAX_SEEDS = 16
LARGEST_SEED = 2**31 - 1
# the seeds on which learning rates are chosen (engine.experiments.rates); no finding uses them
PILOT_SEEDS = range(900, 904)
# The seeds on which the shown findings rest. They are run once, after arms, rates, smallest effects and sentences are fixed.
CONFIRMATORY_SEEDS = range(1000, 1016)
# the seeds that are run once more, each with its own source, after designs and rules are fixed (tools/fresh.py)
FRESH_SEEDS = range(6000, 6016)
# The first of the seeds on which the pages run experiments. All stored ones and all pilots lie below it: no seed is both.
LIVE_SEED = 10_000
# the settings of a task that choose its table or its order, which a run's seed does not change
SOURCES = ("source_seed", "permutation_seed")
PILOTS = f"the {len(PILOT_SEEDS)} pilot seeds {PILOT_SEEDS[0]} to {PILOT_SEEDS[-1]}"

# values(arm, metric): the numbers by seed, [seed]; NaN where a seed has none (yet)
Values = Callable[[str, str], np.ndarray]


@dataclass(frozen=True)
class Arm:
    """A training condition. Its settings that differ from the experiment's base are the subject of the comparison."""

    name: str
    role: Role
    settings: Mapping[str, Any] = field(default_factory=dict)
    metric: str = "accuracy"
    """The number by which this arm is reported (see :mod:`engine.experiments.trial`)."""
    measurements: tuple[str, ...] = ()
    extended: bool = False
    """True if it takes too long for a live experiment on one core."""
    line: str = ""
    """Arms with the same ``line`` are joined into a line over ``x``."""
    x: float | None = None
    evaluations: int | None = None
    """The number of validation passes; None for the experiment's."""
    points: tuple[tuple[float, str], ...] = ()
    """The points of a line that one trial gives: (x, metric), such as the accuracy at each test length."""
    tuned: bool = True
    """True if the arm is trained at its best learning rate (:mod:`engine.experiments.rates`). False if the rate is the
    condition of the arm, or nothing is trained."""


@dataclass(frozen=True)
class Claim:
    id: str
    """The name by which stored evidence, texts and figures find the claim. It stays if the sentence changes."""
    effect: Callable[[Values], np.ndarray]
    """The effect of each seed, [seed]; NaN if it is unknown."""
    smallest_effect: float
    """Declared before the run; above 0."""
    direction: Literal["more", "less"] = "more"
    unit: str = ""
    """The unit of the effect. This and the two next fields are words, which an issue has in its Markdown file."""
    sentence: str = ""
    condition: str = ""
    """Such as "at 512 sequences"."""
    learned: tuple[tuple[str, str, float], ...] = ()
    """(arm, metric, level): arms that must have learned their task first, for example at the trained length before
    longer ones are tested. The level is a lower bound, for a loss an upper one; if too few seeds are within it, the
    runs cannot tell."""
    computed: bool = False
    """True for a formula, a count or a theorem, which no seed can change. Such claims are counted apart."""
    about: Literal["issue", "condition", "remedy"] = "issue"
    """The subject: the issue itself, a condition or negative finding next to it, or a remedy."""

    @property
    def effect_numbers(self) -> list[tuple[str, str]]:
        """(arm, metric) of each number in the effect."""
        pairs: dict[tuple[str, str], None] = {}

        def note(arm: str, metric: str) -> np.ndarray:
            pairs[arm, metric] = None
            return np.full(1, np.nan)

        self.effect(note)
        return list(pairs)

    @property
    def numbers(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys([*self.effect_numbers, *((arm, metric) for arm, metric, _ in self.learned)]))


def seed_range(seeds: int, first_seed: int) -> range:
    """Raises ValueError with one sentence."""
    if not 1 <= seeds <= MAX_SEEDS:
        raise ValueError(f"seeds is {seeds}; it must be a whole number from 1 to {MAX_SEEDS}.")
    highest = LARGEST_SEED - MAX_SEEDS
    if not 0 <= first_seed <= highest:
        raise ValueError(f"first_seed is {first_seed}; it must be a whole number from 0 to {highest}.")
    return range(first_seed, first_seed + seeds)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A controlled experiment without results, which are computed from runs. Raises ValueError for seeds that are not
    allowed."""

    slug: str
    """The name in files, JSON and downloads."""
    title: str
    base: Mapping[str, Any]
    arms: tuple[Arm, ...]
    claims: tuple[Claim, ...]
    """The first one gives the experiment its finding."""
    seeds: int = READERS_SEEDS
    """Paired: under one seed all arms start from the same random numbers."""
    first_seed: int = 0
    matched: str = "All arms are otherwise equal."
    """A sentence on the things that are equal in all arms."""
    x_label: str = ""
    evaluations: int = 10
    curves: tuple[str, ...] = ()
    """Curves besides losses and accuracies, as ``grad.<part>``: ``grad.7.q``."""
    rates: Mapping[str, float] = field(default_factory=dict)
    """By arm, its learning rate, if that differs from the rate of its settings."""
    rates_at_grid_edge: frozenset[str] = frozenset()
    """The arms whose best rate is the last one that was tried, so that a rate beyond it may be better."""
    own_sources: bool = False
    """True if each seed has its own table or order, for a task that has one, instead of one for all seeds."""

    def __post_init__(self) -> None:
        seeds = seed_range(self.seeds, self.first_seed)
        if self.claims and self.rates and not set(seeds).isdisjoint(PILOT_SEEDS):
            raise ValueError(
                f"first_seed is {self.first_seed}; it must not use seeds {PILOT_SEEDS[0]} to {PILOT_SEEDS[-1]}, on which "
                "the learning rates were chosen."
            )

    @property
    def seed_range(self) -> range:
        return seed_range(self.seeds, self.first_seed)

    def arms_of(self, extended: bool = False) -> tuple[Arm, ...]:
        return tuple(arm for arm in self.arms if extended or not arm.extended)

    def claims_of(self, arms: Iterable[Arm]) -> tuple[Claim, ...]:
        names = {arm.name for arm in arms}
        return tuple(claim for claim in self.claims if names.issuperset(arm for arm, _ in claim.numbers))

    def claim(self, name: str) -> Claim:
        """Raises KeyError."""
        return {claim.id: claim for claim in self.claims}[name]

    def arm(self, name: str) -> Arm:
        return next(arm for arm in self.arms if arm.name == name)

    def config(self, arm: Arm, seed: int = 0) -> RunConfig:
        """Raises ConfigError."""
        rate = {"learning_rate": self.rates[arm.name]} if arm.name in self.rates else {}
        config = parse({**self.base, **arm.settings, **rate, "seed": seed})
        sources = [name for name in SOURCES if name in config.flat()] if self.own_sources else []
        return config.replace(**dict.fromkeys(sources, seed)) if sources else config

    def refuse_unknown(self, extended: bool = False) -> None:
        """Raises ConfigError if an arm trains on a text with too many unknown held-out tokens, and ValueError if its text is not
        available here."""
        for settings in dict.fromkeys(self.config(arm).task_settings for arm in self.arms_of(extended)):
            if isinstance(settings, TextSettings):
                settings.refuse_unknown()

    def untuned(self) -> Self:
        return replace(self, rates={}, rates_at_grid_edge=frozenset())

    def record(self, arm: Arm) -> RecordOptions:
        return RecordOptions(
            snapshots=False, evaluations=arm.evaluations or self.evaluations, memory=False, remedy=False,
            measurements=arm.measurements,
        )  # fmt: skip

    def identity(self, arm: Arm) -> list[Any]:
        """Plain data that determines the numbers of an arm's trials, besides their seed and the code, without any name."""
        record = self.record(arm)
        return [self.config(arm).flat(), record.evaluations, record.measurements, self.curves, self.own_sources]

    def fingerprint(self, arm: Arm) -> str:
        """Twelve hexadecimal digits for the settings and the rate of an arm, by which stored numbers are recognized as the arm's."""
        config = self.config(arm).flat()
        values = {name: config[name] for name in (*self.base, *arm.settings, "learning_rate") if name in config}
        return hash_of([values, self.record(arm).measurements], 12)

    def changes(self, arm: Arm) -> list[tuple[Setting, Any, Any]]:
        """(setting, value there, value here) for each difference to the first control, or to the first arm."""
        reference = next((other for other in self.arms if other.role == "control"), self.arms[0])
        return list(changes_between(self.config(reference), self.config(arm)))


@dataclass(frozen=True)
class Change:
    """An effect by seed that is one number minus another, so that both can be shown."""

    before: tuple[str, str] | float
    """Arm and metric, or a level known beforehand."""
    after: tuple[str, str]

    def __call__(self, values: Values) -> np.ndarray:
        before, after = self.sides(values)
        change: np.ndarray = after - before
        return change

    def sides(self, values: Values) -> tuple[np.ndarray, np.ndarray]:
        """The numbers before and after, each [seed]."""
        after = values(*self.after)
        before = values(*self.before) if isinstance(self.before, tuple) else np.full_like(after, self.before)
        return before, after


def difference(arm: str, other: str, metric: str) -> Change:
    """This arm's number minus the other's, by seed."""
    return Change((other, metric), (arm, metric))


def above(arm: str, metric: str, level: float = 0.0) -> Change:
    """This arm's number minus a level known before the run, such as chance, by seed."""
    return Change(level, (arm, metric))


def within(arm: str, metric: str, level: float, margin: float) -> Callable[[Values], np.ndarray]:
    """The margin minus the distance of a number from a level known before the run, such as chance, by seed; above 0 it
    stays there."""
    return lambda values: margin - np.abs(values(arm, metric) - level)


def once_learned(metric: str, level: float, claim: Claim) -> Claim:
    arms = dict.fromkeys(arm for arm, _ in claim.effect_numbers)
    return replace(claim, learned=tuple((arm, metric, level) for arm in arms))


def rise(arm: str, metric: str, before: str) -> Change:
    """A number minus another of the same arm, by seed, such as that of a later layer minus an earlier one."""
    return Change((arm, before), (arm, metric))


@dataclass(frozen=True)
class Relative:
    """An arm's number minus the other arm's, as a share of the other's, by seed: −0.9 if a tenth is left."""

    arm: str
    metric: str
    other: str
    than: str = ""
    """The metric of the other arm; empty for the same one."""

    def __call__(self, values: Values) -> np.ndarray:
        share: np.ndarray = values(self.arm, self.metric) / values(self.other, self.than or self.metric) - 1
        return share
