"""The data of the board: a running experiment at this moment or stored evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from engine.experiments.experiment import Arm, Experiment
from engine.experiments.report import Report
from engine.experiments.running.experiment_run import ExperimentRun, RunningTrial
from engine.experiments.trial import Curve, Trial, curves_of


def levels_of(trials: Sequence[Trial], curve: str) -> dict[str, float]:
    """Level lines: the chance of the curve's metric, where all these trials have the same, and the floor of a loss."""
    metric = curve.removeprefix("validation.")
    chance = {round(t.number(f"chance.{metric}"), 4) for t in trials if f"chance.{metric}" in t.numbers}
    floor = {round(t.number("floor"), 4) for t in trials if "floor" in t.numbers}
    levels = {f"chance {value:.3g}": value for value in chance} if len(chance) == 1 else {}
    if metric == "loss" and len(floor) == 1:
        levels |= {f"floor {value:.3g}": value for value in floor if value > 0}
    return levels


@dataclass(frozen=True)
class TrialSoFar:
    """A trial that is training."""

    arm: str
    seed: int
    share: float
    read_curves: Callable[[], dict[str, Curve]] = dict
    queue_place: int | None = None
    machine: str = ""
    """The name of the machine that trains it; empty for the app's own."""

    @cached_property
    def curves(self) -> dict[str, Curve]:
        """Its curves when they are first asked for: not every board shows them."""
        return self.read_curves()


@dataclass(frozen=True)
class Shown(Report):
    """A report, and how far the experiment is."""

    state: str = "waiting"
    """The state of the experiment; ``waiting`` before the first run, ``none`` where it is not said, ``class`` while phones train its
    seeds, ``kept`` for stored evidence, ``shipped`` for evidence that comes with this version."""
    running: Sequence[TrialSoFar] = ()
    done: float = 1.0
    seconds_left: float | None = None
    problem: str = ""
    waiting: int = 0
    """The phones of a class that have not begun to train their seeds yet."""

    @classmethod
    def of(cls, report: Report, state: str, **so_far: Any) -> Shown:
        """The report in this state; ``so_far``: the further fields."""
        return cls(**vars(report), state=state, **so_far)

    @property
    def origin(self) -> str:
        """Which seeds these are, as downloads say it: those that come with this version, or those that were trained here."""
        return "stored" if self.state == "shipped" else "live"

    @property
    def name(self) -> str:
        """The name of its downloads."""
        return f"{self.experiment.slug}-stored" if self.origin == "stored" else self.experiment.slug

    @property
    def trained(self) -> list[Arm]:
        """The arms that are trained; others are measured at their first weights and have no curve."""
        return [arm for arm in self.arms if self.experiment.config(arm).steps > 1]

    @property
    def curves(self) -> bool:
        """Whether there are, or will be, training curves."""
        return bool(self.trained) and (self.state == "running" or any(trial.curves for trial in self.trials))

    @property
    def stamp(self) -> tuple[object, ...]:
        """A value that changes whenever there is something new to draw."""
        running = tuple((trial.arm, trial.seed, trial.share, trial.queue_place) for trial in self.running)
        return self.state, len(self.trials), running, self.waiting, self.seconds


def of_run(run: ExperimentRun) -> Shown:
    # Read before the report: a trial that ends between the two reads is then shown twice at worst, never not at all.
    running, state, found = run.running_trials, run.state, run.report
    ended = {(trial.arm, trial.seed) for trial in found.trials}
    so_far = [
        TrialSoFar(
            one.arm.name, one.seed, one.share, partial(_curves_so_far, one, run.experiment), one.run.queue_place, one.run.machine
        )
        for one in running
        if (one.arm.name, one.seed) not in ended
    ]  # fmt: skip
    return Shown.of(found, state, running=so_far, done=run.done, seconds_left=run.seconds_left, problem=run.problem)


def _curves_so_far(trial: RunningTrial, experiment: Experiment) -> dict[str, Curve]:
    return curves_of(trial.events, experiment.curves)
