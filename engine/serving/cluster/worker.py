"""A slot on the cluster, to the pool a worker process. It has one run or job at a time, each a Dask task."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from engine.foundation.files import data_folder, write_whole
from engine.foundation.log import LOG
from engine.foundation.visitor import PROGRAM
from engine.runs.folder import RunFolder
from engine.serving import protocol
from engine.serving.cluster import task
from engine.serving.processes.messages import read_value, write_value
from engine.tasks.text import user_texts

if TYPE_CHECKING:
    from engine.serving.cluster.cluster import DaskCluster

SILENT_SECONDS = 20.0  # without an answer after which a worker of the cluster counts as gone


class ClusterWorker:
    def __init__(
        self,
        cluster: DaskCluster,
        name: str,
        arguments: Sequence[str],
        on_message: Callable[[protocol.Report], None],
        on_end: Callable[[], None],
    ) -> None:
        self.last_message_at = time.monotonic()
        # Until its first run, the slot reports the facts of one of the workers.
        self.address, self.pid, device = cluster.worker(int(arguments[2]))
        self._cluster, self._device, self._name = cluster, device, name
        self._training = arguments[0]
        self._on_message, self._on_end = on_message, on_end
        self._commands: SimpleQueue[protocol.Command | None] = SimpleQueue()
        self._end_in_words = ""
        self._thread = Thread(target=self._live, name=f"{name}-reader", daemon=True)
        self.begin, self.send = self._thread.start, self._commands.put

    def kill(self) -> None:
        # Dask starts the process of its run again
        self._end_in_words = self._end_in_words or "it was ended by force"
        self._commands.put(None)

    def close(self) -> None:
        self._commands.put(None)

    def wait(self, timeout: float | None = None) -> bool:
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def is_stopped(self) -> bool:
        return False  # that is not known here

    def memory(self) -> int:
        return 0  # Dask watches it

    def end_in_words(self) -> str:
        return self._end_in_words

    def _live(self) -> None:
        try:
            self._tell(protocol.Ready(self._device))
            while (command := self._commands.get()) is not None:
                if isinstance(command, protocol.Start | protocol.Ask):
                    with self._cluster.client.as_current():
                        self._compute(command)
                elif isinstance(command, protocol.Ping):
                    self._tell(protocol.Busy(None))
        except Exception as error:  # Dask raises many kinds where a worker is lost
            lost = f"{self.address} of the cluster was lost ({str(error) or type(error).__name__})"
            self._end_in_words = self._end_in_words or lost
            self._cluster.forget(
                self.address
            )  # else the run would go there again, and be taken for what ends its workers
        self._on_end()

    def _tell(self, report: protocol.Report) -> None:
        self.last_message_at = time.monotonic()
        self._on_message(report)

    def _compute(self, command: protocol.Start | protocol.Ask) -> None:
        task_id, folder, files = "", Path(), dict[str, bytes]()
        if isinstance(command, protocol.Start):
            task_id, folder, files = command.run_id, Path(command.folder), files_of(command)
            workers = self._cluster.able(on_device=command.prediction.device.accelerator)
            priority = 0 if command.request.trial else 1
            # The visitor's id and address are private: the worker does not need them.
            request = replace(command.request, visitor=PROGRAM)
            command = replace(command, folder=task.folder_of(task_id), request=request)
        else:  # what measures time does so on one worker, always the same
            task_id, workers, priority = command.job_id, [self.address], 1
        future = self._cluster.client.submit(
            task.Task, self._training, task_id, files, actor=True, key=f"{self._name}-{task_id}-{time.time_ns()}",
            workers=workers, priority=priority,
        )  # fmt: skip
        try:
            self._follow(self._wait(future), command, folder)
        finally:
            # Dask drops the actor, and with it what is not over. On a thread: a scheduler that is gone does not answer.
            Thread(target=let_go, args=(future,), daemon=True).start()

    def _follow(self, actor: Any, command: protocol.Command, folder: Path) -> None:
        self.address, over, commands = self._wait(actor.where()), False, list[protocol.Command | None]([command])
        while not over:
            for body, sent in self._wait(actor.poll([write_value(one) for one in commands])):
                report = read_value(body)
                is_over = isinstance(report, protocol.RunUpdate) and report.state in ("over", "checkpointed")
                over = over or is_over or isinstance(report, protocol.JobAnswer)
                self._tell(with_files(report, sent, folder))
            commands = [] if over else self._arrived()
            if None in commands:
                self._commands.put(None)
                if self._end_in_words:
                    self._cluster.restart(self.address)
                return
        self._tell(protocol.Busy(None))

    def _wait(self, answer: Any) -> Any:
        """The result of a Dask future. Raises OSError, TimeoutError too, if the connection is lost or no result comes."""
        until = time.monotonic() + SILENT_SECONDS
        while True:
            try:
                return answer.result(1.0)
            except TimeoutError:
                if self._cluster.client.status != "running" or time.monotonic() > until:
                    raise

    def _arrived(self) -> list[protocol.Command | None]:
        arrived = list[protocol.Command | None]()
        with suppress(Empty):
            while True:
                arrived.append(self._commands.get_nowait())
        return [one for one in arrived if not isinstance(one, protocol.Audience | protocol.Ping)]


def let_go(future: Any) -> None:
    with suppress(Exception):
        future.cancel()


def with_files(report: protocol.Report, files: task.Files, folder: Path) -> protocol.Report:
    """Write the files into the run's folder and return the report: ``unsaved`` instead of ``saved`` if the disk does not take them."""
    for name, content in files.items() if folder.exists() else ():  # the run may have been deleted
        file = folder / Path(name).name
        try:
            write_whole(file, content)
        except OSError as error:
            LOG.error("%s of run %s cannot be saved: %s", name, folder.name, error)
            if isinstance(report, protocol.RunUpdate) and report.state == "saved":
                # a state that the disk does not take was not saved
                report = replace(report, state="unsaved")
            if file == RunFolder(folder).weights:
                # weights of an earlier step must not pass for the last ones
                with suppress(OSError):
                    file.unlink()
    return report


def files_of(start: protocol.Start) -> dict[str, bytes]:
    state = RunFolder(Path(start.folder)).state
    wanted = {f"{task.folder_of(start.run_id)}/{state.name}": state} if start.known_step is not None else {}
    if user_texts.NAME.fullmatch(name := str(start.request.config.flat().get("text", ""))):
        wanted[f"texts/{name}.txt"] = data_folder() / "texts" / f"{name}.txt"
    # the run itself reports a missing file
    return {name: file.read_bytes() for name, file in wanted.items() if file.exists()}
