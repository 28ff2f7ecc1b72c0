"""One worker of the cluster as the app sees it: its relay, and the worker processes beside it."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Event as Signal
from threading import Lock, Thread
from typing import Any

from engine.cluster.codec import Chunk, Unreadable, chunks_of, decode, needed_by, write_chunk
from engine.cluster.relay import LARGEST, Item, size_of
from engine.foundation.code_hash import program_hash
from engine.foundation.files import data_folder
from engine.foundation.log import log_error
from engine.foundation.messages import write_value
from engine.foundation.visitor import PROGRAM
from engine.runs.folder import RunFolder
from engine.workers import protocol
from engine.workers.processes.machines import Machine

SILENT = 10.0
"""Seconds without an answer after which a worker of the cluster is taken to be gone."""
WEIGHTS, STATE = RETURNED = ("weights.safetensors", "state.pt")
"""The files that a run's process may send back into the run's folder."""
ENVELOPE = 2**20
"""Bytes of a file besides the tensors in it, at most."""

Call = Callable[..., Awaitable[Any]]
"""Call the relay's operation on this worker; raises OSError or TimeoutError where that cannot be reached."""
Files = Mapping[str, Path]
"""Files that travel with a message, by their names on the other machine."""


class OtherVersion(Exception):
    """The worker has another version of this program."""


class Member(Machine):
    """One Dask worker with its relay. Its attributes, ``launch`` too, may be used from any thread."""

    def __init__(self, address: str, slots: int, memory: int) -> None:
        """``slots``: its threads, each of which stands for one process that trains. ``memory``: bytes for each."""
        super().__init__(slots, memory, self._launch, address)
        self.ready = False
        self._session = secrets.token_hex(8)
        self._processes: dict[str, RemoteProcess] = {}
        self._started = 0
        self._joining = Lock()
        """Held while a process is added, and while all are taken: none is added after that."""
        self._loop = asyncio.get_running_loop()
        self._outbox: asyncio.Queue[Item] = asyncio.Queue()

    def _launch(
        self,
        name: str,
        arguments: Sequence[str],
        on_message: Callable[[protocol.Report], None],
        on_end: Callable[[], None],
    ) -> RemoteProcess:
        """Start a worker process there. Raises OSError where the worker has just left."""
        with self._joining:
            if not self.ready:
                raise OSError(f"{self.name} has left the cluster.")
            self._started += 1
            known_as = f"{name}-{self._started}"
            process = RemoteProcess(known_as, arguments, self._push, on_message, on_end)
            self._processes[known_as] = process
            return process

    async def live(self, call: Call, joined: Callable[[], None]) -> None:
        """Pass messages on until the worker is gone or this task is cancelled; then all its processes have ended. ``joined`` is
        called once it takes processes. Raises OSError, TimeoutError, Unreadable or OtherVersion."""
        self._call = call
        try:
            known = await self._ask("begin")
            if known["code"] != program_hash():
                raise OtherVersion(f"{self.name} has another version of this program or of its libraries.")
            self.ready = True
            joined()
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass_on())
                both.create_task(self._listen())
        except* (OSError, TimeoutError, Unreadable) as group:
            raise group.exceptions[0] from None
        finally:
            with self._joining:
                self.ready, processes = False, list(self._processes.values())
            for process in processes:
                process.end(f"the connection to {self.name} was lost")

    async def _ask(self, do: str, items: Sequence[Item] = ()) -> Any:
        answer = await self._call(session=self._session, do=do, items=list(items))
        if answer is None:
            raise ConnectionResetError(f"{self.name} was started anew.")
        return answer

    def _push(self, item: Item) -> None:
        """Queue a message for the relay; from any thread."""
        try:
            self._loop.call_soon_threadsafe(self._outbox.put_nowait, item)
        except RuntimeError:  # the loop is closed: the process has ended, too
            return

    async def _pass_on(self) -> None:
        while True:
            items = [await self._outbox.get()]
            size = size_of(items[0])
            while size < LARGEST and not self._outbox.empty():
                items.append(self._outbox.get_nowait())
                size += size_of(items[-1])
            await self._ask("push", items)

    async def _listen(self) -> None:
        while True:
            for what, name, *more in await self._ask("pull"):
                process = self._processes.get(name)
                if process is None:
                    continue
                if what == "end":
                    del self._processes[name]
                process.handle(what, *more)


