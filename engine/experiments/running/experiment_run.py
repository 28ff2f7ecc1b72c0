"""Running an experiment's trials on the worker pool: seed after seed, all arms of a seed together."""

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from threading import Event as Signal
from threading import RLock

from engine.experiments.experiment import Arm, Experiment
from engine.experiments.report import Report, report
from engine.experiments.running.shared_trials import RETRIED_STATES, SharedRun, SharedTrials
from engine.experiments.trial import Trial, read_trial
from engine.foundation.background import BackgroundTask
from engine.foundation.errors import NoRoom, Refused
from engine.foundation.provenance import provenance
from engine.foundation.visitor import PROGRAM, Visitor
from engine.runs.events import Event
from engine.runs.run import Run
from engine.serving.pool import Pool

# A waiting trial is tried again after so many seconds: there may be room for it now, or one more machine
RETRY_SECONDS = 0.5


@dataclass(frozen=True)
class RunningTrial:
    arm: Arm
    seed: int
    shared: SharedRun
    began: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    @property
    def run(self) -> Run:
        return self.shared.run

    @property
    def events(self) -> list[Event]:
        return list(self.run.events)

    @property
    def share(self) -> float:
        """The share of the trial that is done, from 0 to 1."""
        return self.run.step / self.run.config.steps


