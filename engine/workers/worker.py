"""``python -m engine.workers.worker``: one worker process, which trains runs or answers short jobs.

Commands arrive on stdin and reports leave on stdout (see :mod:`engine.workers.protocol`). Between two slices of training
the worker takes commands, so that a click never waits for a run. It ends when its parent does.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import signal
import sys
from collections import deque
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, BinaryIO, Literal, cast, get_args

from engine.foundation.files import data_folder, replacing
from engine.foundation.log import LOG, log_error, log_failure, log_to_stderr
from engine.foundation.priority import JOBS, OWN_PROCESS, TRAINING, give_way
from engine.runs.folder import RunFolder
from engine.workers import protocol
from engine.workers.hosting.host import limit_memory
from engine.workers.training.live_run import LiveRun, Training, in_words
from engine.workers.training.scheduler import FairShare


class Worker:
    """The worker's loop: take commands, answer waiting jobs, then train one slice of the run whose turn it is."""

    def __init__(
        self, training: Training, commands: SimpleQueue[protocol.Command], report: Callable[[protocol.Report], None]
    ) -> None:
        self._training, self._commands, self._report = training, commands, report
        self._runs = FairShare()
        self._jobs: deque[protocol.Ask] = deque()
        self._busy_with: str | None = None

    def work(self) -> None:
        while True:
            self._take_commands()
            for _ in range(len(self._jobs)):  # jobs that arrive meanwhile wait for one slice
                self._answer(self._jobs.popleft())
            run = self._runs.next()
            self._set_busy(run.run_id if run else None)
            if run is not None:
                run.advance(self._runs.slice(), hurry=lambda: not self._commands.empty())
                if run.save_due:
                    self._save(run)
            for other in list(self._runs):
                self._deliver(other)

    def _take_commands(self) -> None:
        """Take every command that has arrived; wait for one if there is nothing else to do."""
        timeout = 0.0 if self._jobs else self._runs.seconds_to_next()
        try:
            if timeout != 0.0:
                self._set_busy(None)
                self._take(self._commands.get(timeout=timeout))
            while True:
                self._take(self._commands.get_nowait())
        except Empty:
            return

    def _set_busy(self, task_id: str | None) -> None:
        if task_id != self._busy_with:
            self._busy_with = task_id
            self._report(protocol.Busy(task_id))

    def _take(self, command: protocol.Command) -> None:
        match command:
            case protocol.Ask():
                self._jobs.append(command)
            case protocol.Ping():
                self._report(protocol.Pong())
            case protocol.Start(run_id, request, prediction, folder):
                path = data_folder() / folder  # an absolute one stays as it is, and is there
                if not Path(folder).is_absolute():
                    path.mkdir(parents=True, exist_ok=True)
                RunFolder(path).delete_half_written()  # by a worker before
                run = LiveRun(run_id, request, prediction, self._training, RunFolder(path), command.saved_step)
                self._runs.add(run)
                if not request.paused:
                    self._report(protocol.RunUpdate(run_id, state="running"))
            case _:
                if (found := self._runs.find(command.run_id)) is not None:
                    self._control(found, command)

    def _control(self, run: LiveRun, command: protocol.Control) -> None:
        self._set_busy(run.run_id)
        match command:
            case protocol.PutAway():
                self._put_away(run)
                return
            case protocol.Pause():
                run.pause()
            case protocol.Step():
                run.allow_step()
            case protocol.Resume():
                run.resume()
                self._report(protocol.RunUpdate(run.run_id, state="running"))
            case protocol.SetPace(_, steps_per_second):
                run.set_pace(steps_per_second)
            case protocol.Stop():
                run.stop()
        self._deliver(run)

    def _deliver(self, run: LiveRun) -> None:
        """Send a run's events if they are due, and finish the run when it is over."""
        if run.over:
            self._finish(run)
            return
        if run.deliverable:
            self._report(protocol.RunUpdate(run.run_id, run.deliver()))
        if run.waiting and not run.announced_pause:
            self._save_weights(run)
            self._report(protocol.RunUpdate(run.run_id, state="paused"))
        run.announced_pause = run.waiting

    def _finish(self, run: LiveRun) -> None:
        if not run.failed:
            self._save_weights(run)
        self._let_go(run, "over")

    def _put_away(self, run: LiveRun) -> None:
        try:
            run.put_away()
        except Exception as error:
            if not isinstance(error, BlockingIOError):  # it is only not the moment
                log_error(f"Run {run.run_id} cannot be put away", error)
            self._report(protocol.RunUpdate(run.run_id, state="kept"))
            return
        self._save_weights(run)
        self._let_go(run, "put away")

    def _let_go(self, run: LiveRun, state: Literal["over", "put away"]) -> None:
        """Send a run's last events; code that reads them finds its files, which are saved before."""
        self._runs.remove(run)
        self._report(protocol.RunUpdate(run.run_id, run.deliver(), state))
        self._busy_with = None  # as the pool concludes; the run may come back at once
        run.let_go()
        free_memory()

    def _save(self, run: LiveRun) -> None:
        """Save the state of a run that goes on. Its events are sent first: the state is never of a later step than what was sent."""
        self._report(protocol.RunUpdate(run.run_id, run.deliver()))
        try:
            run.save()
        except Exception as error:  # tried again as late as if it had been saved
            log_error(f"The state of run {run.run_id} cannot be saved", error)
            return
        self._report(protocol.RunUpdate(run.run_id, state="saved"))

    def _save_weights(self, run: LiveRun) -> None:
        """Save the weights in the run's folder, if there is a model; not those of a step that is repeated."""
        if run.model is None or run.repeating:
            return
        try:
            save_weights(run.model, run.folder.weights)
        except OSError as error:
            LOG.error("The weights of run %s cannot be saved: %s", run.run_id, error)
        except Exception as error:
            log_error(f"The weights of run {run.run_id} cannot be saved", error)

    def _answer(self, asked: protocol.Ask) -> None:
        self._set_busy(asked.job_id)
        try:
            answer = protocol.Answer(asked.job_id, protocol.write_value(asked.job.do()))
        except Exception as error:
            log_failure(f"Job {asked.job.function}", error)
            answer = protocol.Answer(asked.job_id, error=in_words(error))
        self._report(answer)


