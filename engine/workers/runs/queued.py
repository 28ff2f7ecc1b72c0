"""Runs and jobs in the pool, from submission to their last message."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from enum import Enum

from engine.analysis.measurements import with_measurements
from engine.config.run_config import RunConfig
from engine.estimate.device import CPU
from engine.estimate.prediction import Prediction
from engine.estimate.speed import known_speeds
from engine.foundation.visitor import PROGRAM, Visitor
from engine.hosting.allowances import Release
from engine.runs.events import Ended
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.workers import protocol

NOT_STARTED = "It was stopped before it started."
AGAIN_AFTER = 30.0
"""Seconds until a worker is asked again to suspend a run, where the disk did not take its state."""
REPEATS = "It repeats the steps that were not saved, at most about a minute; then the curve goes on."


class Phase(Enum):
    """The phase of a run on its way through the pool."""

    WAITING = "It waits for a worker."
    GIVEN = "A worker has it and has not come to it."
    GOING = "Its worker trains it."
    PAUSED = "It stands still on its worker."
    SUSPENDING = "Its worker was asked to save its state and let it go."
    LEAVING = "The same, to make room for others: it waits again as soon as its owner has a page open."
    RETURNING = "The same, and since then it was asked to go on: it will wait for a worker again."
    STOPPING = "Its owner has stopped it."


def predicted(request: RunRequest, predict: Callable[[RunConfig], Prediction], config: RunConfig) -> Prediction:
    """The prediction of a request with a config, with what is measured at its end, and with the device that was decided on: the speeds
    may have been measured since."""
    prediction = with_measurements(predict(config), config, request.record.measurements)
    if request.accelerator in (None, prediction.device.accelerator):
        return prediction
    kind = CPU if not request.accelerator else next((kind for kind in known_speeds() if kind != CPU), "auto")
    timed = with_measurements(predict(config.replace(device=kind)), config, request.record.measurements)
    return replace(timed, device=replace(timed.device, accelerator=bool(request.accelerator), why=""))


@dataclass(eq=False)
class QueuedRun:
    """A run that waits for a worker or is on one."""

    run: Run
    request: RunRequest
    """As it was submitted, with what its owner has asked for since: a worker that takes the run begins with that."""
    prediction: Prediction
    release: Release = lambda: None
    """The run is over: it counts no more among its owner's."""
    saved_step: int = 0
    """The step of the state in its folder; 0 where none was saved."""
    followers: tuple[Visitor, ...] = ()
    """The visitors who wait for it: its owner; of a trial, everybody whose experiment needs it."""
    early_steps: int = 0
    """The single steps that were asked for and are not taken yet."""
    returned: int = 0
    """How often the run has come back to the queue because its worker ended, and perhaps by it."""
    phase: Phase = Phase.WAITING
    since: float = field(default_factory=time.monotonic)
    """The time at which the phase began."""
    suspend_after: float = 0.0
    """The time before which its worker is not asked to suspend it."""

    def __post_init__(self) -> None:
        self.followers = self.followers or (self.request.visitor,)

    @property
    def seen(self) -> int | None:
        """The last step that is known of a run that goes on; None: nothing is known but its facts, and it begins anew."""
        return self.run.step if self.run.step or self.run.snapshot is not None else None

    @property
    def goes_on(self) -> bool:
        """Whether the run has begun and can be suspended."""
        return self.seen is not None and self.request.is_saved

    @property
    def suspending(self) -> bool:
        """Whether its worker was asked to suspend it."""
        return self.phase in (Phase.SUSPENDING, Phase.LEAVING, Phase.RETURNING)

    @property
    def seconds_left(self) -> float:
        """The predicted seconds of training left, alone on a core; 0 where there is no prediction."""
        return self.prediction.seconds(self.request.config.steps - self.run.step) or 0.0

    @property
    def stopped_early(self) -> Ended:
        """The ending of a run that was stopped while it waited."""
        return Ended(self.run.step, "stopped", NOT_STARTED if self.seen is None else "")

    def become(self, phase: Phase) -> None:
        """Enter a phase; one that is stopped stays so."""
        if self.phase is not Phase.STOPPING:
            self.phase, self.since = phase, time.monotonic()

    def begin(self) -> None:
        """The worker has reported that it is at this run."""
        if self.phase is Phase.GIVEN:
            self.become(Phase.GOING)

    def move(self, state: str) -> None:
        """The worker has reported that the run is "running" or "paused"."""
        if not self.suspending:
            self.become(Phase.PAUSED if state == "paused" else Phase.GOING)

    def take_steps(self, steps: int) -> None:
        """So many new steps were taken; of one that is being suspended, before the single steps that were asked for since."""
        if self.phase is not Phase.RETURNING:
            self.early_steps = max(0, self.early_steps - steps)

    def control(self, control: protocol.Control) -> bool:
        """Note what the run's owner asks, for this worker or the next one; returns whether the request is another one by it. A run that
        moves again is not suspended, and where that was asked for already, it comes back."""
        before = self.request
        match control.action:
            case "pause":
                self.request = replace(self.request, paused=True)
                if self.suspending:
                    self.become(Phase.SUSPENDING)
            case "step":
                self.request, self.early_steps = replace(self.request, paused=True), self.early_steps + 1
            case "resume":
                self.request, self.early_steps = replace(self.request, paused=False), 0
            case "set pace":
                self.request = replace(self.request, pace=control.pace)
        if control.action in ("step", "resume"):
            if self.suspending:
                self.become(Phase.RETURNING)
            elif self.phase is Phase.PAUSED:
                self.become(Phase.GOING)
        return self.request != before

    @property
    def wanted(self) -> list[protocol.Control]:
        """The commands for the run since its worker was asked to suspend it; empty where it stays suspended."""
        if self.phase is not Phase.RETURNING:
            return []
        if not self.request.paused:
            return [protocol.Control(self.run.id, "resume")]
        return [protocol.Control(self.run.id, "step")] * self.early_steps

    def try_later(self) -> None:
        """Its worker could not save its state: the run stays, and the worker is asked again in a while."""
        if self.suspending:
            self.become(Phase.PAUSED if self.run.state == "paused" and not self.wanted else Phase.GOING)
        self.suspend_after = time.monotonic() + AGAIN_AFTER

    def come_back(self, why: str, *, counts: bool) -> None:
        """Its worker has ended: it waits for another one. ``why``: the sentence for a run that repeats some steps there. ``counts``:
        whether the run may have been what ended it."""
        repeats = f"{why} {REPEATS}" if self.seen is not None else ""
        self.run.queue_again(self.run.setback if self.phase is Phase.GIVEN else repeats)
        self.returned += counts
        self.become(Phase.WAITING)


@dataclass(eq=False)
class QueuedJob:
    """A short job and the threads that wait for its answer."""

    ask: protocol.Ask
    visitor: Visitor = PROGRAM
    """Who asked first."""
    alone: bool = False
    callers: int = 1
    """The number of threads that still wait for the answer."""
    begun_at: float | None = None
    """The time at which its process reported that it is at this job."""
    asked_again: bool = False
    """Whether the job has come back to the queue because its process ended before it began the job."""
    answer: Future[bytes] = field(default_factory=Future)
    """The pickled answer, or a JobError. It is given once, by who takes the job off the waiting ones or off its process."""
