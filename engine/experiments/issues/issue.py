"""Documented issues: claims, the arms that test them, and their explanation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from engine.config.run_config import RunConfig, changes_between, parse
from engine.runs.record_options import RecordOptions
from engine.settings.fields import Setting

Role = Literal["fault", "control", "remedy", "comparison"]
Group = Literal["depth", "attention", "encoding"]
GROUPS: dict[Group, str] = {"depth": "Depth", "attention": "Self-attention", "encoding": "Positional encoding"}

Values = Callable[[str, str], np.ndarray]
"""``values(arm, metric)``: the numbers by seed, [seed]; NaN where a seed has none (yet)."""


@dataclass(frozen=True)
class Arm:
    """One training condition. Its settings that differ from the issue's base are the subject of the comparison."""

    name: str
    role: Role
    settings: Mapping[str, Any] = field(default_factory=dict)
    metric: str = "accuracy"
    """The number by which this arm is reported (see :mod:`engine.experiments.trial`)."""
    measurements: tuple[str, ...] = ()
    extended: bool = False
    """Whether the arm takes too long for a live experiment on one core."""
    alone: bool = False
    """Whether the arm measures time and needs a worker to itself."""
    line: str = ""
    """Arms with the same ``line`` are joined into a line over ``x``."""
    x: float | None = None
    points: tuple[tuple[float, str], ...] = ()
    """The points of a line that one trial gives: (x, metric), such as the accuracy at each test length."""


@dataclass(frozen=True)
class Claim:
    """A statement, and the number that decides it."""

    sentence: str
    effect: Callable[[Values], np.ndarray]
    """The effect of each seed, [seed]; NaN where it is not known."""
    unit: str
    smallest_effect: float
    """The smallest effect worth naming, declared beforehand; above 0."""
    direction: Literal["more", "less"] = "more"
    """The sign of the effect that the claim predicts."""
    condition: str = ""
    """The condition of the test, such as "at 512 sequences"."""
    about: Literal["issue", "condition", "remedy"] = "issue"
    """The subject of the claim: the issue itself, a condition or negative finding beside it, or a remedy."""
    extended: bool = False
    """Whether the claim needs extended arms."""


@dataclass(frozen=True)
class Published:
    """Numbers from a paper, shown beside ours."""

    source: str
    what: str
    """The metric, model and data."""
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[float, ...]]
    ours: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """By row, the (arm, metric) shown beside each column; an empty arm name means none."""
    differs: str = ""
    """The differences between their experiment and ours."""


@dataclass(frozen=True)
class Issue:
    """One documented issue. Its results are computed from runs; none is written here."""

    slug: str
    group: Group
    title: str
    summary: str
    """The claim in one or two plain sentences."""
    mechanism: str
    """The explanation of the effect: Markdown with TeX between dollar signs."""
    base: Mapping[str, Any]
    """The settings that all arms share."""
    arms: tuple[Arm, ...]
    claims: tuple[Claim, ...]
    """The claims; the first one gives the issue its verdict."""
    remedies: tuple[str, str, str]
    """The usual remedies in practice."""
    sources: tuple[str, ...]
    x_label: str = ""
    published: tuple[Published, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes on the measurement; no results."""
    evaluations: int = 10
    """The number of validation passes of each trial."""
    curves: tuple[str, ...] = ()
    """Further curves to follow beside losses and accuracies: ``grad.<part>``, such as ``grad.7.q``."""

    def arms_of(self, extended: bool = False) -> tuple[Arm, ...]:
        return tuple(arm for arm in self.arms if extended or not arm.extended)

    def claims_of(self, extended: bool = False) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if extended or not claim.extended)

    def arm(self, name: str) -> Arm:
        return next(arm for arm in self.arms if arm.name == name)

    def config(self, arm: Arm, seed: int = 0) -> RunConfig:
        """The config of an arm at a seed. Raises ConfigError."""
        return parse({**self.base, **arm.settings, "seed": seed})

    def record(self, arm: Arm) -> RecordOptions:
        return RecordOptions(
            snapshots=False, evaluations=self.evaluations, memory=False, remedy=False, measurements=arm.measurements
        )

    def changes(self, arm: Arm) -> list[tuple[Setting, Any, Any]]:
        """The settings of the arm that differ from the first control (or the first arm): setting, value there, value here."""
        reference = next((other for other in self.arms if other.role == "control"), self.arms[0])
        return list(changes_between(self.config(reference), self.config(arm)))


def difference(arm: str, other: str, metric: str) -> Callable[[Values], np.ndarray]:
    """The effect "this arm minus the other" by seed."""
    return lambda values: values(arm, metric) - values(other, metric)


def above(arm: str, metric: str, level: float = 0.0) -> Callable[[Values], np.ndarray]:
    """The effect "this arm's number minus a level known beforehand", such as chance."""
    return lambda values: values(arm, metric) - level


def rise(arm: str, metric: str, before: str) -> Callable[[Values], np.ndarray]:
    """The effect "this number minus another one of the same arm", such as of a later layer or a longer sequence."""
    return lambda values: values(arm, metric) - values(arm, before)
