"""The table of the evidence: a column for each quality and tested length, a cell for each encoding, and published numbers beside it.

The best encoding is found on the first half of the seeds, and compared with each other one on the second half, by the rule of
:mod:`engine.experiments.verdict`: whoever is the best of many by chance is not so again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

import numpy as np

from engine.experiments.benchmark.criteria import (
    CHOICE,
    COMPARED,
    LEARNED_ACCURACY,
    SOLVED,
    Criterion,
    Paper,
    arm_of,
    share,
)
from engine.experiments.evidence.shipped import shipped_trials
from engine.experiments.experiment import CONFIRMATORY_SEEDS, Arm, Claim, difference
from engine.experiments.finding import Finding
from engine.experiments.statistics import Weighed, t_interval
from engine.experiments.trial import Trial
from engine.experiments.verdict import verdict

CellState = Literal["best", "as good", "cannot tell", "undecided", "worse", "not learned", "no row", "not measured"]
Sign = Literal["same sign", "other sign", "no difference there", "undecided here"]
DECIMALS = 2
"""Of a number of the table, as it is shown."""
Numbers = Mapping[int, float]
"""A number by seed."""
STATES: dict[Finding, CellState] = {
    Finding.HOLDS: "worse", Finding.SMALL: "as good", Finding.CANNOT_TELL: "cannot tell", Finding.UNDECIDED: "undecided",
    Finding.OPPOSITE: "undecided",
}  # fmt: skip
"""The state of an encoding by the finding that the best one of the first half of the seeds is better on the second."""


class TableCell(TypedDict):
    """The evidence on one encoding for one criterion at one length."""

    criterion: str
    times: int
    """The tested length, in trained lengths."""
    state: CellState
    number: float | None
    """The mean over the seeds that finished."""
    ci: tuple[float, float] | None
    """Student's 95 % interval of that."""
    behind: float | None
    """How far the best is ahead, in the number's unit, on the second half of the seeds."""
    why: str
    """The reason for the state, where the encoding was compared with the best one."""
    seeds: int
    """The number of seeds with a number."""
    failed: int
    """The number of seeds that did not finish."""


@dataclass(frozen=True)
class Column:
    """The cells of a criterion at one length, by encoding."""

    criterion: Criterion
    times: int
    cells: Mapping[str, TableCell]
    arms: Mapping[str, Arm]
    """By encoding, the arm behind its cell."""
    numbers: Mapping[str, Numbers]

    @property
    def best(self) -> str | None:
        return next((name for name, cell in self.cells.items() if cell["state"] == "best"), None)

    @property
    def among_best(self) -> frozenset[str]:
        """The encodings whose number, as the table shows it, is within the smallest difference that counts of the best one."""
        shown = {
            name: round(cell["number"], DECIMALS)
            for name, cell in self.cells.items()
            if cell["number"] is not None and cell["state"] != "not learned"
        }
        best = (min if self.criterion.lower_is_better else max)(shown.values(), default=0.0)
        within = self.criterion.smallest + 10.0 ** -(DECIMALS + 2)  # .99 - .94 is a little more than .05
        return frozenset(name for name, number in shown.items() if abs(number - best) <= within)

    @property
    def solved(self) -> bool:
        """Whether the best encoding is far enough from guessing that there is an answer."""
        number = self.cells[self.best]["number"] if self.best else None
        return number is not None and share(self.criterion, number) >= (
            0.0 if self.criterion.lower_is_better else SOLVED
        )


