"""The table of the evidence: a column for each criterion and tested length, a cell for each encoding, and published
numbers next to it.

The encoding with the best mean is compared with each other one by the rule of issues
(:func:`engine.experiments.report.report`): on all seeds, with p corrected for the number of rivals.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypedDict

import numpy as np

from engine.experiments.benchmark.criteria import (
    CHOICE,
    COMPARED,
    LEARNED_ACCURACY,
    SOLVED,
    Criterion,
    Paper,
    arm_of,
    fresh_arm_of,
    share,
)
from engine.experiments.evidence.shipped import shipped_trials
from engine.experiments.experiment import CONFIRMATORY_SEEDS, Arm, Claim, difference
from engine.experiments.finding import Finding
from engine.experiments.report import report
from engine.experiments.statistics import Weighed, t_interval
from engine.experiments.trial import Trial
from engine.experiments.verdict import weigh_claim

CellState = Literal["best", "as good", "cannot tell", "undecided", "worse", "not learned", "no row", "not measured"]
Sign = Literal["same sign", "other sign", "no difference there", "undecided here"]
DECIMALS = 2  # of a number that is shown
Numbers = Mapping[int, float]  # by seed
# the state of an encoding by the finding on the claim that the best one is better
STATES: dict[Finding, CellState] = {
    Finding.HOLDS: "worse", Finding.SMALL: "as good", Finding.CANNOT_TELL: "cannot tell", Finding.UNDECIDED: "undecided",
    Finding.OPPOSITE: "undecided",
}  # fmt: skip


class TableCell(TypedDict):
    criterion: str
    times: int
    """In trained lengths."""
    state: CellState
    number: float | None
    """The mean over the seeds that finished."""
    ci: tuple[float, float] | None
    """Student's 95 % interval of ``number``."""
    range: tuple[float, float] | None
    fresh: float | None
    """The mean of the same training with fresh sequences; None if its sequences are fresh anyway."""
    price: float | None
    """The number minus that of the same seed with fresh sequences, as a mean over the seeds that have both."""
    paired: int
    """The number of seeds in ``price``."""
    behind: float | None
    """The distance to the best, in the unit of ``number``."""
    why: str
    seeds: int
    failed: int


@dataclass(frozen=True)
class Column:
    criterion: Criterion
    times: int
    cells: Mapping[str, TableCell]
    arms: Mapping[str, Arm]
    numbers: Mapping[str, Numbers]

    @property
    def best(self) -> str | None:
        return next((name for name, cell in self.cells.items() if cell["state"] == "best"), None)

    @property
    def among_best(self) -> frozenset[str]:
        """The encodings whose number, rounded as in the table, is within the smallest difference that counts of the
        best one."""
        rounded = {
            name: round(cell["number"], DECIMALS)
            for name, cell in self.cells.items()
            if cell["number"] is not None and cell["state"] != "not learned"
        }
        best = (min if self.criterion.lower_is_better else max)(rounded.values(), default=0.0)
        within = self.criterion.smallest + 10.0 ** -(DECIMALS + 2)  # .99 - .94 is a little more than .05
        return frozenset(name for name, number in rounded.items() if abs(number - best) <= within)

    @property
    def solved(self) -> bool:
        number = self.cells[self.best]["number"] if self.best else None
        return number is not None and share(self.criterion, number) >= (
            0.0 if self.criterion.lower_is_better else SOLVED
        )


def column(criterion: Criterion, times: int = 1, trials: Sequence[Trial] | None = None) -> Column:
    """The cells of a criterion at so many times the trained length; by default from the shipped trials on the
    confirmatory seeds."""
    if trials is None:
        trials = [trial for trial in shipped_trials(CHOICE) if trial.seed in CONFIRMATORY_SEEDS]
    arms = {name: arm_of(criterion, name) for name in COMPARED}
    by_encoding = {name: [trial for trial in trials if trial.arm == arm.name] for name, arm in arms.items()}
    numbers = {name: _numbers(each, criterion.number(times)) for name, each in by_encoding.items()}
    fresh = {name: _fresh(criterion, name, trials) for name in arms}
    cells = {name: _cell(criterion, times, numbers[name], by_encoding[name], fresh[name]) for name in arms}
    compared = [name for name, cell in cells.items() if cell["state"] == "undecided"]
    seeds = sorted(set[int]().union(*(numbers[name] for name in compared)))
    complete = [name for name in compared if len(seeds) > 1 and numbers[name].keys() >= set(seeds)]
    best = max(complete, key=lambda name: _mean(criterion, numbers[name].values()), default="")
    sign = -1.0 if criterion.lower_is_better else 1.0
    for name, each in _against(criterion, times, best, complete, by_encoding, seeds).items():
        behind = None if each.effect is None else sign * each.effect
        cells[name] = {**cells[name], "state": STATES[each.finding], "behind": behind, "why": each.why}
    if best:
        cells[best] = {**cells[best], "state": "best", "behind": 0.0}
    return Column(criterion, times, cells, arms, numbers)


def _fresh(criterion: Criterion, encoding: str, trials: Sequence[Trial]) -> Numbers:
    arm = fresh_arm_of(criterion, encoding)
    return {} if arm is None else _numbers([one for one in trials if one.arm == arm.name], criterion.number(1))


