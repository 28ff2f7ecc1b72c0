"""The evidence table for choosing an encoding: one row an encoding, one cell a property, from the trials of documented issues.

Every cell is on one scale: 0 is guessing, 1 is perfect (for "beyond the trained length": all of the earlier accuracy is kept).
A cell supports a need if the whole 95 % interval lies above ``BAR``: a rule declared before any number is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, TypedDict

import numpy as np

from engine.config.link import to_query
from engine.config.run_config import RunConfig, changes_between
from engine.encodings import ENCODINGS
from engine.experiments.evidence.shipped import shipped_trials
from engine.experiments.evidence.store import latest_trials
from engine.experiments.experiment import Arm
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.statistics import t_interval
from engine.experiments.trial import Trial
from engine.foundation.tables import read_tables
from engine.settings.errors import ConfigError

BAR = 0.5
"""The value above which a need is met: half of the range between guessing and perfect."""


@dataclass(frozen=True)
class Property:
    """A property of an encoding that a reader may need, and the experiment that tests it."""

    slug: str
    label: str
    need: str
    issue: str
    arm: str
    metric: str
    task: str
    before: str = ""


PROPERTIES = tuple(read_tables(Path(__file__).with_suffix(".toml"), Property).values())
"""The properties in ``choice.toml``, which says what each field is."""
NEEDS = {wanted.slug: wanted.need for wanted in PROPERTIES} | {
    "parameters": "Few extra parameters",
    "time": "Little extra time",
}
"""The needs that a reader can choose; the last two only order the encodings that meet the others."""

State = Literal["supported", "against", "open", "not learned", "no row", "not measured"]
Origin = Literal["this machine", "this version"]


class Cell(TypedDict):
    """The evidence on one encoding for one property."""

    quality: str
    state: State
    value: float | None
    """The mean over the seeds on the scale from 0 to 1."""
    ci: tuple[float, float] | None
    """Student's 95 % interval of the value."""
    seeds: int
    number: float | None
    """The mean of the raw number, and of the number that it must keep."""
    number_before: float | None
    chance: float
    arm: str
    """The arm's name; empty where no experiment has an arm with this encoding."""
    origin: Origin | None
    query: dict[str, str]
    """The query of the cell's link: to the experiment or, without an arm, to the lab with these settings."""


class Evidence(TypedDict):
    encoding: str
    cells: list[Cell]
    """One cell for each property."""


def evidence_table() -> list[Evidence]:
    """One row for each encoding, in the order of the registry."""
    here = {slug: latest_trials(slug) for slug in {wanted.issue for wanted in PROPERTIES}}
    return [
        Evidence(encoding=name, cells=[cell(name, wanted, here[wanted.issue]) for wanted in PROPERTIES])
        for name in ENCODINGS
    ]


def cell(encoding: str, wanted: Property, here: Sequence[Trial]) -> Cell:
    """The evidence on one encoding for one property; ``here``: the trials of its issue on this machine."""
    issue = ISSUES[wanted.issue]
    condition = issue.untuned().config(issue.arm(wanted.arm))
    arm = arm_of(issue, condition, encoding)
    found = _numbers(wanted, arm.name, here) if arm else None
    empty = Cell(
        quality=wanted.slug, state="not measured", value=None, ci=None, seeds=0, number=None, number_before=None,
        chance=chance_of(condition), arm=arm.name if arm else "", origin=None, query=_query(issue, arm, condition, encoding),
    )  # fmt: skip
    return {**empty, **_weighed(found, empty["chance"])} if found else empty  # type: ignore[typeddict-item]


def arm_of(issue: Issue, condition: RunConfig, encoding: str) -> Arm | None:
    """The arm that differs from the condition in the encoding alone, with that encoding's default parameters, best rates apart."""
    try:
        wanted = condition.replace(pos_encoding=encoding)
    except ConfigError:
        return None
    same = (arm for arm, config in _configs(issue.slug) if not any(changes_between(config, wanted)))
    return next(same, None)


@cache
def _configs(slug: str) -> list[tuple[Arm, RunConfig]]:
    issue = ISSUES[slug].untuned()
    return [(arm, issue.config(arm)) for arm in issue.arms]


def chance_of(config: RunConfig) -> float:
    return config.task_settings.chance(config)


@dataclass(frozen=True)
class _Numbers:
    values: list[float]
    before: list[float]
    """The numbers that the property must keep; empty where it compares with nothing."""
    without: int
    """The number of seeds without a number that have the one before: the model cannot be run there."""
    origin: Origin


def _numbers(wanted: Property, arm: str, here: Sequence[Trial]) -> _Numbers | None:
    """The numbers measured on this machine if there are any, else those that came with this version."""
    own = [trial for trial in here if trial.arm == arm and not trial.outcome]
    found = own or [trial for trial in shipped_trials(wanted.issue) if trial.arm == arm]
    by_seed = {
        metric: {trial.seed: trial.numbers[metric] for trial in found if metric in trial.numbers}
        for metric in (wanted.metric, wanted.before)
    }
    return _paired(wanted, by_seed, "this machine" if own else "this version")


def _paired(wanted: Property, by_seed: dict[str, dict[int, float]], origin: Origin) -> _Numbers | None:
    after = by_seed[wanted.metric]
    if not wanted.before:
        return _Numbers(list(after.values()), [], 0, origin) if after else None
    before = by_seed[wanted.before]
    both = sorted(after.keys() & before.keys())
    if not before:
        return None
    return _Numbers(
        [after[s] for s in both], [before[s] for s in both or before], len(before.keys() - after.keys()), origin
    )


def _weighed(found: _Numbers, chance: float) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "origin": found.origin,
        "seeds": len(found.values) or found.without,
        "number": fmean(found.values) if found.values else None,
        "number_before": fmean(found.before) if found.before else None,
    }
    if found.before and (fmean(found.before) - chance) / (1 - chance) < BAR:
        return {**facts, "state": "not learned"}
    if not found.values:
        return {**facts, "state": "no row"}
    whole = np.array(found.before) if found.before else np.ones(len(found.values))
    shares = (np.array(found.values) - chance) / (whole - chance)
    ci = t_interval(shares) if len(shares) > 1 else None
    return {**facts, "value": float(shares.mean()), "ci": ci, "state": _state(ci)}


def _state(ci: tuple[float, float] | None) -> State:
    if ci is None or ci[0] < BAR <= ci[1]:
        return "open"
    return "supported" if ci[0] >= BAR else "against"


def _query(issue: Issue, arm: Arm | None, condition: RunConfig, encoding: str) -> dict[str, str]:
    if arm is not None:
        return {"issue": issue.slug} | ({"extended": "true"} if arm.extended else {})
    try:
        return to_query(condition.replace(pos_encoding=encoding))
    except ConfigError:
        return {"issue": issue.slug}
