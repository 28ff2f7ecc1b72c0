"""The table of the evidence: a column for each quality and tested length, a cell for each encoding, and published numbers beside it.

The best encoding is found on the first half of the seeds, and compared with each other one on the second half, by the rule of
:mod:`engine.experiments.finding`: whoever is the best of many by chance is not so again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import numpy as np

from engine.experiments.choice.qualities import (
    CHOICE,
    COMPARED,
    LEARNED,
    NO_PARTS,
    SOLVED,
    Paper,
    Quality,
    arm_of,
    share,
)
from engine.experiments.comparison import DESIGN
from engine.experiments.evidence.shipped import shipped_trials
from engine.experiments.evidence.store import latest_trials
from engine.experiments.experiment import Arm
from engine.experiments.finding import Finding
from engine.experiments.statistics import t_interval, weigh
from engine.experiments.trial import Trial

CellState = Literal["best", "as good", "undecided", "worse", "not learned", "no row", "not measured"]
Origin = Literal["this machine", "this version"]
Numbers = Mapping[int, float]
"""A number by seed."""
STATES: dict[Finding, CellState] = {Finding.HOLDS: "worse", Finding.SMALL: "as good"}
"""The state of an encoding by the finding that the best one is better. Any other is undecided."""


class Cell(TypedDict):
    """The evidence on one encoding for one quality at one length."""

    quality: str
    times: int
    """The tested length, in trained lengths."""
    state: CellState
    number: float | None
    """The mean over the seeds that finished."""
    ci: tuple[float, float] | None
    """Student's 95 % interval of that."""
    behind: float | None
    """How far the best is ahead, in the number's unit, on the second half of the seeds."""
    seeds: int
    """The number of seeds with a number."""
    failed: int
    """The number of seeds that did not finish."""
    origin: Origin | None


@dataclass(frozen=True)
class Column:
    """The cells of a quality at one length, by encoding."""

    quality: Quality
    times: int
    cells: Mapping[str, Cell]
    arms: Mapping[str, Arm]
    """By encoding, the arm behind its cell."""
    numbers: Mapping[str, Numbers]

    @property
    def best(self) -> str | None:
        return next((name for name, cell in self.cells.items() if cell["state"] == "best"), None)

    @property
    def solved(self) -> bool:
        """Whether the best encoding is far enough from guessing that there is an answer."""
        number = self.cells[self.best]["number"] if self.best else None
        return number is not None and share(self.quality, number) >= (0.0 if self.quality.lower_is_better else SOLVED)

    def goodness(self, encoding: str) -> float:
        """The mean number, the more the better; minus infinity without one."""
        return _mean(self.quality, self.numbers[encoding].values())