def column(criterion: Criterion, times: int = 1, trials: Sequence[Trial] | None = None) -> Column:
    """The cells of a criterion at so many times the trained length. ``trials``: by default those that came with this version."""
    if trials is None:
        trials = [trial for trial in shipped_trials(CHOICE) if trial.seed in CONFIRMATORY_SEEDS]
    arms = {name: arm_of(criterion, name) for name in COMPARED}
    by_encoding = {name: [trial for trial in trials if trial.arm == arm.name] for name, arm in arms.items()}
    numbers = {name: _numbers(found, criterion.number(times)) for name, found in by_encoding.items()}
    cells = {name: _cell(criterion, times, numbers[name], by_encoding[name]) for name in arms}
    compared = [name for name, cell in cells.items() if cell["state"] == "undecided"]
    seeds = sorted(set[int]().union(*(numbers[name] for name in compared)))
    if len(seeds) > 1:
        first, second = seeds[: len(seeds) // 2], seeds[len(seeds) // 2 :]
        complete = [name for name in compared if numbers[name].keys() >= set(seeds)]
        means = {name: _mean(criterion, [numbers[name][seed] for seed in first]) for name in complete}
        best = max(means, key=lambda name: means[name], default="")
        for name in complete:
            found = _verdict(criterion, times, (arms[best], numbers[best]), (arms[name], numbers[name]), second)
            sign = -1.0 if criterion.lower_is_better else 1.0
            cells[name] = {
                **cells[name],
                "state": "best" if name == best else STATES[found.finding],
                "behind": None if found.effect is None else sign * found.effect,
                "why": "" if name == best else found.why,
            }
    return Column(criterion, times, cells, arms, numbers)


def _mean(criterion: Criterion, numbers: Any) -> float:
    """The mean, the more the better; minus infinity without numbers."""
    known = list(numbers)
    return (-1 if criterion.lower_is_better else 1) * float(np.mean(known)) if known else -math.inf


def _verdict(
    criterion: Criterion, times: int, best: tuple[Arm, Numbers], other: tuple[Arm, Numbers], seeds: Sequence[int]
) -> Weighed:
    """The verdict on the claim that the best one is better than another, each given as its arm and its numbers."""
    by_arm, metric = {arm.name: numbers for arm, numbers in (best, other)}, criterion.number(times)
    effect = difference(best[0].name, other[0].name, metric)
    claim = Claim("better", effect, criterion.smallest, "less" if criterion.lower_is_better else "more")

    def values(arm: str, metric: str) -> np.ndarray:
        return np.array([by_arm[arm][seed] for seed in seeds], dtype=float)

    return verdict(replace(CHOICE, arms=(best[0], other[0])), claim, values)


def _numbers(trials: Sequence[Trial], name: str) -> Numbers:
    return {trial.seed: trial.numbers[name] for trial in trials if name in trial.numbers and not trial.failure}


def _cell(criterion: Criterion, times: int, numbers: Numbers, trials: Sequence[Trial]) -> TableCell:
    """The cell before it is compared with the best one: it is undecided where there is a number to compare."""
    trained = _numbers(trials, criterion.number(1))
    known = np.array(list(numbers.values()))
    state: CellState = "undecided" if len(known) else "not measured"
    if times > 1 and trained and not _learned(criterion, np.array(list(trained.values()))):
        state = "not learned"
    elif trained and not len(known):
        state = "no row"
    return TableCell(
        criterion=criterion.slug, times=times, state=state, number=float(known.mean()) if len(known) else None,
        ci=t_interval(known) if len(known) > 1 else None, behind=None, why="", seeds=len(known) or len(trained),
        failed=len(trials) - len(trained),
    )  # fmt: skip


def _learned(criterion: Criterion, trained: np.ndarray) -> bool:
    """Whether the numbers at the trained length, [seed], allow that the task was learned: unless their whole interval lies below."""
    if criterion.lower_is_better:
        return True
    highest = t_interval(trained)[1] if len(trained) > 1 else float(trained[0])
    return share(criterion, highest) >= LEARNED_ACCURACY


# Published numbers


@dataclass(frozen=True)
class BesidePaper:
    """A published number beside ours."""

    paper: Paper
    number: float
    baseline: float
    """The published number of the encoding that both are compared with."""
    times: int
    """The multiple of the paper's own trained length at which it was measured."""
    sign: Sign
    """Whether ours and theirs have the same sign against that encoding. There is none where theirs differ by less than their own noise,
    or where ours is missing or does not tell them apart."""


def beside_papers(one: Column, encoding: str) -> list[BesidePaper]:
    beside = list[BesidePaper]()
    for paper in one.criterion.papers:
        published = {name: dict(zip(paper.times, numbers, strict=False)) for name, numbers in paper.numbers.items()}
        if encoding != paper.baseline and one.times in published.get(encoding, {}):
            number, baseline = (published[name][one.times] for name in (encoding, paper.baseline))
            sign = _sign(one, paper, encoding, number, baseline)
            beside.append(BesidePaper(paper, number, baseline, paper.multiple(one.times), sign))
    return beside


def _sign(one: Column, paper: Paper, encoding: str, theirs: float, base: float) -> Sign:
    if abs(theirs - base) <= paper.smallest * abs(base):
        return "no difference there"
    ours, against = ((one.arms[name], one.numbers[name]) for name in (encoding, paper.baseline))
    seeds = sorted(ours[1].keys() & against[1].keys())
    found = _verdict(one.criterion, one.times, ours, against, seeds).finding
    ours_better = {Finding.HOLDS: True, Finding.OPPOSITE: False}.get(found)
    learned = all(one.cells[name]["state"] != "not learned" for name in (encoding, paper.baseline))
    if ours_better is None or not learned:
        return "undecided here"
    return "same sign" if ours_better == ((theirs > base) == paper.higher_is_better) else "other sign"
