"""Runs and jobs in the pool, from submission to their last message."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Event as Signal

from engine.estimate.prediction import CPU_IS_FASTER_BELOW, Prediction
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.workers import protocol
from engine.workers.allowances import Lease


@dataclass
class QueuedRun:
    """A run that waits for a worker or is on one."""

    run: Run
    request: RunRequest
    prediction: Prediction
    lease: Lease | None = None
    """What counts the run among its owner's; none for a trial."""
    early_steps: int = 0
    """The single steps asked for before the run had a worker."""
    paused_at: float | None = None
    stop_asked_at: float | None = None

    @property
    def wants_accelerator(self) -> bool:
        """Whether the run would use an accelerator if there is one."""
        device = self.request.config.device
        return self.prediction.flops_per_step >= CPU_IS_FASTER_BELOW if device == "auto" else device != "cpu"

    @property
    def seconds_left(self) -> float:
        """The predicted seconds of training left, alone on a core; 0 where there is no prediction."""
        return self.prediction.seconds(self.request.config.steps - self.run.step) or 0.0

    def release(self) -> None:
        """The run is over: it counts no more among its owner's."""
        if self.lease is not None:
            self.lease.release()

    def control_early(self, control: protocol.Control) -> None:
        """Remember a control that the owner sends while the run waits for a worker."""
        match control:
            case protocol.Pause():
                self.request = replace(self.request, paused=True)
            case protocol.Step():
                self.request, self.early_steps = replace(self.request, paused=True), self.early_steps + 1
            case protocol.Resume():
                self.request, self.early_steps = replace(self.request, paused=False), 0
            case protocol.SetPace(_, steps_per_second):
                self.request = replace(self.request, pace=steps_per_second)


@dataclass
class QueuedJob:
    """A short job and the thread that waits for its answer."""

    ask: protocol.Ask
    alone: bool = False
    done: Signal = field(default_factory=Signal)
    value: bytes = b""
    """The pickled answer, once it is done."""
    error: str = ""
    """One sentence where the job failed, else empty."""

    def finish(self, answer: protocol.Answer) -> None:
        self.value, self.error = answer.value, answer.error
        self.done.set()

    def fail(self, sentence: str) -> None:
        self.error = sentence
        self.done.set()
