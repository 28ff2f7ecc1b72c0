"""The learning rates of an issue's arms: each arm is compared at the best rate of a grid, chosen on pilot seeds that no verdict uses.

The grid is measured once (``python -m engine issue SLUG --rates --write FOLDER``) and shipped, so a reader's run trains each arm
at one rate. An arm's grid is five rates, half a decade apart, around the rate of its settings. Where the best one lies at an end, the
grid grows on that side.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, TypeVar

from engine.experiments.evidence import FOLDER
from engine.experiments.experiment import PILOT_SEEDS, Arm, Experiment
from engine.experiments.trial import Trial
from engine.foundation.json_lines import json_lines

FILE = "rates.json"
FIRST, FARTHEST = 2, 4
"""The half decades on each side of the arm's own rate: of the first grid, and of the largest one."""
SAME = 0.01
"""The difference of two mean scores up to which the rate nearer to the arm's own is kept."""
Metric = Literal["accuracy", "loss"]
OF_LOSS = ("loss", "gap", "other_text")
"""The beginnings of the names of numbers that are losses, or follow from them."""
SomeExperiment = TypeVar("SomeExperiment", bound=Experiment)


@dataclass(frozen=True)
class RateGrid:
    """The held-out scores of an arm at each learning rate, at the length on which it was trained."""

    arm: str
    own: float
    """The rate of the arm's settings."""
    metric: Metric
    scores: Mapping[float, Sequence[float | None]]
    """By rate, the score of each pilot seed; None where it did not finish."""

    def mean(self, rate: float) -> float:
        """The mean score, the more the better; minus infinity where a seed did not finish."""
        known = [score for score in self.scores[rate] if score is not None]
        if not known or len(known) < len(self.scores[rate]):
            return -math.inf
        return fmean(known) * (1 if self.metric == "accuracy" else -1)

    @property
    def best(self) -> float:
        """The rate with the best mean; of several that are as good, the one nearest to the arm's own."""
        means = {rate: self.mean(rate) for rate in self.scores}
        top = max(means.values(), default=-math.inf)
        good = [rate for rate, mean in means.items() if mean >= top - SAME and mean > -math.inf]
        return min(good, key=lambda rate: abs(math.log(rate / self.own)), default=self.own)

    def missing(self) -> list[float]:
        """The rates that are still to be measured; none once the best one lies between two others, or as far off as is tried."""
        first = [self._rate(place) for place in range(-FIRST, FIRST + 1)]
        if missing := [rate for rate in first if rate not in self.scores]:
            return missing
        lowest, highest = min(self.scores), max(self.scores)
        for edge, side in ((lowest, -1), (highest, 1)):
            place = round(2 * math.log10(edge / self.own))
            grows = self.best == edge or (side < 0 and self.mean(self.best) == -math.inf)  # a lower rate may finish
            if grows and abs(place) < FARTHEST:
                return [self._rate(place + side)]
        return []

    @property
    def at_end(self) -> bool:
        """Whether the best rate is the last one that was tried on its side, so that a farther one may be better."""
        return self.best in (min(self.scores), max(self.scores))

    def _rate(self, place: int) -> float:
        return float(f"{self.own * 10 ** (place / 2):.2g}")


def first_grids(experiment: Experiment, extended: bool = False) -> list[RateGrid]:
    """The empty grids of all arms that are tuned."""
    plain = experiment.untuned()
    arms = [arm for arm in experiment.arms_of(extended) if is_tuned(arm)]
    return [RateGrid(arm.name, plain.config(arm).learning_rate, metric_of(arm), {}) for arm in arms]


def is_tuned(arm: Arm) -> bool:
    return arm.tuned and not arm.alone


def metric_of(arm: Arm) -> Metric:
    """The score by which an arm's rate is chosen: the accuracy at the end, or for an arm that is reported by losses the loss on new
    sequences at the end. The gap is no score: a rate that has hardly trained would have the smallest."""
    return "loss" if arm.metric.startswith(OF_LOSS) else "accuracy"


