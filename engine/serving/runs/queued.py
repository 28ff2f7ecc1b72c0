"""Runs and jobs in the pool, from submission to their last message."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

from engine.analysis.measurements import with_measurements
from engine.config.run_config import RunConfig
from engine.estimate.device import CPU
from engine.estimate.prediction import Prediction
from engine.estimate.speed import known_speeds
from engine.foundation.visitor import PROGRAM, Visitor
from engine.runs.events import Ended
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.serving import protocol
from engine.serving.allowances import Release

NOT_STARTED = "It was stopped before it started."
SAVE_RETRY_SECONDS = 30.0
"""Seconds until a worker is asked again for a checkpoint that the disk did not take."""
REPEATS = "It repeats the steps that were not saved, at most about a minute; then the curve continues."


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
    """A run in the queue or on a worker, where it is running or paused (``run.state``). On neither it is a checkpoint in its folder."""

    run: Run
    request: RunRequest
    """As it was submitted, with what its owner has asked for since: a worker that takes the run begins with that."""
    prediction: Prediction
    release: Release = lambda: None
    """It counts no more among its owner's."""
    followers: tuple[Visitor, ...] = ()
    """The visitors who wait for it: its owner; of a trial, everybody whose experiment needs it."""
    early_steps: int = 0
    """The single steps that were asked for and are not taken yet."""
    returned: int = 0
    """How often the run has come back to the queue because its worker ended, and perhaps by it."""
    leaving: bool = False
    """Whether its worker was asked for a checkpoint, with which the run leaves it."""
    stopped_at: float | None = None
    active_at: float = field(default_factory=time.monotonic)
    """The time at which it was last heard of it, or something asked of it."""
    stays_until: float = 0.0
    """The time before which its worker is not asked for a checkpoint."""

    def __post_init__(self) -> None:
        self.followers = self.followers or (self.request.visitor,)

    @property
    def known_step(self) -> int | None:
        """The last step that is known of a run that goes on; None: nothing is known but its facts, and it begins anew."""
        return self.run.step if self.run.step or self.run.snapshot is not None else None

    @property
    def wants_to_go(self) -> bool:
        """Whether it is to take further steps: all, or single ones that were asked for."""
        return not self.request.paused or self.early_steps > 0

    @property
    def seconds_left(self) -> float:
        """The predicted seconds of training left, alone on a core; 0 where there is no prediction."""
        return self.prediction.seconds(self.request.config.steps - self.run.step) or 0.0

    @property
    def stopped_early(self) -> Ended:
        """The ending of a run that was stopped while it waited."""
        return Ended(self.run.step, "stopped", NOT_STARTED if self.known_step is None else "")

    def stop(self) -> None:
        self.stopped_at = self.stopped_at or time.monotonic()

    def control(self, control: protocol.Control) -> bool:
        """Note what the run's owner asks, for this worker or the next one; returns whether the request is another one by it."""
        before, self.active_at = self.request, time.monotonic()
        match control.action:
            case "pause":
                self.request = replace(self.request, paused=True)
            case "step":
                self.request, self.early_steps = replace(self.request, paused=True), self.early_steps + 1
            case "resume":
                self.request, self.early_steps = replace(self.request, paused=False), 0
            case "set pace":
                self.request = replace(self.request, pace=control.pace)
        return self.request != before

    def hear(self, steps: int, state: str | None) -> None:
        """Note what its worker reports: so many new steps, and the state where that has changed."""
        self.active_at = time.monotonic()
        if not self.leaving:  # else these steps were taken before the single ones that are asked for meanwhile
            self.early_steps = max(0, self.early_steps - steps)
        if state in ("saved", "checkpointed"):
            self.returned = 0
        elif state == "unsaved":
            self.leaving, self.stays_until = False, self.active_at + SAVE_RETRY_SECONDS

    def come_back(self, why: str, *, counts: bool) -> None:
        """Its worker has ended: it waits for another one. ``why``: the sentence for a run that repeats some steps there. ``counts``:
        whether the run may have been what ended it."""
        repeats = f"{why} {REPEATS}" if self.known_step is not None else ""
        self.run.queue_again(self.run.setback if self.run.state == "queued" else repeats)
        self.returned += counts
        self.leaving = False


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
    requested_again: bool = False
    """Whether the job has come back to the queue because its process ended before it began the job."""
    answer: Future[bytes] = field(default_factory=Future)
    """The pickled answer, or a JobError. It is given once, by who takes the job off the waiting ones or off its process."""
