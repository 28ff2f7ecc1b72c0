"""A run or a job on a Dask worker: an actor, whose methods the app calls directly.

They compute in one thread of the worker's process, in turns as in a worker process of the app's machine: torch's random state
belongs to a process, so that two threads that train would change each other's numbers.
"""

import asyncio
import gc
import os
import shutil
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from weakref import WeakValueDictionary

from distributed import get_worker

from engine.estimate.device import DeviceFacts
from engine.foundation.code_hash import program_hash
from engine.foundation.files import DATA_VARIABLE, data_folder, keep_private, write_whole
from engine.foundation.log import log_error
from engine.runs.folder import RunFolder
from engine.serving import protocol
from engine.serving.processes.messages import read_value, write_value

# the number of times that Task.poll checks for reports before it returns without any, and the seconds between two checks
POLLS, POLL_SECONDS = 5, 0.01

Files = Mapping[str, bytes]  # the content of files, by their paths in the data folder or by their names in the run's


class Trainer:
    """The one thread of this process that computes."""

    def __init__(self, training: str) -> None:
        folder = Path(get_worker().local_directory) / "attention-lab"  # Dask deletes it with the worker
        keep_private(folder)
        os.environ[DATA_VARIABLE] = str(folder)
        self.address: str = get_worker().address
        worker = import_module("engine.serving.worker")  # not above: the page process imports this file, and no torch
        module, self.device = worker.prepare(training, 0, owns=True)
        if self.device:
            import_module("torch._dynamo")  # what the first training step imports, for seconds
        gc.freeze()  # a run's end collects what is left of it
        self.commands: SimpleQueue[protocol.Command] = SimpleQueue()
        self.tasks: WeakValueDictionary[str, Task] = WeakValueDictionary()
        self._worker = worker.Worker(module, self.commands, self._take)
        Thread(target=self._work, name="trainer", daemon=True).start()

    def _work(self) -> None:
        try:
            self._worker.work()
        except Exception as error:
            log_error("The training", error)
            os._exit(1)  # Dask starts the process anew, and its runs go on elsewhere

    def _take(self, report: protocol.Report) -> None:
        match report:
            case protocol.RunUpdate(task_id) | protocol.JobAnswer(task_id):
                if (task := self.tasks.get(task_id)) is not None:
                    task.take(report)
                else:  # the app has let it go
                    shutil.rmtree(data_folder() / folder_of(task_id), ignore_errors=True)
            case protocol.Busy(task_id):
                for name, task in list(self.tasks.items()):
                    task.take(protocol.Busy(name if name == task_id else None))


_one_at_a_time, _trainer = Lock(), cache(Trainer)


def trainer(training: str) -> Trainer:
    with _one_at_a_time:  # a cache alone would make two trainers for two threads that ask at once
        return _trainer(training)


def facts(training: str) -> tuple[str, int, DeviceFacts]:
    return program_hash(), os.getpid(), trainer(training).device  # the first trainer imports torch


def folder_of(run_id: str) -> str:
    return f"runs/{run_id}"


class Task:
    """A run or a job. When the app releases it or is gone, Dask drops this object, and the run ends."""

    def __init__(self, training: str, task_id: str, files: Files) -> None:
        self._trainer, self._id = trainer(training), task_id
        self._trainer.tasks[task_id] = self
        self._reported = deque[tuple[bytes, Files]]()
        self._sent: dict[Path, int] = {}  # of each file that the app has: the time of its last change (ns)
        self._busy: protocol.Report | None = None
        self._folder = RunFolder(data_folder() / folder_of(task_id))
        # files to read
        for name, content in files.items():
            write_whole(data_folder() / name, content)

    def __del__(self) -> None:
        self._trainer.commands.put(protocol.Control(self._id, "stop"))
        shutil.rmtree(self._folder.path, ignore_errors=True)

    async def where(self) -> str:
        return self._trainer.address

    async def poll(self, commands: Sequence[bytes]) -> list[tuple[bytes, Files]]:
        """Take commands (:class:`protocol.Command`), and return the reports since the last call, as soon as there are any, each
        with its files. Commands and reports are pickled by :func:`write_value`."""
        for command in commands:
            self._trainer.commands.put(read_value(command))
        for _ in range(POLLS):
            if self._reported:
                break
            await asyncio.sleep(POLL_SECONDS)
        return [self._reported.popleft() for _ in range(len(self._reported))]

    def take(self, report: protocol.Report) -> None:
        files, speaks_of = dict[str, bytes](), list[Path]()
        if isinstance(report, protocol.Busy):
            if report == self._busy:
                return
            self._busy = report
        elif isinstance(report, protocol.RunUpdate) and report.state in ("paused", "saved", "over", "checkpointed"):
            speaks_of = [self._folder.weights]
            if report.state in ("saved", "checkpointed"):
                speaks_of.append(self._folder.state)
        for file in speaks_of:
            if file.exists() and self._sent.get(file) != (changed := file.stat().st_mtime_ns):
                files[file.name], self._sent[file] = file.read_bytes(), changed
        self._reported.append((write_value(report), files))