def save_weights(model: Any, path: Path) -> None:
    """Save a model's parameters and buffers, those of shared layers once; the file appears whole or not at all. Raises OSError
    where the disk does not take it."""
    from safetensors import SafetensorError
    from safetensors.torch import save_model

    with replacing(path) as half_written:
        try:
            save_model(model, str(half_written))
        except SafetensorError as error:
            raise OSError(str(error)) from error


def free_memory() -> None:
    """Give the memory of a run that is over back to the system, also what the allocator kept for its next step."""
    gc.collect()
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)
    torch = sys.modules.get("torch")  # with a stand-in for the training, torch is not loaded
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()


def describe_device(slot: int) -> protocol.DeviceFacts:
    """Set one thread for this worker and choose its device: worker i owns GPU i. To workers beyond the last GPU the pool gives no
    run that uses one."""
    torch = sys.modules.get("torch")
    if torch is None:
        return {}
    torch.set_num_threads(1)
    facts = protocol.DeviceFacts(
        torch=str(torch.__version__), accelerator=None, accelerators=0, accelerator_name="", accelerator_memory=0
    )
    if torch.accelerator.is_available():
        kind, count = torch.accelerator.current_accelerator().type, torch.accelerator.device_count()
        facts["accelerator"], facts["accelerators"] = kind, count
        if kind == "cuda" and slot < count:
            torch.cuda.set_device(slot)
            facts["accelerator_name"] = torch.cuda.get_device_name(slot)
            facts["accelerator_memory"] = torch.cuda.mem_get_info(slot)[0]
    return facts


def take_over_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep stdin and stdout for the protocol; other code reads an empty stdin and prints to stderr."""
    inward, outward = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return inward, outward


def listen(inward: BinaryIO, commands: SimpleQueue[protocol.Command]) -> None:
    """Queue the commands; exit when the parent is gone, even in the middle of a step."""
    try:
        while True:
            commands.put(protocol.receive(inward))
    except EOFError:
        os._exit(0)


def report_to(outward: BinaryIO, message: protocol.Report) -> None:
    try:
        protocol.send(outward, message)
    except OSError:  # the parent is gone
        os._exit(0)


def main() -> None:
    # Ctrl-C in a terminal reaches children too; the parent decides when they end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log_to_stderr()
    parser = argparse.ArgumentParser(
        prog="python -m engine.workers.worker", description="A child of the pool; not for people."
    )
    parser.add_argument("--training", required=True, help="module with begin and train")
    parser.add_argument("--slot", type=int, default=0, help="number of this worker, from 0")
    parser.add_argument("--role", choices=get_args(protocol.Role), default="runs")
    parser.add_argument("--memory", type=int, default=0, help="bytes that this process may take")
    options = parser.parse_args()
    give_way(JOBS)  # also while it starts: somebody may wait for it
    inward, outward = take_over_pipes()
    commands: SimpleQueue[protocol.Command] = SimpleQueue()
    Thread(target=listen, args=(inward, commands), daemon=True).start()
    training = cast(Training, import_module(options.training))
    report = partial(report_to, outward)
    facts = describe_device(options.slot)
    gc.freeze()
    if options.memory and facts.get("accelerator") != "cuda":  # CUDA reserves far more than it takes
        limit_memory(options.memory)
    if options.role != "jobs":
        give_way(OWN_PROCESS if options.role == "own" else TRAINING)
    report(protocol.Ready(facts))
    Worker(training, commands, report).work()


if __name__ == "__main__":
    main()
