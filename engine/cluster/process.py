"""A worker process on another machine, as the pool sees it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Event as Signal
from threading import Lock, Thread

from engine.cluster.codec import Unreadable, decode
from engine.cluster.files import Chunk, chunks_of, needed_by, write_chunk
from engine.cluster.relay import Item
from engine.foundation.log import log_error
from engine.foundation.messages import write_value
from engine.foundation.paths import data_folder
from engine.foundation.visitor import PROGRAM
from engine.runs.folder import RunFolder
from engine.workers import protocol

RETURNED = ("weights.safetensors", "state.pt")
"""The files that a run's process may send back into the run's folder."""
ENVELOPE = 2**20
"""Bytes of a file besides the tensors in it, at most."""

Files = Mapping[str, Path]
"""Files that travel with a message, by their names on the other machine."""


class RemoteProcess:
    """One process beside a relay. Files travel with the messages that speak of them, before them: those that a run reads, and those
    that it leaves in its folder."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        tell: Callable[[Item], None],
        on_message: Callable[[protocol.Report], None],
        on_end: Callable[[], None],
    ) -> None:
        """``tell`` sends a message to the relay; it does not block."""
        self.last_message_at = time.monotonic()
        self.pid = 0
        """The process's number on its own machine, once it is known."""
        self._name, self._arguments, self._tell = name, list(arguments), tell
        self._on_message, self._on_end = on_message, on_end
        self._begun: dict[str, protocol.Start] = {}
        self._memory = 0
        self._how = ""
        self._outbox: SimpleQueue[tuple[protocol.Command, Files] | None] = SimpleQueue()
        self._order = Lock()
        self._queued = 0  # messages that the writer has not passed on yet
        self._inbox: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._ended = Signal()
        self._reader = Thread(target=self._read, name=f"{name}-reader", daemon=True)
        self._writer = Thread(target=self._write, name=f"{name}-writer", daemon=True)

    def begin(self) -> None:
        self._tell(["start", self._name, self._arguments])
        self._reader.start()
        self._writer.start()

    def send(self, message: protocol.Command) -> None:
        """Pass a message on: at once, or where files must be read for it or another one waits for that, on the writer's thread."""
        files = _files_of(message) if isinstance(message, protocol.Start) else {}
        with self._order:
            if self._queued or files:
                self._queued += 1
                self._outbox.put((message, files))
            else:
                self._pass_on(message, files)

    def kill(self) -> None:
        self._tell(["kill", self._name])

    def close(self) -> None:
        self._outbox.put(None)

    def wait(self, timeout: float | None = None) -> bool:
        return self._ended.wait(timeout)

    def memory(self) -> int:
        return self._memory

    def how_it_ended(self) -> str:
        return self._how

    # What the relay says; on the event loop's thread, so that all work is left to the reader.

    def take(self, what: str, *more: object) -> None:
        match what, more:
            case "memory", [int(size)]:
                self._memory = size
            case "pid", [int(number)]:
                self.pid = number
            case "report", [bytes(body)]:
                self.last_message_at = time.monotonic()
                self._inbox.put(partial(self._report, body))
            case "file", [str(run_id), str(name), bytes(content), bool(first), bool(last)]:
                self._inbox.put(partial(self._keep, run_id, Chunk(name, content, first, last)))
            case "end", [str(how)]:
                self.end(how)

    def end(self, how: str) -> None:
        """The process is gone, or the way to it: the reader ends after what was said before."""
        self._how = self._how or how
        self._memory = 0
        self._inbox.put(None)
        self._outbox.put(None)

    def _read(self) -> None:
        try:
            while (said := self._inbox.get()) is not None:
                said()
        except Exception as error:  # a message that cannot be read or handled: the process is given up
            log_error("A message of another machine", error)
            self._how = self._how or "it said something that cannot be read"
        self.kill()
        self._outbox.put(None)
        self._on_end()
        self._ended.set()

    def _report(self, body: bytes) -> None:
        report = decode(body)
        if not isinstance(report, protocol.Report):
            raise Unreadable("It is no report.")
        if isinstance(report, protocol.Answer) and not report.error:
            report = replace(report, value=write_value(decode(report.value)))
        self._on_message(report)
        if isinstance(report, protocol.RunUpdate) and report.state in ("over", "suspended"):
            self._begun.pop(report.run_id, None)

    def _keep(self, run_id: str, chunk: Chunk) -> None:
        """Write a piece of a file into its run's folder. Raises ValueError where the file is larger than all that the run keeps in
        memory."""
        start = self._begun.get(run_id)
        if start is not None and chunk.name in RETURNED:
            with suppress(FileNotFoundError):  # the run was deleted meanwhile
                write_chunk(Path(start.folder), chunk, start.prediction.peak + ENVELOPE)

    def _write(self) -> None:
        while (message := self._outbox.get()) is not None:
            self._pass_on(*message)
            with self._order:
                self._queued -= 1
        self._tell(["close", self._name])

    def _pass_on(self, message: protocol.Command, files: Files) -> None:
        if isinstance(message, protocol.Start):
            message = self._with_files(message, files)
        self._tell(["send", self._name, write_value(message)])

    def _with_files(self, start: protocol.Start, files: Files) -> protocol.Start:
        """Send the files that the run reads before it; its folder is then the one of the same name on the other machine."""
        self._begun[start.run_id] = start
        for name, file in files.items():
            try:
                for chunk in chunks_of(file, name):
                    self._tell(["file", self._name, *chunk])
            except OSError as error:  # the run itself then says what is missing
                log_error(f"A file of run {start.run_id}", error)
        # Whose run it is, and from which address it was asked for, is nobody's business there.
        return replace(start, folder=_folder_there(start), request=replace(start.request, visitor=PROGRAM))


def _folder_there(start: protocol.Start) -> str:
    return f"runs/{start.run_id}"


def _files_of(start: protocol.Start) -> Files:
    """The files that the run reads."""
    data, state = data_folder(), RunFolder(Path(start.folder)).state
    files = {file.as_posix(): data / file for file in needed_by(start.request.config, data)}
    if start.saved_step is not None:
        files[f"{_folder_there(start)}/{state.name}"] = state
    return files
