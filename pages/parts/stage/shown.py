"""The data of the board: a running experiment at this moment, or stored evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.experiments.experiment import Arm, Experiment
from engine.experiments.report import Report
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.trial import Curve, Trial, curves_of


@dataclass(frozen=True)
class TrialSoFar:
    """A trial that is training."""

    arm: str
    seed: int
    share: float
    curves: dict[str, Curve]
    queue_place: int | None = None
    machine: str = ""
    """The name of the machine that trains it; empty for the app's own."""


@dataclass(frozen=True)
class Shown:
    """A report, and how far the experiment is."""

    report: Report
    state: str
    """The state of the experiment; ``waiting`` before the first run, ``kept`` for stored evidence, ``shipped`` for evidence that
    comes with this version."""
    running: Sequence[TrialSoFar] = ()
    done: float = 1.0
    seconds_left: float | None = None
    problem: str = ""

    @property
    def experiment(self) -> Experiment:
        return self.report.experiment

    @property
    def arms(self) -> tuple[Arm, ...]:
        return self.report.arms

    @property
    def seeds(self) -> Sequence[int]:
        return self.report.seeds

    @property
    def trials(self) -> Sequence[Trial]:
        return self.report.trials

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
        return self.state, len(self.trials), running, self.report.seconds


def of_run(run: ExperimentRun) -> Shown:
    # Read before the report: a trial that ends between the two reads is then shown twice at worst, never not at all.
    running, state, found = run.running_trials, run.state, run.report
    ended = {(trial.arm, trial.seed) for trial in found.trials}
    so_far = [
        TrialSoFar(
            one.arm.name, one.seed, one.share, curves_of(one.events, run.experiment.curves), one.run.queue_place, one.run.machine
        )
        for one in running
        if (one.arm.name, one.seed) not in ended
    ]  # fmt: skip
    return Shown(found, state, so_far, run.done, run.seconds_left, run.problem)
