"""One issue's trials on their way through the worker pool: seed after seed, all arms of a seed together."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Event as Signal
from threading import RLock, Thread
from typing import Literal

from engine.events import Event
from engine.evidence.report import Report, report, seeds_done
from engine.evidence.statistics import Question, Weighed
from engine.evidence.trial import Trial, read_trial
from engine.issues.issue import Arm, Issue
from engine.problems import ConfigError
from engine.runs import Run
from engine.workers.pool import JobError, NoRoom, Pool, Refused

State = Literal["running", "finished", "stopped", "failed"]
LOOK_EVERY = 0.02
"""Seconds between two looks at the runs under way."""
PATIENCE = 30.0
"""Seconds that a trial which was told to stop may take; the pool ends it by force sooner."""
MOST_SEEDS = 16
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class UnderWay:
    """A trial that trains now."""

    arm: Arm
    seed: int
    run: Run

    @property
    def events(self) -> list[Event]:
        return list(self.run.events)

    @property
    def share(self) -> float:
        """How much of it is done, from 0 to 1."""
        return self.run.step / self.run.config.steps


def seed_range(seeds: int, first_seed: int) -> range:
    """Raises ValueError with one sentence."""
    if not 1 <= seeds <= MOST_SEEDS:
        raise ValueError(f"seeds is {seeds}; allowed is a whole number from 1 to {MOST_SEEDS}.")
    if not 0 <= first_seed <= LARGEST_SEED - MOST_SEEDS:
        raise ValueError(
            f"first_seed is {first_seed}; allowed is a whole number from 0 to {LARGEST_SEED - MOST_SEEDS}."
        )
    return range(first_seed, first_seed + seeds)


class Experiment:
    """Runs in a thread of its own; everything may be read from any thread at any time."""

    def __init__(
        self,
        issue: Issue,
        pool: Pool,
        *,
        seeds: int = 8,
        first_seed: int = 0,
        extended: bool = False,
        session: str = "",
    ) -> None:
        """Raises ConfigError where an arm's settings do not go together, ValueError for a number of seeds."""
        self.seeds = seed_range(seeds, first_seed)
        self.issue, self.session, self.extended = issue, session, extended
        self.arms = issue.arms_of(extended)
        self._steps = {arm.name: issue.config(arm).steps for arm in self.arms}
        self.state: State = "running"
        self.problem = ""
        """One sentence where it failed."""
        self.under_way: tuple[UnderWay, ...] = ()
        self.report: Report = report(issue, (), self.seeds, extended=extended)
        """Of the trials so far."""
        self._pool = pool
        self._trials: list[Trial] = []
        self._lock = RLock()
        self._stop = Signal()
        self._began = time.monotonic()
        self._ended: float | None = None
        self._thread = Thread(target=self._work, name=f"experiment-{issue.slug}", daemon=True)

    def start(self) -> Experiment:
        self._thread.start()
        return self

    def stop(self) -> None:
        """End the trials under way and start no more; what was measured stays."""
        self._stop.set()

    def wait(self, timeout: float | None = None) -> bool:
        self._thread.join(timeout)
        return not self._thread.is_alive()

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Those that have ended, in the order in which they did."""
        with self._lock:
            return tuple(self._trials)

    @property
    def total(self) -> int:
        return len(self.arms) * len(self.seeds)

    @property
    def done(self) -> float:
        """Share of all training steps taken, from 0 to 1."""
        taken = sum(self._steps[trial.arm] for trial in self.trials) + sum(u.run.step for u in self.under_way)
        return min(1.0, taken / (sum(self._steps.values()) * len(self.seeds)))

    @property
    def seconds(self) -> float:
        return (self._ended or time.monotonic()) - self._began

    @property
    def seconds_left(self) -> float | None:
        """As the pace so far has it; None before anything is known."""
        done = self.done
        return self.seconds * (1 - done) / done if done > 0.02 else None

    def _work(self) -> None:
        try:
            self._run_trials()
            self._weigh()
            self.state = "stopped" if self._stop.is_set() else "finished"
        except (Refused, ConfigError, JobError) as error:
            self.problem, self.state = str(error), "failed"
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            self.problem, self.state = f"The experiment ended by an error ({type(error).__name__}).", "failed"
        finally:
            self._stop_trials()
            self._ended = time.monotonic()

    def _stop_trials(self) -> None:
        stopped, self.under_way = self.under_way, ()
        for trial in stopped:
            self._pool.stop(trial.run.id)
        for trial in stopped:
            trial.run.wait_for(sys.maxsize, PATIENCE)
            self._pool.runs.delete(trial.run.id)

    def _run_trials(self) -> None:
        waiting = iter([(arm, seed) for seed in self.seeds for arm in self.arms])
        more = True
        while (more or self.under_way) and not self._stop.is_set():
            if more and len(self.under_way) < self._pool.size:
                more = self._start_next(waiting)
            elif not self._collect():
                time.sleep(LOOK_EVERY)

    def _start_next(self, waiting: Iterator[tuple[Arm, int]]) -> bool:
        following = next(waiting, None)
        if following is None:
            return False
        arm, seed = following
        while not self._stop.is_set():
            try:
                run = self._pool.submit(
                    self.issue.config(arm, seed), self.session, alone=arm.alone, watch=self.issue.watch(arm)
                )
            except NoRoom:
                self._collect()
                time.sleep(10 * LOOK_EVERY)
                continue
            self.under_way = (*self.under_way, UnderWay(arm, seed, run))
            break
        return True

    def _collect(self) -> bool:
        """Take in the trials that have ended; whether there were any."""
        ended = [trial for trial in self.under_way if not trial.run.live]
        for trial in ended:
            with self._lock:
                self._trials.append(read_trial(trial.arm.name, trial.seed, trial.run.events, self.issue.curves))
            self._pool.runs.delete(trial.run.id)
        self.under_way = tuple(trial for trial in self.under_way if trial not in ended)
        if ended and seeds_done(self.arms, self.trials, self.seeds) > self.report.seeds_done:
            self._weigh()
        return bool(ended)

    def _ask_worker(self, questions: Sequence[Question]) -> list[Weighed]:
        weighed: list[Weighed] = self._pool.ask("engine.evidence.statistics:weigh_all", list(questions))
        return weighed

    def _weigh(self) -> None:
        self.report = report(
            self.issue, self.trials, self.seeds, extended=self.extended, seconds=self.seconds, weigh=self._ask_worker
        )
