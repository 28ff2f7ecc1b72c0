"""What a documented issue is: claims, the arms that test them, and the words around them. Torch-free."""

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
"""``values(arm, metric)``: one number a seed, [seed]; NaN where a seed has none (yet)."""


@dataclass(frozen=True)
class Arm:
    """One way to train. What it sets away from the issue's base is what the comparison is about."""

    name: str
    role: Role
    settings: Mapping[str, Any] = field(default_factory=dict)
    metric: str = "accuracy"
    """The number that this arm is reported by (see :mod:`engine.experiments.trial`)."""
    measurements: tuple[str, ...] = ()
    extended: bool = False
    """Whether it takes longer than a live core should."""
    alone: bool = False
    """Whether it measures time and wants a worker to itself."""
    line: str = ""
    """Arms of one name here are joined into a line over ``x``."""
    x: float | None = None
    points: tuple[tuple[float, str], ...] = ()
    """Where one trial gives a whole line: (x, metric), such as the accuracy at each test length."""


@dataclass(frozen=True)
class Claim:
    """A statement with a number that decides it."""

    sentence: str
    effect: Callable[[Values], np.ndarray]
    """The effect of each seed, [seed]; NaN where it is not known."""
    unit: str
    smallest_effect: float
    """The smallest size worth naming, declared beforehand; above 0."""
    direction: Literal["more", "less"] = "more"
    """Which sign of the effect the claim predicts."""
    condition: str = ""
    """Under which condition it is tested: "at 512 sequences"."""
    about: Literal["issue", "condition", "remedy"] = "issue"
    """What it is about: the issue itself, a condition or negative finding beside it, or what mends it."""
    extended: bool = False
    """Whether it needs extended arms."""


@dataclass(frozen=True)
class Published:
    """Numbers from a paper, to set beside ours."""

    source: str
    what: str
    """Metric, model, data."""
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[float, ...]]
    ours: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """For a row: the (arm, metric) beside each column, where there is one; an empty arm name means none."""
    differs: str = ""
    """What differs between their experiment and ours."""


@dataclass(frozen=True)
class Issue:
    """One documented issue. Nothing in it says how the experiment comes out."""

    slug: str
    group: Group
    title: str
    summary: str
    """What is claimed, in one or two plain sentences."""
    mechanism: str
    """Why it would happen: Markdown with TeX between dollar signs."""
    base: Mapping[str, Any]
    """Settings that all arms share."""
    arms: tuple[Arm, ...]
    claims: tuple[Claim, ...]
    """The first one gives the issue its verdict."""
    remedies: tuple[str, str, str]
    """What a practitioner does about it today."""
    sources: tuple[str, ...]
    x_label: str = ""
    published: tuple[Published, ...] = ()
    notes: tuple[str, ...] = ()
    """What is worth knowing about how it is measured. Not results."""
    evaluations: int = 10
    """Validation passes along each trial."""
    curves: tuple[str, ...] = ()
    """Further curves worth following beside losses and accuracies: ``grad.<part>``, such as ``grad.7.q``."""

    def arms_of(self, extended: bool = False) -> tuple[Arm, ...]:
        return tuple(arm for arm in self.arms if extended or not arm.extended)

    def claims_of(self, extended: bool = False) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if extended or not claim.extended)

    def arm(self, name: str) -> Arm:
        return next(arm for arm in self.arms if arm.name == name)

    def config(self, arm: Arm, seed: int = 0) -> RunConfig:
        """Raises ConfigError."""
        return parse({**self.base, **arm.settings, "seed": seed})

    def record(self, arm: Arm) -> RecordOptions:
        return RecordOptions(
            snapshots=False, evaluations=self.evaluations, memory=False, remedy=False, measurements=arm.measurements
        )

    def changes(self, arm: Arm) -> list[tuple[Setting, Any, Any]]:
        """What the arm sets away from the first control (or the first arm): setting, there, here."""
        reference = next((other for other in self.arms if other.role == "control"), self.arms[0])
        return list(changes_between(self.config(reference), self.config(arm)))


def difference(arm: str, other: str, metric: str) -> Callable[[Values], np.ndarray]:
    """The effect "this arm minus the other", seed by seed."""
    return lambda values: values(arm, metric) - values(other, metric)


def above(arm: str, metric: str, level: float = 0.0) -> Callable[[Values], np.ndarray]:
    """The effect "this arm's number minus a level known beforehand", such as chance."""
    return lambda values: values(arm, metric) - level


def rise(arm: str, metric: str, before: str) -> Callable[[Values], np.ndarray]:
    """The effect "this number minus another one of the same arm", such as of a later layer or a longer sequence."""
    return lambda values: values(arm, metric) - values(arm, before)
