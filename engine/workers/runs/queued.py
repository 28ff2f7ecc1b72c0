"""Runs and jobs in the pool, from submission to their last message."""

import time
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

from engine.estimate.prediction import CPU_IS_FASTER_BELOW, Prediction
from engine.foundation.visitor import PROGRAM, Visitor
from engine.hosting.allowances import Release
from engine.runs.events import Ended
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.workers import protocol

NOT_STARTED = "It was stopped before it started."
AGAIN_AFTER = 30.0
"""Seconds until a worker is asked again to suspend a run, where the disk did not take its state."""
MOST_RETURNS = 3
"""How often a run comes back to the queue because its worker ended, without having been saved meanwhile."""
REPEATS = "It repeats the steps since it was last saved, at most about a minute; then the curve goes on."


@dataclass(eq=False)
class QueuedRun:
    """A run that waits for a worker or is on one."""

    run: Run
    request: RunRequest
    prediction: Prediction
    release: Release = lambda: None
    """The run is over: it counts no more among its owner's."""
    followers: tuple[Visitor, ...] = ()
    """For whom it is trained: its owner; of a trial, everybody whose experiment waits for it."""
    saved_step: int | None = None
    """The last step of a run that continues with the state in its folder; None: it begins anew."""
    saved: bool = field(init=False)
    """Whether its state is in its folder: it can go on without its worker."""
    early_steps: int = 0
    """The single steps asked for before the run had a worker."""
    begun: bool = False
    """Whether the worker has reported that it is at this run."""
    returned: int = 0
    """How often the run has come back to the queue because its worker ended."""
    paused_at: float | None = None
    stop_asked_at: float | None = None
    suspending: bool = False
    """Whether its worker was asked to suspend it."""
    left: bool = False
    """Whether that is because its owner has no page open; it goes on when there is one again."""
    asked_since: list[protocol.Control] = field(default_factory=list)
    """The steps or the resumption asked for since: with these it goes back into the queue as soon as it is suspended."""
    suspend_after: float = 0.0
    """The time before which its worker is not asked."""

    def __post_init__(self) -> None:
        self.saved = self.saved_step is not None
        self.followers = self.followers or (self.request.visitor,)

    @property
    def wants_accelerator(self) -> bool:
        """Whether the run would use an accelerator if there is one."""
        device = self.request.config.device
        return self.prediction.flops_per_step >= CPU_IS_FASTER_BELOW if device == "auto" else device != "cpu"

    @property
    def settled(self) -> bool:
        """Whether the run has begun on its worker and, where it continues with a saved state, has taken a new step since. Until then
        another worker gives the same run."""
        return self.begun and (self.saved_step is None or self.run.step > self.saved_step)

    @property
    def may_return(self) -> bool:
        """Whether the run may wait for another worker when its own has ended: it was not settled there or was saved, nobody has
        stopped it, and it is not likely that it is what ends workers."""
        unharmed = self.saved or not self.settled
        return unharmed and self.stop_asked_at is None and self.returned < MOST_RETURNS

    @property
    def resumable(self) -> bool:
        """Whether the run, without a worker, can be suspended."""
        return self.saved and self.stop_asked_at is None

    def come_back(self, why: str, *, counts: bool) -> None:
        """Its worker has ended: it waits for another one. ``why``: the sentence for a run that repeats some steps there. ``counts``:
        whether the run may have been what ended it."""
        self.run.wait_again(f"{why} {REPEATS}" if self.settled else "")
        self.returned += counts
        self.begun, self.paused_at, self.suspending, self.asked_since = False, None, False, []
        self.saved_step = self.run.step if self.saved else None

    @property
    def seconds_left(self) -> float:
        """The predicted seconds of training left, alone on a core; 0 where there is no prediction."""
        return self.prediction.seconds(self.request.config.steps - self.run.step) or 0.0

    @property
    def stopped_early(self) -> Ended:
        """The ending of a run that was stopped while it waited."""
        return Ended(self.run.step, "stopped", NOT_STARTED if self.saved_step is None else "")

    def control_on_worker(self, control: protocol.Control) -> None:
        """Note a control that is sent to the run's worker: a run that moves again is not suspended, and where that was asked
        for already, it comes back."""
        if control.action in ("step", "resume"):
            self.paused_at = None
            if self.suspending:
                self.asked_since.append(control)
        elif control.action == "pause":
            self.asked_since.clear()
        self.control_early(control)  # it holds as well where another worker takes the run

    def begin(self) -> None:
        """The worker has reported that it is at this run; once it is settled, the steps sent with it need not be sent again."""
        self.begun = True
        if self.settled:
            self.early_steps = 0

    def try_later(self) -> None:
        """Its worker could not save its state: the run stays, and the worker is asked again in a while."""
        self.suspending, self.asked_since = False, []
        self.suspend_after = time.monotonic() + AGAIN_AFTER

    def control_early(self, control: protocol.Control) -> None:
        """Remember a control that the owner sends while the run waits for a worker."""
        match control.action:
            case "pause":
                self.request = replace(self.request, paused=True)
            case "step":
                self.request, self.early_steps = replace(self.request, paused=True), self.early_steps + 1
            case "resume":
                self.request, self.early_steps = replace(self.request, paused=False), 0
            case "set pace":
                self.request = replace(self.request, pace=control.pace)


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