class RemoteProcess:
    """One process beside a relay. Files travel with the messages that speak of them, before them: those that a run reads, and those
    that it leaves in its folder."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        push: Callable[[Item], None],
        on_message: Callable[[protocol.Report], None],
        on_end: Callable[[], None],
    ) -> None:
        """``push`` sends a message to the relay; it does not block."""
        self.last_message_at = time.monotonic()
        self.pid = 0
        """The process's number on its own machine, once it is known."""
        self._name, self._arguments, self._push = name, list(arguments), push
        self._on_message, self._on_end = on_message, on_end
        self._begun: dict[str, protocol.Start] = {}
        self._dropped = set[tuple[str, str]]()  # the runs and names of the files
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
        self._push(["start", self._name, self._arguments])
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
        self._push(["kill", self._name])

    def close(self) -> None:
        self._outbox.put(None)

    def wait(self, timeout: float | None = None) -> bool:
        return self._ended.wait(timeout)

    def is_stopped(self) -> bool:
        return False  # that is not known here

    def memory(self) -> int:
        return self._memory

    def how_it_ended(self) -> str:
        return self._how

    # Messages of the relay come on the event loop's thread, so that all work is left to the reader.

    def handle(self, what: str, *more: object) -> None:
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
            while (step := self._inbox.get()) is not None:
                step()
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
        if isinstance(report, protocol.JobAnswer) and not report.error:
            report = replace(report, value=write_value(decode(report.value)))
        if isinstance(report, protocol.RunUpdate) and (report.run_id, STATE) in self._dropped:
            report = replace(report, saved_step=None)
        self._on_message(report)
        if isinstance(report, protocol.RunUpdate) and report.state in ("over", "suspended"):
            self._begun.pop(report.run_id, None)
            self._dropped -= {(report.run_id, name) for name in RETURNED}

    def _keep(self, run_id: str, chunk: Chunk) -> None:
        """Write a piece of a file into its run's folder. Of a file of which the disk has not taken a piece, the rest is dropped; an earlier
        state stays, earlier weights do not, since they would pass for the last ones. Raises ValueError where the file is larger than all
        that the run keeps in memory."""
        start = self._begun.get(run_id)
        if start is None or chunk.name not in RETURNED:
            return
        folder = Path(start.folder)
        if chunk.first:
            self._dropped.discard((run_id, chunk.name))
        if (run_id, chunk.name) in self._dropped or not folder.exists():  # the run may have been deleted
            return
        try:
            write_chunk(folder, chunk, start.prediction.peak + ENVELOPE)
        except OSError as error:
            self._dropped.add((run_id, chunk.name))
            log_error(f"A file of run {run_id}", error)
            if chunk.name == WEIGHTS:
                with suppress(OSError):
                    (folder / WEIGHTS).unlink()

    def _write(self) -> None:
        while (message := self._outbox.get()) is not None:
            self._pass_on(*message)
            with self._order:
                self._queued -= 1
        self._push(["close", self._name])

    def _pass_on(self, message: protocol.Command, files: Files) -> None:
        """Send the files that a run reads, and then the message; the run's folder is then the one of the same name there."""
        if isinstance(message, protocol.Start):
            self._begun[message.run_id] = message
            for name, file in files.items():
                try:
                    for chunk in chunks_of(file, name):
                        self._push(["file", self._name, *chunk])
                except OSError as error:  # the run itself then says what is missing
                    log_error(f"A file of run {message.run_id}", error)
            # Whose run it is, and from which address it was asked for, is nobody's business there.
            request = replace(message.request, visitor=PROGRAM)
            message = replace(message, folder=f"runs/{message.run_id}", request=request)
        self._push(["send", self._name, write_value(message)])


def _files_of(start: protocol.Start) -> Files:
    """The files that the run reads."""
    data, state = data_folder(), RunFolder(Path(start.folder)).state
    files = {file.as_posix(): data / file for file in needed_by(start.request.config, data)}
    if start.seen is not None and state.exists():
        files[f"runs/{start.run_id}/{state.name}"] = state
    return files
