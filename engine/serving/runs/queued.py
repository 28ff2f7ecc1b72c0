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
SAVE_RETRY_SECONDS = 30.0  # until a worker is asked again for a checkpoint that the disk did not take
REPEATS = "It repeats the steps that were not saved, at most about a minute; then the curve continues."


def predicted(request: RunRequest, predict: Callable[[RunConfig], Prediction], config: RunConfig) -> Prediction:
    prediction = with_measurements(predict(config), config, request.record.measurements)
    if request.accelerator in (None, prediction.device.accelerator):
        return prediction
    # the speeds may have been measured since the choice
    kind = CPU if not request.accelerator else next((kind for kind in known_speeds() if kind != CPU), "auto")
    timed = with_measurements(predict(config.replace(device=kind)), config, request.record.measurements)
    return replace(timed, device=replace(timed.device, accelerator=bool(request.accelerator), why=""))


@dataclass(eq=False)
class QueuedRun:
    """A run in the queue or on a worker, where it is running or paused (``run.state``). On neither it is a checkpoint in its folder."""

    run: Run
    # as submitted, with its owner's later controls: a worker that takes the run begins with that
    request: RunRequest
    prediction: Prediction
    release: Release = lambda: None  # then it counts no more among its owner's runs
    followers: tuple[Visitor, ...] = ()
    """The visitors who wait for it: its owner; of a trial, everybody whose experiment needs it."""
    early_steps: int = 0  # requested single steps that are not taken yet
    returns: int = 0  # returns to the queue because its worker ended, perhaps by this run
    leaving: bool = False  # its worker was asked for a checkpoint, with which the run leaves it
    stopped_at: float | None = None
    active_at: float = field(default_factory=time.monotonic)  # the time of its last report or control
    stays_until: float = 0.0  # before this time its worker is not asked for a checkpoint

    def __post_init__(self) -> None:
        self.followers = self.followers or (self.request.visitor,)

    @property
    def known_step(self) -> int | None:
        """None for a new run."""
        return self.run.step if self.run.step or self.run.snapshot is not None else None

    @property
    def wants_to_go(self) -> bool:
        return not self.request.paused or self.early_steps > 0

    @property
    def seconds_left(self) -> float:
        """The predicted seconds of training left, alone on a core; 0 if there is no prediction."""
        return self.prediction.seconds(self.request.config.steps - self.run.step) or 0.0

    @property
    def stopped_early(self) -> Ended:
        return Ended(self.run.step, "stopped", NOT_STARTED if self.known_step is None else "")

    def stop(self) -> None:
        self.stopped_at = self.stopped_at or time.monotonic()

    def control(self, control: protocol.Control) -> bool:
        """Apply a control of the run's owner, for this worker or the next one. True if the request changed."""
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
        """Apply a worker's report. ``steps``: the number of new ones; ``state``: None if it has not changed."""
        self.active_at = time.monotonic()
        if not self.leaving:  # else these steps were taken before the single ones that are asked for meanwhile
            self.early_steps = max(0, self.early_steps - steps)
        if state in ("saved", "checkpointed"):
            self.returns = 0
        elif state == "unsaved":
            self.leaving, self.stays_until = False, self.active_at + SAVE_RETRY_SECONDS

    def requeue(self, why: str, *, counts: bool) -> None:
        """Queue the run again after its worker has ended. ``why``: the sentence for a run that repeats some steps there.
        ``counts``: true if the run may have ended the worker."""
        repeats = f"{why} {REPEATS}" if self.known_step is not None else ""
        self.run.queue_again(self.run.setback if self.run.state == "queued" else repeats)
        self.returns += counts
        self.leaving = False


@dataclass(eq=False)
class QueuedJob:
    ask: protocol.Ask
    visitor: Visitor = PROGRAM
    alone: bool = False
    callers: int = 1  # threads that still wait for the answer
    begun_at: float | None = None  # the time at which its process reported that it computes this job
    requested_again: bool = False  # queued again because its process ended before it began the job
    answer: Future[bytes] = field(default_factory=Future)
    """The pickled answer, or a JobError. The thread that removes the job from the queue or from its process sets it, once."""
