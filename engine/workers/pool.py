"""The pool of workers: where every run is submitted and steered, and every short job asked."""

from __future__ import annotations

import atexit
import secrets
import time
from collections.abc import Callable
from typing import Any

from engine.config.run_config import RunConfig
from engine.estimate.prediction import CPU_IS_FASTER_BELOW, Prediction, predict
from engine.foundation.errors import Explained
from engine.foundation.formatting import in_time
from engine.runs.record_options import EVERYTHING, Watch
from engine.runs.store import Run, Runs
from engine.workers import protocol
from engine.workers.health import Health
from engine.workers.limits import Limits, refusal
from engine.workers.process import Job, Ticket
from engine.workers.supervisor import Crew


class Refused(Explained, ValueError):
    """The run was not started; one sentence says which setting to lower to what."""


class NoRoom(Refused):
    """There is no room now; later there may be."""


class JobError(Explained, RuntimeError):
    """A job came to nothing; one sentence says why."""


class Pool:
    """Warm, supervised worker processes and the runs on their way through them. Safe to call from any thread.

    ``training`` names the module whose ``prepare`` and ``train`` the workers use.
    """

    def __init__(
        self,
        runs: Runs,
        limits: Limits | None = None,
        size: int | None = None,
        *,
        training: str = "engine.training.train",
        predict: Callable[[RunConfig], Prediction] = predict,
    ) -> None:
        self.runs = runs
        self.limits = limits or Limits()
        self._predict = predict
        self._crew = Crew(runs, self.limits, size or self.limits.workers, training)

    @property
    def size(self) -> int:
        """Worker processes there are when all are up."""
        return self._crew.size

    def start(self) -> bool:
        """Start the workers, one after another so that the first is ready soon; returns at once. False if it was done."""
        if not self._crew.start():
            return False
        atexit.register(self.close)
        return True

    def close(self) -> None:
        """End every worker and wait for it. Runs that were going are lost, and say so."""
        self._crew.close()
        atexit.unregister(self.close)

    def __enter__(self) -> Pool:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Runs

    def submit(
        self,
        config: RunConfig,
        session: str = "",
        *,
        pace: float | None = None,
        paused: bool = False,
        alone: bool = False,
        watch: Watch = EVERYTHING,
    ) -> Run:
        """A new run, which starts as soon as a worker has room. Raises Refused.

        ``pace``: steps a second; None is full speed. ``paused``: it waits at step 0, its first weights shown.
        ``alone``: for measuring time; while it goes, the other runs of its worker are held and no further ones join.
        ``watch``: what is looked at along it.
        """
        sentence = refusal(config, self.limits, self._predict)
        if sentence:
            raise Refused(sentence)
        accelerator = wants_accelerator(config, self._predict(config))
        with self._crew.lock:
            self._check_room(session)
            try:
                run = self.runs.create(config, session)
            except OSError as error:
                raise Refused(f"The run cannot be saved: {error.strerror or error}.") from error
            run.pace = pace
            self._crew.add_run(Ticket(run, alone, accelerator, paused, watch))
        return run

    def pause(self, run_id: str) -> None:
        """Pause after the step in progress, with a snapshot."""
        self._crew.tell(protocol.Pause(run_id))

    def step(self, run_id: str) -> None:
        """Exactly one optimizer step, then a snapshot; a run that was going is paused by it."""
        self._crew.tell(protocol.Step(run_id))

    def resume(self, run_id: str) -> None:
        self._crew.tell(protocol.Resume(run_id))

    def set_pace(self, run_id: str, steps_per_second: float | None) -> None:
        """``None`` is full speed."""
        run = self.runs.get(run_id)
        if run is not None:
            run.pace = steps_per_second
        self._crew.tell(protocol.SetPace(run_id, steps_per_second))

    def stop(self, run_id: str) -> None:
        """End a run after the step in progress; its weights are kept. One that does not yield is ended by force."""
        self._crew.stop_run(run_id)

    def ask(self, function: str, *args: Any, alone: bool = False, timeout: float = 30.0, **kwargs: Any) -> Any:
        """The value of ``module:function`` called in a worker, which answers between two slices of training.

        Blocks. The value comes back pickled: numpy and plain Python, no tensors. While a job computes, nothing else
        runs on its worker. ``alone``: for measuring time; it goes to a worker without runs if there is one. Raises
        JobError with one sentence where the function raised, its worker died or it took longer than ``timeout``
        (s); a worker that is still at it then is ended.
        """
        job = Job(protocol.Ask(secrets.token_hex(8), function, args, kwargs), alone)
        self._crew.add_job(job)
        if not job.done.wait(timeout):
            self._crew.give_up_job(job, timeout)
            raise JobError(f"{function} took longer than {in_time(timeout)}.")
        if job.error:
            raise JobError(job.error)
        try:
            return protocol.read_value(job.value)
        except TypeError as error:
            raise JobError(f"{function}: {error}") from error

    def health(self) -> Health:
        """Workers, runs and the device found, as facts for a page."""
        return self._crew.health()

    def wait_until_ready(self, timeout: float, workers: int | None = None) -> bool:
        """Wait until so many workers (by default all) are warm; False when the time (s) was too short."""
        deadline = time.monotonic() + timeout
        while self.health().ready < (workers or self._crew.size):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def _check_room(self, session: str) -> None:
        if self._crew.closing.is_set():
            raise Refused("The app is closing.")
        if self._crew.queued >= self.limits.queue_length:
            raise NoRoom(f"{self._crew.queued} runs are waiting already; try again when some have ended.")
        going = sum(run.session == session for run in self.runs.live()) if session else 0
        if going >= self.limits.runs_per_session:
            raise NoRoom(
                f"{going} of your runs are going or waiting; this host allows {self.limits.runs_per_session} at once."
                " Stop one, or wait until one has ended."
            )


def wants_accelerator(config: RunConfig, prediction: Prediction) -> bool:
    """Whether the run would use an accelerator if there is one."""
    if config.device == "auto":
        return prediction.flops_per_step >= CPU_IS_FASTER_BELOW
    return config.device != "cpu"