class ExperimentRun(BackgroundTask):
    def __init__(
        self,
        experiment: Experiment,
        pool: Pool,
        *,
        extended: bool = False,
        visitor: Visitor = PROGRAM,
        find: Callable[[Arm, int], Trial | None] = lambda arm, seed: None,
        save: Callable[[Trial], object] = lambda trial: None,
        shared: SharedTrials | None = None,
    ) -> None:
        """``find`` gives the stored trial of an arm at a seed; if it had finished, it is not trained again: the same settings and
        seed give the same numbers. ``save`` is called with each trial that ends. ``shared``: the trials under way that this
        experiment may follow, instead of training the same once more.

        Raises ConfigError if an arm's settings do not go together.
        """
        super().__init__(f"experiment on “{experiment.title}”", visitor)
        self.experiment, self.extended = experiment, extended
        self.seeds = experiment.seed_range
        self.arms = experiment.arms_of(extended)
        self._steps = {arm.name: experiment.config(arm).steps for arm in self.arms}
        self.running_trials: tuple[RunningTrial, ...] = ()
        self._find, self._save, self._shared = find, save, shared or SharedTrials()
        # stored trials, which are not trained again
        self.reused = tuple(filter(None, (self._stored_trial(arm, seed) for seed in self.seeds for arm in self.arms)))
        self._pool = pool
        self._trials = list(self.reused)
        self._weighed = self.state, report(experiment, (), self.seeds, extended=extended)
        self._took: tuple[tuple[str, float], ...] = ()  # arm and seconds of each trial that was trained here
        self._lost_once: set[tuple[str, int]] = set()
        self._called = Signal()  # set if there is something to do: a trial has ended, or the experiment is to stop
        self._lock = RLock()

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The finished trials, in the order of their ends."""
        with self._lock:
            return tuple(self._trials)

    @property
    def report(self) -> Report:
        """The report on the trials so far. The claims are weighed on demand, once for all readers."""
        when, trials = self.state, self.trials
        weighed_when, latest = self._weighed
        if when != weighed_when or len(trials) != len(latest.trials):
            facts = {"seconds": self.seconds, "reused": len(self.reused), "provenance": provenance()}
            latest = report(self.experiment, trials, self.seeds, extended=self.extended, **facts)
            self._weighed = when, latest
        return latest

    @property
    def total(self) -> int:
        return len(self.arms) * len(self.seeds)

    @property
    def share_done(self) -> float:
        """The share of all training steps that are done, from 0 to 1."""
        steps = [self._steps[trial.arm] for trial in self.trials] + [trial.run.step for trial in self.running_trials]
        return min(1.0, sum(steps) / (sum(self._steps.values()) * len(self.seeds)))

    @property
    def seconds_left(self) -> float | None:
        """The seconds left by the times of trials here; an arm without one is judged by its steps. None before the
        first trial has ended."""
        took, running, n_ended = self._took, self.running_trials, Counter(trial.arm for trial in self.trials)
        if not took:
            return None
        pace = sum(seconds for _, seconds in took) / sum(self._steps[arm] for arm, _ in took)
        each = {
            name: fmean([seconds for arm, seconds in took if arm == name] or [pace * steps])
            for name, steps in self._steps.items()
        }
        remaining = {name: len(self.seeds) - n_ended[name] for name in each}
        spent = sum(min(trial.seconds, each[trial.arm.name]) for trial in running)
        work = sum(number * each[name] for name, number in remaining.items()) - spent
        return max(0.0, work) / max(1, min(self._pool.machines.slots, sum(remaining.values())))

    def stop(self) -> None:
        super().stop()
        self._called.set()

    def _work(self) -> None:
        try:
            self.experiment.refuse_unknown(self.extended)
        except ValueError as error:
            raise Refused(str(error)) from None
        try:
            self._run_trials()
        finally:
            stopped, self.running_trials = self.running_trials, ()
            self._shared.leave(self._pool, [trial.shared for trial in stopped], self.visitor)

    def _stored_trial(self, arm: Arm, seed: int) -> Trial | None:
        trial = self._find(arm, seed)
        return trial if trial is not None and not trial.failure else None

    def _run_trials(self) -> None:
        reused = {(trial.arm, trial.seed) for trial in self.reused}
        waiting = deque((arm, seed) for seed in self.seeds for arm in self.arms if (arm.name, seed) not in reused)
        while (waiting or self.running_trials) and not self._stop.is_set():
            if waiting and len(self.running_trials) < self._pool.machines.slots:
                self._start(*waiting.popleft(), waiting)
            elif not self._collect(waiting):
                self._wait(RETRY_SECONDS if waiting else None)

    def _wait(self, timeout: float | None = None) -> None:
        """Wait until a trial has ended or the experiment is to stop, at most ``timeout`` seconds."""
        with ExitStack() as watching:
            for trial in self.running_trials:
                watching.enter_context(trial.run.watched(partial(self._call_at_the_end_of, trial.run)))
            if all(trial.run.live for trial in self.running_trials):
                self._called.wait(timeout)
        self._called.clear()

    def _call_at_the_end_of(self, run: Run) -> None:
        if not run.live:
            self._called.set()

    def _start(self, arm: Arm, seed: int, waiting: deque[tuple[Arm, int]]) -> None:
        find = partial(self._stored_trial, arm, seed)
        while not self._stop.is_set():
            try:
                result = self._shared.follow(self._pool, self.experiment, arm, seed, self.visitor, find)
            except NoRoom:
                self._collect(waiting)
                self._wait(RETRY_SECONDS)
                continue
            if isinstance(result, Trial):
                self.reused = (*self.reused, result)
                self._take_in([result])
            else:
                self.running_trials = (*self.running_trials, RunningTrial(arm, seed, result))
            return

    def _collect(self, waiting: deque[tuple[Arm, int]]) -> bool:
        """Take in the trials that have ended; False if there were none."""
        ended_trials, read = [trial for trial in self.running_trials if not trial.run.live], []
        for trial in ended_trials:
            key = (trial.arm.name, trial.seed)
            # lost with its worker, or stopped: it waits again, once, since the same settings and seed give the same trial
            if trial.run.state in RETRIED_STATES and key not in self._lost_once:
                self._lost_once.add(key)
                waiting.appendleft((trial.arm, trial.seed))
            else:
                read.append(trial.shared.trial(*key, partial(self._read, trial)))
        if not ended_trials:
            return False
        self._took = (*self._took, *((trial.arm.name, trial.seconds) for trial in ended_trials))
        self._take_in(read)
        self.running_trials = tuple(trial for trial in self.running_trials if trial not in ended_trials)
        self._shared.leave(self._pool, [trial.shared for trial in ended_trials], self.visitor)
        return True

    def _read(self, trial: RunningTrial) -> Trial:
        read = read_trial(trial.arm.name, trial.seed, trial.run.events, self.experiment.curves)
        self._save(read)
        return read

    def _take_in(self, trials: Sequence[Trial]) -> None:
        with self._lock:
            self._trials += trials
