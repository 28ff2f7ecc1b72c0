"""One worker process, which trains runs or answers short jobs: ``python -m engine.serving.worker``.

Commands arrive on stdin and reports leave on stdout (see :mod:`engine.serving.protocol`). Between two slices of training the worker
takes commands, so that a click never waits for a run. Its runs take turns in short slices, each at its pace, and the people who
wait for them get the same time. It ends when its parent does.
"""

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
from typing import Literal, cast

from engine.estimate.device import DeviceFacts
from engine.foundation.errors import error_in_words
from engine.foundation.files import data_folder
from engine.foundation.log import LOG, log_error, log_failure, log_to_stderr, log_unsaved
from engine.runs.folder import RunFolder
from engine.serving import protocol
from engine.serving.host import free_memory, has_system_limit, limit_memory
from engine.serving.live_run import LiveRun, TrainingModule
from engine.serving.processes.messages import listen, receive, send, take_over_pipes, write_value
from engine.serving.processes.priority import DEDICATED_PROCESS, JOBS, TRAINING, give_way
from engine.serving.turns import FairShare


class Worker:
    def __init__(
        self,
        training: TrainingModule,
        commands: SimpleQueue[protocol.Command],
        report: Callable[[protocol.Report], None],
    ) -> None:
        self._training, self._commands, self._report = training, commands, report
        self._turns = FairShare()
        self._jobs: deque[protocol.Ask] = deque()
        self._busy_with: str | None = None

    def work(self) -> None:
        while True:
            self._take_commands()
            for _ in range(len(self._jobs)):  # jobs that arrive meanwhile wait for one slice
                self._answer(self._jobs.popleft())
            with self._turns.turn() as run:
                self._set_busy(run.run_id if run else None)
                if run is not None:
                    run.advance(self._turns.slice(), hurry=lambda: not self._commands.empty())
                    if run.save_due:
                        self._checkpoint(run)
            for other in list(self._turns.runs):
                self._deliver(other)

    def _take_commands(self) -> None:
        timeout = 0.0 if self._jobs else self._turns.seconds_to_next()
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
            case protocol.Audience(runs):
                self._turns.follow(runs)
            case protocol.Ping():
                self._report(protocol.Busy(self._busy_with))
            case protocol.Start():
                path = data_folder() / command.folder  # an absolute one stays as it is, and is there
                if not Path(command.folder).is_absolute():
                    path.mkdir(parents=True, exist_ok=True)
                RunFolder(path).delete_half_written()  # by a worker before
                self._turns.runs.append(LiveRun(command, self._training, RunFolder(path)))
                if not command.request.paused:
                    self._report(protocol.RunUpdate(command.run_id, state="running"))
            case _:
                if (run := self._turns.find(command.run_id)) is not None:
                    self._control(run, command)

    def _control(self, run: LiveRun, command: protocol.Control) -> None:
        self._set_busy(run.run_id)
        match command.action:
            case "checkpoint":
                self._checkpoint(run, leaves=True)
                return
            case "pause":
                run.pause()
            case "step":
                run.allow_step()
            case "resume":
                run.resume()
                self._report(protocol.RunUpdate(run.run_id, state="running"))
            case "set pace":
                run.set_pace(command.pace)
            case "stop":
                run.stop()
        self._deliver(run)

    def _deliver(self, run: LiveRun) -> None:
        if run.over:
            if not run.failed:
                self._save_weights(run)
            self._release(run, "over")
            return
        if run.deliverable:
            self._report(protocol.RunUpdate(run.run_id, run.deliver()))
        if run.waiting and not run.announced_pause:
            self._save_weights(run)
            self._report(protocol.RunUpdate(run.run_id, state="paused"))
        run.announced_pause = run.waiting

    def _checkpoint(self, run: LiveRun, *, leaves: bool = False) -> None:
        run.settle()
        if run.over:
            return
        # first: a state is never of a later step than its events
        self._report(protocol.RunUpdate(run.run_id, run.deliver()))
        saved = _is_saved("The state", run, run.save)
        if saved and leaves:
            run.close()
            self._save_weights(run)
            self._release(run, "checkpointed")
        else:
            self._report(protocol.RunUpdate(run.run_id, state="saved" if saved else "unsaved"))

    def _release(self, run: LiveRun, state: Literal["over", "checkpointed"]) -> None:
        self._turns.runs.remove(run)
        self._set_busy(None)  # before, since the run may come back at once
        # last: code that reads them finds the run's files
        self._report(protocol.RunUpdate(run.run_id, run.deliver(), state))
        run.training.state = None  # what takes memory
        free_memory()

    def _save_weights(self, run: LiveRun) -> None:
        model = None if run.training.state is None else run.training.state.model
        # a repeated step's weights are older than the saved ones; a trial is read from its events and then deleted
        if model is None or run.repeating or run.request.trial:
            return
        from engine.model.build import save_weights  # with a stand-in for the training there is no model, and no torch

        _is_saved("The weights", run, partial(save_weights, model, run.folder.weights))

    def _answer(self, request: protocol.Ask) -> None:
        self._set_busy(request.job_id)
        try:
            answer = protocol.JobAnswer(request.job_id, write_value(request.job.do()))
        except Exception as error:
            log_failure(f"Job {request.job.function}", error)
            answer = protocol.JobAnswer(request.job_id, error=error_in_words(error))
        self._report(answer)


def _is_saved(what: str, run: LiveRun, save: Callable[[], object]) -> bool:
    """Save something of a run. False if ``save`` returns False, or fails, which is logged."""
    try:
        return save() is not False
    except OSError as error:
        log_unsaved(f"{what} of run %s cannot be saved", run.run_id, error)
    except Exception as error:
        log_error(f"{what} of run {run.run_id} cannot be saved", error)
    return False


def prepare(training: str, slot: int, *, owns: bool) -> tuple[TrainingModule, DeviceFacts]:
    """The training module of that name, and the device facts of this process, whose device is warmed up. ``owns``: true if worker i
    owns GPU i."""
    module, facts = cast(TrainingModule, import_module(training)), DeviceFacts()
    if "torch" in sys.modules:  # with a stand-in for the training, torch may not be loaded
        from engine.training.device import describe_device

        facts = describe_device(slot, owns=owns)
        if facts.get("accelerator_name"):
            module.warm_up(str(facts["accelerator"]))
    return module, facts


def main() -> None:
    """Run a worker. Arguments: the module with ``begin`` and ``train``, the role, the worker's number, and the bytes that it may take."""
    # Ctrl-C in a terminal reaches children too; the parent decides when they end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log_to_stderr()
    training, role, slot, memory = sys.argv[1:]
    give_way(JOBS)  # also while it starts: somebody may wait for it
    inward, outward = take_over_pipes()
    commands: SimpleQueue[protocol.Command] = SimpleQueue()
    listen(inward, receive, commands.put)

    def report(message: protocol.Report) -> None:
        try:
            send(outward, message)
        except OSError:  # the parent is gone
            os._exit(0)

    try:
        module, facts = prepare(training, int(slot), owns=role == "runs")
    except ImportError as error:
        LOG.error("A worker cannot import %s (%s: %s).", training, type(error).__name__, error)
        sys.exit(1)
    gc.freeze()
    if has_system_limit(role, facts):
        limit_memory(int(memory))
    if role != "jobs":
        give_way(DEDICATED_PROCESS if role == "dedicated" else TRAINING)
    report(protocol.Ready(facts))
    Worker(module, commands, report).work()


if __name__ == "__main__":
    main()