def _mean(criterion: Criterion, numbers: Iterable[float]) -> float:
    """The mean with the sign of a loss turned, so that more is better."""
    return (-1 if criterion.lower_is_better else 1) * float(np.mean(list(numbers)))


def _against(
    criterion: Criterion,
    times: int,
    best: str,
    names: Sequence[str],
    by_encoding: Mapping[str, Sequence[Trial]],
    seeds: Sequence[int],
) -> dict[str, Weighed]:
    """By encoding, the verdict on the claim that the best one is better; its p is corrected for the number of these claims."""
    arms = {name: arm_of(criterion, name) for name in names}
    claims = {name: _better(criterion, times, arms[best], arms[name]) for name in names if name != best}
    trials = [trial for name in names for trial in by_encoding[name] if not trial.failure]
    experiment = replace(CHOICE, arms=tuple(arms.values()), claims=tuple(claims.values()))
    rows = report(experiment, trials, seeds).claims
    return dict(zip(claims, (row.weighed for row in rows), strict=True))


def _better(criterion: Criterion, times: int, one: Arm, other: Arm) -> Claim:
    effect = difference(one.name, other.name, criterion.number(times))
    return Claim(
        f"better than {other.name}", effect, criterion.smallest, "less" if criterion.lower_is_better else "more"
    )


def _numbers(trials: Sequence[Trial], name: str) -> Numbers:
    return {trial.seed: trial.numbers[name] for trial in trials if name in trial.numbers and not trial.failure}


def _cell(criterion: Criterion, times: int, numbers: Numbers, trials: Sequence[Trial], fresh: Numbers) -> TableCell:
    """The cell before the comparison with the best one: "undecided" if there is a number to compare. ``fresh``: the
    numbers of the same training with fresh sequences."""
    trained = _numbers(trials, criterion.number(1))
    known = np.array(list(numbers.values()))
    state: CellState = "undecided" if len(known) else "not measured"
    must_have_learned = trained if times > 1 else fresh
    prices = [number - fresh[seed] for seed, number in numbers.items() if seed in fresh]
    if must_have_learned and not _has_learned(criterion, np.array(list(must_have_learned.values()))):
        state = "not learned"
    elif trained and not len(known):
        state = "no row"
    return TableCell(
        criterion=criterion.slug, times=times, state=state, number=float(known.mean()) if len(known) else None,
        ci=t_interval(known) if len(known) > 1 else None,
        range=(float(known.min()), float(known.max())) if len(known) else None,
        fresh=float(np.mean(list(fresh.values()))) if fresh else None,
        price=float(np.mean(prices)) if prices else None,
        paired=len(prices), behind=None, why="", seeds=len(known) or len(trained),
        failed=len(trials) - len(trained),
    )  # fmt: skip


def _has_learned(criterion: Criterion, trained: np.ndarray) -> bool:
    """True unless the whole interval of the numbers at the trained length, [seed], lies below ``LEARNED_ACCURACY``."""
    if criterion.lower_is_better:
        return True
    highest = t_interval(trained)[1] if len(trained) > 1 else float(trained[0])
    return share(criterion, highest) >= LEARNED_ACCURACY


# Published numbers


@dataclass(frozen=True)
class BesidePaper:
    paper: Paper
    number: float
    baseline: float
    times: int
    """In the paper's own trained lengths."""
    sign: Sign


def beside_papers(one: Column, encoding: str) -> list[BesidePaper]:
    beside = list[BesidePaper]()
    for paper in one.criterion.papers:
        published = {name: dict(zip(paper.times, numbers, strict=True)) for name, numbers in paper.numbers.items()}
        if encoding != paper.baseline and one.times in published.get(encoding, {}):
            number, baseline = (published[name][one.times] for name in (encoding, paper.baseline))
            sign = _sign(one, paper, encoding, number, baseline)
            beside.append(BesidePaper(paper, number, baseline, paper.multiple(one.times), sign))
    return beside


def _sign(one: Column, paper: Paper, encoding: str, theirs: float, base: float) -> Sign:
    if abs(theirs - base) <= paper.smallest * abs(base):
        return "no difference there"
    ours, against = (one.arms[name] for name in (encoding, paper.baseline))
    seeds = sorted(one.numbers[encoding].keys() & one.numbers[paper.baseline].keys())
    by_arm = {one.arms[name].name: one.numbers[name] for name in (encoding, paper.baseline)}

    def values(arm: str, metric: str) -> np.ndarray:
        return np.array([by_arm[arm][seed] for seed in seeds], dtype=float)

    claim = _better(one.criterion, one.times, ours, against)
    found = weigh_claim(replace(CHOICE, arms=(ours, against)), claim, values).finding
    ours_better = {Finding.HOLDS: True, Finding.OPPOSITE: False}.get(found)
    learned = all(one.cells[name]["state"] != "not learned" for name in (encoding, paper.baseline))
    if ours_better is None or not learned:
        return "undecided here"
    return "same sign" if ours_better == ((theirs > base) == paper.higher_is_better) else "other sign"
