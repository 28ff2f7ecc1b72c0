"""Running an experiment on several sets of seeds at the best learning rate of each arm: of arms without one, the grids are measured
first."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from engine.experiments.experiment import Experiment
from engine.experiments.rates import at_best_rates, measured_grids
from engine.experiments.running.experiment_run import ExperimentRun
from engine.foundation.background import BackgroundTask
from engine.foundation.errors import Explained
from engine.foundation.visitor import PROGRAM, Visitor


class Stopped(Exception):
    """The task was stopped."""


class TunedRun(BackgroundTask):
    """A background task that measures the grids of the arms without a rate, and then runs the experiment."""

    def __init__(
        self,
        experiment: Experiment,
        first_seeds: Sequence[int],
        begin: Callable[[Experiment], ExperimentRun],
        visitor: Visitor = PROGRAM,
    ) -> None:
        """``first_seeds``: the first seed of each set; ``begin`` gives the run of an experiment, not yet started."""
        super().__init__(f"experiment on “{experiment.title}”", visitor)
        self.experiment, self._first_seeds, self._begin = experiment, first_seeds, begin
        self.results: list[ExperimentRun] = []
        """The run of each set of seeds that has ended."""
        self.run: ExperimentRun | None = None
        """The run of the present part: of the grids, and at last of the experiment."""
        self.part = "learning rates"
        """The name of the present part."""

    @property
    def done(self) -> float:
        """The share of the present part that is done, from 0 to 1."""
        return self.run.done if self.run is not None else 0.0

    def stop(self) -> None:
        super().stop()
        if self.run is not None:
            self.run.stop()

    def _work(self) -> None:
        with suppress(Stopped):
            self._measure()

    def _measure(self) -> None:
        known = self.experiment.rates
        unknown = replace(self.experiment, arms=tuple(arm for arm in self.experiment.arms if arm.name not in known))
        tuned = at_best_rates(self.experiment, measured_grids(unknown, lambda part: self._run(part).trials))
        for first_seed in self._first_seeds:
            self.part = f"seeds {first_seed} to {first_seed + tuned.seeds - 1}"
            self.results.append(self._run(replace(tuned, first_seed=first_seed)))

    def _run(self, experiment: Experiment) -> ExperimentRun:
        """Run an experiment to its end. Raises Explained where it fails, and Stopped where the task was stopped."""
        self.run = self._begin(experiment)
        if self._stop.is_set():
            raise Stopped
        self.run.start().wait()
        if self.run.state == "failed":
            raise Explained(self.run.problem)
        if self._stop.is_set():
            raise Stopped
        return self.run
