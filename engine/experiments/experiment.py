"""An experiment as one frozen value: the arms, the claims, the seeds, and what all arms share.

A documented issue is an experiment with a page of text (:class:`engine.experiments.issues.issue.Issue`); a comparison of a
design is another one (:mod:`engine.experiments.comparison`). Whoever runs, stores or shows experiments needs only this.
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
MOST_SEEDS = 16
LARGEST_SEED = 2**31 - 1
PILOT_SEEDS = range(900, 904)
"""The seeds on which learning rates are chosen (:mod:`engine.experiments.rates`), and which no finding uses."""
CONFIRMATORY_SEEDS = range(1000, 1016)
"""The seeds on which the shown findings rest. They are run once, after arms, rates, smallest effects and sentences are fixed."""
FRESH_SEEDS = range(6000, 6016)
"""The seeds that are run once more, each with a source of its own, after designs and rules are fixed (``tools/fresh.py``)."""
LIVE_SEED = 10_000
"""The first of the seeds on which the pages run experiments. All stored ones and all pilots lie below it: no seed is both."""
SOURCES = ("source_seed", "permutation_seed")
"""The settings of a task that choose its table or its order, which a run's seed does not change."""
PILOTS = f"the {len(PILOT_SEEDS)} pilot seeds {PILOT_SEEDS[0]} to {PILOT_SEEDS[-1]}"
"""The pilot seeds in words."""

Values = Callable[[str, str], np.ndarray]
"""``values(arm, metric)``: the numbers by seed, [seed]; NaN where a seed has none (yet)."""


@dataclass(frozen=True)
class Arm:
    """One training condition. Its settings that differ from the experiment's base are the subject of the comparison."""

    name: str
    role: Role
    settings: Mapping[str, Any] = field(default_factory=dict)
    metric: str = "accuracy"
    """The number by which this arm is reported (see :mod:`engine.experiments.trial`)."""
    measurements: tuple[str, ...] = ()
    extended: bool = False
    """Whether the arm takes too long for a live experiment on one core."""
    line: str = ""
    """Arms with the same ``line`` are joined into a line over ``x``."""
    x: float | None = None
    evaluations: int | None = None
    """The number of validation passes, where it is not the experiment's."""
    points: tuple[tuple[float, str], ...] = ()
    """The points of a line that one trial gives: (x, metric), such as the accuracy at each test length."""
    tuned: bool = True
    """Whether the arm is trained at its best learning rate (:mod:`engine.experiments.rates`). False where the rate is the
    condition of the arm, and where nothing is trained."""


@dataclass(frozen=True)
class Claim:
    """A statement, and the number that decides it."""

    id: str
    """The name by which the claim is found: in stored evidence, in texts and figures. It stays when the sentence changes."""
    effect: Callable[[Values], np.ndarray]
    """The effect of each seed, [seed]; NaN where it is not known."""
    smallest_effect: float
    """The smallest effect that counts, declared beforehand; above 0."""
    direction: Literal["more", "less"] = "more"
    """The sign of the effect that the claim predicts."""
    unit: str = ""
    """The unit of the effect. This and what follows are words, which for an issue stand in its Markdown file."""
    sentence: str = ""
    """The statement."""
    condition: str = ""
    """The condition of the test, such as "at 512 sequences"."""
    learned: tuple[tuple[str, str, float], ...] = ()
    """(arm, metric, level): arms that must first have learned their task, such as at the trained length before longer ones are asked
    about. The runs cannot tell while the mean over the seeds is below the level, or for a loss above it."""
    computed: bool = False
    """Whether the claim is a formula, a count or a theorem, so that no seed can change it. Such claims are counted apart."""
    about: Literal["issue", "condition", "remedy"] = "issue"
    """The subject of the claim: the issue itself, a condition or negative finding beside it, or a remedy."""

    @property
    def effect_numbers(self) -> list[tuple[str, str]]:
        """The numbers that the effect is computed from: (arm, metric)."""
        requested: dict[tuple[str, str], None] = {}

        def note(arm: str, metric: str) -> np.ndarray:
            requested[arm, metric] = None
            return np.full(1, np.nan)

        self.effect(note)
        return list(requested)

    @property
    def numbers(self) -> list[tuple[str, str]]:
        """The numbers that the effect is computed from and that must have been learned: (arm, metric)."""
        return list(dict.fromkeys([*self.effect_numbers, *((arm, metric) for arm, metric, _ in self.learned)]))


