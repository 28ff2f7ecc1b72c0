"""The learning rates of an issue's arms: each arm is compared at the best rate of a grid, chosen on pilot seeds that no verdict
uses.

The grid is measured once (``python -m tools.rates SLUG``) and shipped, so a reader's run trains each arm at one rate. An arm's grid
is five rates, half a decade apart, around the rate of its settings. If the best one lies at an edge, the grid grows on that side.
If no rate is better than blind guessing, the arm keeps the rate of its settings.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

from engine.config.run_config import RunConfig
from engine.estimate.layout import metric_names
from engine.experiments.bounds import is_loss
from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.tables import store_rows, stored_rows
from engine.experiments.experiment import PILOT_SEEDS, Arm, Experiment
from engine.experiments.trial import Trial
from engine.foundation.errors import Explained

FILE = "rates.json"
# half decades on each side of the rate of the arm's settings: in the first grid, and in the largest one
FIRST, FARTHEST = 2, 4
# the difference of two mean scores up to which the rate nearer to the one in the arm's settings is chosen
EQUAL_WITHIN = 0.01
# the distance from blind guessing, in accuracy or in nats, above which a mean score counts as better than guessing
ABOVE_CHANCE = 0.02
# the beginnings of the names of numbers that are losses, or follow from them
LOSS_METRICS = (
    "loss", "train_loss", "best_loss", "gap", "overtraining", "other_text", "perplexity", "known_perplexity",
)  # fmt: skip
SomeExperiment = TypeVar("SomeExperiment", bound=Experiment)


class NoScore(Explained, ValueError):
    """Raised if no learning rate can be chosen for an arm, since none of its trials has a score."""


@dataclass(frozen=True)
class RateGrid:
    """The held-out scores of an arm at each learning rate, at the length on which it was trained."""

    arm: str
    arm_rate: float
    """The rate of the arm's settings."""
    metric: str
    """See :func:`score_of`."""
    scores: Mapping[float, Sequence[float | None]]
    """By rate, the score of each pilot seed; None for a seed that did not finish."""
    chance: float | None = None
    """The score of blind guessing; None if it was not stored."""

    @property
    def _sign(self) -> int:
        return -1 if is_loss(self.metric) else 1

    def mean(self, rate: float) -> float:
        """The mean score, with a loss turned so that more is better; minus infinity if a seed did not finish."""
        known = [score for score in self.scores[rate] if score is not None]
        if not known or len(known) < len(self.scores[rate]):
            return -math.inf
        return fmean(known) * self._sign

    @property
    def _top(self) -> float:
        """The rate with the best mean; of several that are as good, the one nearest to ``arm_rate``."""
        means = {rate: self.mean(rate) for rate in self.scores}
        top = max(means.values(), default=-math.inf)
        good = [rate for rate, mean in means.items() if mean >= top - EQUAL_WITHIN and mean > -math.inf]
        return min(good, key=lambda rate: abs(math.log(rate / self.arm_rate)), default=self.arm_rate)

    @property
    def learns(self) -> bool:
        """True if the rate with the best mean is better than blind guessing; if the score of guessing was not stored, true if there
        is a mean."""
        chance = -math.inf if self.chance is None else self.chance * self._sign
        return bool(self.scores) and self.mean(self._top) > chance + ABOVE_CHANCE

    @property
    def best(self) -> float:
        """The rate with the best mean (``_top``), or ``arm_rate`` if no rate is better than blind guessing."""
        return self._top if self.learns else self.arm_rate

    def missing(self) -> list[float]:
        """The rates still to be measured; none once the best one lies between two others, or ``FARTHEST`` away."""
        first = [self._rate(half_decades) for half_decades in range(-FIRST, FIRST + 1)]
        if missing := [rate for rate in first if rate not in self.scores]:
            return missing
        lowest, highest = min(self.scores), max(self.scores)
        for edge, side in ((lowest, -1), (highest, 1)):
            half_decades = round(2 * math.log10(edge / self.arm_rate))
            none_finished = self.mean(self._top) == -math.inf
            if (self._top == edge or (side < 0 and none_finished)) and abs(
                half_decades
            ) < FARTHEST:  # a lower rate may finish
                return [self._rate(half_decades + side)]
        return []

    @property
    def at_grid_edge(self) -> bool:
        return self.best in (min(self.scores), max(self.scores))

    def _rate(self, half_decades: int) -> float:
        return times(self.arm_rate, 10 ** (half_decades / 2))


def times(rate: float, factor: float) -> float:
    """The product, rounded to two digits."""
    return float(f"{rate * factor:.2g}")


def first_grids(experiment: Experiment, extended: bool = False) -> list[RateGrid]:
    plain = experiment.untuned()
    tuned = [(arm, plain.config(arm)) for arm in experiment.arms_of(extended) if is_tuned(arm)]
    return [RateGrid(arm.name, config.learning_rate, score_of(arm, config), {}) for arm, config in tuned]


def is_tuned(arm: Arm) -> bool:
    return arm.tuned


def score_of(arm: Arm, config: RunConfig) -> str:
    """The name of the score, at the trained length, by which an arm's rate is chosen.

    It is the lowest validation loss along the run for an arm that is reported by a loss, or by a number that follows
    from one. For all others it is the first accuracy of their task (:func:`engine.estimate.layout.metric_names`) at the
    end, also if they are reported at another length, or by a measurement that says nothing about learning.
    """
    # At the end of a run a rate that hardly trains would look better than one that learns and then overfits, and its gap is
    # the smallest.
    return "best_loss" if arm.metric.startswith(LOSS_METRICS) else metric_names(config)[0]