def pilot(experiment: SomeExperiment, grids: Iterable[RateGrid]) -> SomeExperiment | None:
    """The experiment that measures what is missing in the grids: an arm for each arm and rate, on the pilot seeds. None where
    nothing is missing."""
    arms = [_at(experiment.arm(grid.arm), rate) for grid in grids for rate in grid.missing()]
    if not arms:
        return None
    return replace(
        experiment,
        arms=tuple(arms),
        claims=(),
        rates={},
        curves=(),
        seeds=experiment.pilot_seeds,
        first_seed=PILOT_SEEDS[0],
    )


def with_trials(grids: Iterable[RateGrid], trials: Sequence[Trial]) -> list[RateGrid]:
    """The grids with the scores of the pilot's trials."""
    found = {(trial.arm, trial.seed): trial for trial in trials if not trial.outcome}
    seeds = sorted({trial.seed for trial in trials})

    def score(grid: RateGrid, rate: float, seed: int) -> float | None:
        trial = found.get((_name(grid.arm, rate), seed))
        number = trial.numbers.get(grid.metric) if trial is not None else None
        return None if number is None else float(f"{number:.4g}")

    def scored(grid: RateGrid) -> RateGrid:
        new = {rate: [score(grid, rate, seed) for seed in seeds] for rate in grid.missing()}
        return replace(grid, scores={**grid.scores, **new})

    return [scored(grid) for grid in grids]


def measured_grids(
    experiment: Experiment, run: Callable[[Experiment], Sequence[Trial]], extended: bool = False
) -> list[RateGrid]:
    """The grids of all arms that are tuned; ``run`` gives the trials of an experiment that measures a part of them."""
    grids = first_grids(experiment, extended)
    while (missing := pilot(experiment, grids)) is not None:
        grids = with_trials(grids, run(missing))
    return grids


def at_best_rates(experiment: SomeExperiment, grids: Iterable[RateGrid]) -> SomeExperiment:
    """The experiment with each arm at the best rate of its grid."""
    return replace(experiment, rates={**experiment.rates, **{grid.arm: grid.best for grid in grids}})


def best_in_words(grid: RateGrid) -> str:
    """The best rate, and whether it is the last one of the grid."""
    return f"{grid.best:g}" + (" (the last one tried)" if grid.at_end else "")


def _at(arm: Arm, rate: float) -> Arm:
    """An arm of a pilot, which is always trained."""
    settings, name = {**arm.settings, "learning_rate": rate}, _name(arm.name, rate)
    return replace(arm, name=name, settings=settings, measurements=(), points=(), extended=False)


def _name(arm: str, rate: float) -> str:
    return f"{arm} at rate {rate:g}"


# What is stored


def write_grids(slug: str, grids: Sequence[RateGrid], folder: Path) -> None:
    """Write an issue's grids to the folder, in the place of its earlier ones."""
    rows = dict(_rows(folder))
    rows[slug] = [as_row(grid) for grid in grids]
    (folder / FILE).write_text(
        json_lines(dict(sorted(rows.items())), 2) + "\n", encoding="utf-8"
    )  # a line for each arm
    _rows.cache_clear()


def as_row(grid: RateGrid) -> dict[str, Any]:
    """A grid as plain data."""
    scores = {f"{rate:g}": list(scores) for rate, scores in sorted(grid.scores.items())}
    return {"arm": grid.arm, "own": grid.own, "best": grid.best, "metric": grid.metric, "scores": scores}


def read_grids(slug: str, folder: Path = FOLDER) -> list[RateGrid]:
    """The grids of an issue; none where they were not measured."""
    return [
        RateGrid(row["arm"], row["own"], row["metric"], {float(rate): scores for rate, scores in row["scores"].items()})
        for row in _rows(folder).get(slug, [])
    ]


def chosen_rates(slug: str) -> dict[str, float]:
    """The rate of each arm of an issue by the shipped grids."""
    return {grid.arm: grid.best for grid in read_grids(slug)}


@cache
def _rows(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of all issues in a folder."""
    file = folder / FILE
    rows: dict[str, list[dict[str, Any]]] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return rows