def column(
    quality: Quality, times: int = 1, here: Sequence[Trial] | None = None, design: Mapping[str, Any] = NO_PARTS
) -> Column:
    """The cells of a quality at so many times the trained length. ``here``: the trials of this machine, which come first;
    ``design``: the parts of a design, which then has a row, too."""
    own, shipped = latest_trials(CHOICE.slug) if here is None else here, shipped_trials(CHOICE)
    arms = {name: arm_of(quality, name) for name in COMPARED} | (
        {DESIGN: arm_of(quality, DESIGN, design)} if design else {}
    )
    trials = {name: _trials_of(arm.name, own, shipped) for name, arm in arms.items()}
    numbers = {name: _numbers(found, quality.number(times)) for name, (found, _) in trials.items()}
    cells = {name: _cell(quality, times, numbers[name], *trials[name]) for name in arms}
    compared = [name for name, cell in cells.items() if cell["state"] == "undecided"]
    if compared:
        seeds = sorted(set[int]().union(*(numbers[name] for name in compared)))
        first, second = seeds[: len(seeds) // 2], seeds[len(seeds) // 2 :]
        complete = [name for name in compared if numbers[name].keys() >= set(seeds)]
        means = {name: _mean(quality, [numbers[name][seed] for seed in first]) for name in complete}
        for best, name in ((max(means, key=lambda name: means[name]), name) for name in complete):
            ahead = _ahead(quality, numbers[best], numbers[name], second)
            state = "best" if name == best else STATES.get(weigh(ahead, quality.smallest).finding, "undecided")
            cells[name] = {**cells[name], "state": state, "behind": float(ahead.mean())}
    return Column(quality, times, cells, arms, numbers)


def _mean(quality: Quality, numbers: Any) -> float:
    """The mean, the more the better; minus infinity without numbers."""
    known = list(numbers)
    return (-1 if quality.lower_is_better else 1) * float(np.mean(known)) if known else -math.inf


def _ahead(quality: Quality, one: Numbers, other: Numbers, seeds: Sequence[int]) -> np.ndarray:
    """How much better one is than the other, [seed]."""
    sign = -1.0 if quality.lower_is_better else 1.0
    return sign * np.array([one[seed] - other[seed] for seed in seeds])


def _trials_of(arm: str, own: Sequence[Trial], shipped: Sequence[Trial]) -> tuple[list[Trial], Origin | None]:
    """The trials measured on this machine if there are any, else those that came with this version."""
    if mine := [trial for trial in own if trial.arm == arm]:
        return mine, "this machine"
    found = [trial for trial in shipped if trial.arm == arm]
    return found, "this version" if found else None


def _numbers(trials: Sequence[Trial], name: str) -> Numbers:
    return {trial.seed: trial.numbers[name] for trial in trials if name in trial.numbers and not trial.outcome}


def _cell(quality: Quality, times: int, numbers: Numbers, trials: Sequence[Trial], origin: Origin | None) -> Cell:
    """The cell before it is compared with the best one: it is undecided where there is a number to compare."""
    trained = _numbers(trials, quality.number(1))
    known = np.array(list(numbers.values()))
    state: CellState = "undecided" if len(known) else "not measured"
    if (
        trained
        and not quality.lower_is_better
        and times > 1
        and share(quality, float(np.mean(list(trained.values())))) < LEARNED
    ):
        state = "not learned"
    elif trained and not len(known):
        state = "no row"
    return Cell(
        quality=quality.slug, times=times, state=state, number=float(known.mean()) if len(known) else None,
        ci=t_interval(known) if len(known) > 1 else None, behind=None, seeds=len(known) or len(trained),
        failed=len(trials) - len(trained), origin=origin,
    )  # fmt: skip


# Published numbers


@dataclass(frozen=True)
class BesidePaper:
    """A published number beside ours."""

    paper: Paper
    number: float
    baseline: float
    """The published number of the encoding that both are compared with."""
    agrees: bool | None
    """Whether ours has the same sign against that encoding; None where ours is missing or does not tell them apart."""


def beside_papers(one: Column, encoding: str) -> list[BesidePaper]:
    return [
        _beside(one, paper, encoding)
        for paper in one.quality.papers
        if encoding != paper.baseline and encoding in paper.numbers and one.times in paper.times
    ]


def _beside(one: Column, paper: Paper, encoding: str) -> BesidePaper:
    place = paper.times.index(one.times)
    theirs, base = paper.numbers[encoding][place], paper.numbers[paper.baseline][place]
    ours, against = one.numbers[encoding], one.numbers[paper.baseline]
    better = _ahead(one.quality, ours, against, sorted(ours.keys() & against.keys()))
    signs = {Finding.HOLDS: True, Finding.OPPOSITE: False}
    both_learned = all(one.cells[name]["state"] != "not learned" for name in (encoding, paper.baseline))
    ours_better = signs.get(weigh(better, one.quality.smallest).finding) if both_learned else None
    theirs_better = theirs > base if paper.higher_is_better else theirs < base
    return BesidePaper(paper, theirs, base, None if ours_better is None else ours_better == theirs_better)