def seed_range(seeds: int, first_seed: int) -> range:
    """The seeds of an experiment. Raises ValueError with one sentence."""
    if not 1 <= seeds <= MOST_SEEDS:
        raise ValueError(f"seeds is {seeds}; allowed is a whole number from 1 to {MOST_SEEDS}.")
    highest = LARGEST_SEED - MOST_SEEDS
    if not 0 <= first_seed <= highest:
        raise ValueError(f"first_seed is {first_seed}; allowed is a whole number from 0 to {highest}.")
    return range(first_seed, first_seed + seeds)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A controlled experiment. Its results are computed from runs; none is written here. Raises ValueError for the seeds."""

    slug: str
    """The name in files, JSON and downloads."""
    title: str
    base: Mapping[str, Any]
    """The settings that all arms share."""
    arms: tuple[Arm, ...]
    claims: tuple[Claim, ...]
    """The claims; the first one gives the experiment its finding."""
    seeds: int = READERS_SEEDS
    """The number of paired seeds: under one seed all arms start from the same random numbers."""
    first_seed: int = 0
    matched: str = "All else is the same in all of them."
    """What is held equal between the arms, as a sentence."""
    x_label: str = ""
    """The label of the x axis of arms that form a line."""
    evaluations: int = 10
    """The number of validation passes of each trial, unless its arm has another one."""
    curves: tuple[str, ...] = ()
    """Further curves to follow beside losses and accuracies: ``grad.<part>``, such as ``grad.7.q``."""
    rates: Mapping[str, float] = field(default_factory=dict)
    """By arm, the learning rate at which it is compared, where that is not the rate of its settings."""
    rates_at_end: frozenset[str] = frozenset()
    """The arms whose best learning rate is the last one that was tried, so that a farther one may be better."""
    own_sources: bool = False
    """Whether each seed has a table or an order of its own, where the task has one, in place of one for all seeds."""

    def __post_init__(self) -> None:
        seeds = seed_range(self.seeds, self.first_seed)
        if self.claims and self.rates and not set(seeds).isdisjoint(PILOT_SEEDS):
            raise ValueError(
                f"first_seed is {self.first_seed}; allowed are no seeds from {PILOT_SEEDS[0]} to {PILOT_SEEDS[-1]}, on which "
                "the learning rates were chosen."
            )

    @property
    def seed_range(self) -> range:
        return seed_range(self.seeds, self.first_seed)

    def arms_of(self, extended: bool = False) -> tuple[Arm, ...]:
        return tuple(arm for arm in self.arms if extended or not arm.extended)

    def claims_of(self, arms: Iterable[Arm]) -> tuple[Claim, ...]:
        """The claims that need no arm but these."""
        names = {arm.name for arm in arms}
        return tuple(claim for claim in self.claims if names.issuperset(arm for arm, _ in claim.numbers))

    def claim(self, name: str) -> Claim:
        """The claim of that id. Raises KeyError."""
        return {claim.id: claim for claim in self.claims}[name]

    def arm(self, name: str) -> Arm:
        return next(arm for arm in self.arms if arm.name == name)

    def config(self, arm: Arm, seed: int = 0) -> RunConfig:
        """The config of an arm at a seed. Raises ConfigError."""
        rate = {"learning_rate": self.rates[arm.name]} if arm.name in self.rates else {}
        config = parse({**self.base, **arm.settings, **rate, "seed": seed})
        sources = [name for name in SOURCES if name in config.flat()] if self.own_sources else []
        return config.replace(**dict.fromkeys(sources, seed)) if sources else config

    def refuse_unknown(self, extended: bool = False) -> None:
        """Raises ConfigError where an arm trains on a text of whose held-out tokens too many are unknown, and ValueError where its text
        is not kept here."""
        for settings in dict.fromkeys(self.config(arm).task_settings for arm in self.arms_of(extended)):
            if isinstance(settings, TextSettings):
                settings.refuse_unknown()

    def untuned(self) -> Self:
        """The same experiment with each arm at the rate of its settings."""
        return replace(self, rates={}, rates_at_end=frozenset())

    def record(self, arm: Arm) -> RecordOptions:
        return RecordOptions(
            snapshots=False, evaluations=arm.evaluations or self.evaluations, memory=False, remedy=False,
            measurements=arm.measurements,
        )  # fmt: skip

    def identity(self, arm: Arm) -> list[Any]:
        """What determines the numbers of an arm's trials besides their seed and the code, as plain data without any name."""
        record = self.record(arm)
        return [self.config(arm).flat(), record.evaluations, record.measurements, self.curves, self.own_sources]

    def fingerprint(self, arm: Arm) -> str:
        """Twelve hexadecimal digits for the settings and the rate of an arm, by which stored numbers are known to be its own."""
        config = self.config(arm).flat()
        given = {name: config[name] for name in (*self.base, *arm.settings, "learning_rate") if name in config}
        return hash_of([given, self.record(arm).measurements], 12)

    def changes(self, arm: Arm) -> list[tuple[Setting, Any, Any]]:
        """The settings of the arm that differ from the first control (or the first arm): setting, value there, value here."""
        reference = next((other for other in self.arms if other.role == "control"), self.arms[0])
        return list(changes_between(self.config(reference), self.config(arm)))


@dataclass(frozen=True)
class Change:
    """An effect by seed that is one number minus another, so that both can be told."""

    before: tuple[str, str] | float
    """Arm and metric, or a level known beforehand."""
    after: tuple[str, str]
    """Arm and metric."""

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
    """The effect "this arm minus the other" by seed."""
    return Change((other, metric), (arm, metric))


def above(arm: str, metric: str, level: float = 0.0) -> Change:
    """The effect "this arm's number minus a level known beforehand", such as chance."""
    return Change(level, (arm, metric))


def within(arm: str, metric: str, level: float, margin: float) -> Callable[[Values], np.ndarray]:
    """The effect "the margin minus the distance of this number from a level known beforehand", such as chance: above 0 it stays there."""
    return lambda values: margin - np.abs(values(arm, metric) - level)


def once_learned(metric: str, level: float, claim: Claim) -> Claim:
    """The claim, with the condition that in each arm of its effect ``metric`` has reached ``level``."""
    arms = dict.fromkeys(arm for arm, _ in claim.effect_numbers)
    return replace(claim, learned=tuple((arm, metric, level) for arm in arms))


def rise(arm: str, metric: str, before: str) -> Change:
    """The effect "this number minus another one of the same arm", such as of a later layer or a longer sequence."""
    return Change((arm, before), (arm, metric))


@dataclass(frozen=True)
class Relative:
    """The effect "this number minus the other arm's, as a share of the other's" by seed: −0.9 where a tenth is left."""

    arm: str
    metric: str
    other: str
    than: str = ""
    """The other arm's number, where it is another one."""

    def __call__(self, values: Values) -> np.ndarray:
        share: np.ndarray = values(self.arm, self.metric) / values(self.other, self.than or self.metric) - 1
        return share