def pilot(experiment: SomeExperiment, grids: Iterable[RateGrid]) -> SomeExperiment | None:
    arms = [_at(experiment.arm(grid.arm), rate) for grid in grids for rate in grid.missing()]
    if not arms:
        return None
    return replace(
        experiment.untuned(), arms=tuple(arms), claims=(), curves=(), seeds=len(PILOT_SEEDS), first_seed=PILOT_SEEDS[0]
    )


def with_trials(grids: Iterable[RateGrid], trials: Sequence[Trial]) -> list[RateGrid]:
    """The grids with the scores of the pilot's trials. Raises NoScore if there is nothing to choose a rate by."""
    by_key = {(trial.arm, trial.seed): trial for trial in trials}
    seeds = sorted({trial.seed for trial in trials})

    def scored(grid: RateGrid) -> RateGrid:
        missing = grid.missing()
        new = {rate: [by_key.get((_name(grid.arm, rate), seed)) for seed in seeds] for rate in missing}
        pilots = [trial for row in new.values() for trial in row if trial is not None]
        scores = {rate: [_score(trial, grid.metric) for trial in row] for rate, row in new.items()}
        guessing = [_rounded(trial.number("chance." + grid.metric.removeprefix("best_"))) for trial in pilots]
        chance = next((score for score in guessing if score is not None), grid.chance)
        whole = replace(grid, scores={**grid.scores, **scores}, chance=chance)
        _refuse_without_score(whole, pilots)
        return whole

    return [scored(grid) for grid in grids]


def _score(trial: Trial | None, metric: str) -> float | None:
    return None if trial is None or trial.failure else _rounded(trial.number(metric))


def _rounded(number: float) -> float | None:
    return float(f"{number:.4g}") if math.isfinite(number) else None


def _refuse_without_score(grid: RateGrid, trials: Sequence[Trial]) -> None:
    """Raises NoScore if a grid has no score at all, though trials have finished or no rate is left to try."""
    if any(score is not None for scores in grid.scores.values() for score in scores):
        return
    finished = [trial for trial in trials if not trial.failure]
    sentence = f"No learning rate can be chosen for the arm “{grid.arm}” by “{grid.metric}”"
    if finished:
        raise NoScore(f"{sentence}: its trials have only {', '.join(sorted(finished[0].numbers))}.")
    if trials and not grid.missing():
        raise NoScore(
            f"{sentence}: none of its trials finished at any of {len(grid.scores)} rates. {trials[-1].failure}"
        )


def measured_grids(
    experiment: Experiment, run: Callable[[Experiment], Sequence[Trial]], extended: bool = False
) -> list[RateGrid]:
    """The grids of all tuned arms; ``run`` gives the trials of a pilot. Raises NoScore."""
    grids = first_grids(experiment, extended)
    while (missing := pilot(experiment, grids)) is not None:
        grids = with_trials(grids, run(missing))
    return grids


def at_best_rates(experiment: SomeExperiment, grids: Sequence[RateGrid]) -> SomeExperiment:
    at_grid_edge = experiment.rates_at_grid_edge - {grid.arm for grid in grids} | {
        grid.arm for grid in grids if grid.at_grid_edge
    }
    rates = {**experiment.rates, **{grid.arm: grid.best for grid in grids}}
    return replace(experiment, rates=rates, rates_at_grid_edge=at_grid_edge)


def best_in_words(grid: RateGrid) -> str:
    sentence = f"{grid.best:g}"
    if not grid.learns:
        sentence += " (its own: no rate is better than guessing)"
    return f"{sentence} (the last one tried)" if grid.at_grid_edge else sentence


def _at(arm: Arm, rate: float) -> Arm:
    settings, name = {**arm.settings, "learning_rate": rate}, _name(arm.name, rate)
    # not extended, since a pilot always trains it
    return replace(arm, name=name, settings=settings, measurements=(), points=(), extended=False)


def _name(arm: str, rate: float) -> str:
    return f"{arm} at rate {rate:g}"


def write_grids(slug: str, grids: Sequence[RateGrid], folder: Path) -> None:
    rows = dict(stored_rows(folder / FILE))
    rows[slug] = [as_row(grid) for grid in grids]
    store_rows(folder / FILE, dict(sorted(rows.items())), 2)  # a line for each arm


def as_row(grid: RateGrid) -> dict[str, Any]:
    scores = {f"{rate:g}": list(scores) for rate, scores in sorted(grid.scores.items())}
    plain = {"arm": grid.arm, "own": grid.arm_rate, "best": grid.best, "metric": grid.metric, "chance": grid.chance}
    return {**plain, "scores": scores}


def read_grids(slug: str, folder: Path = FOLDER) -> list[RateGrid]:
    def grid(row: Mapping[str, Any]) -> RateGrid:
        scores = {float(rate): scores for rate, scores in row["scores"].items()}
        return RateGrid(row["arm"], row["own"], row["metric"], scores, row.get("chance"))

    return [grid(row) for row in stored_rows(folder / FILE).get(slug, [])]
