"""The relay on a Dask worker: starts the app's worker processes beside it, and passes messages on in both directions.

The training itself goes on in a process of its own, as on the app's machine: Dask's worker only passes messages on, so that
its event loop and its profiler cost the training nothing, and a run that does not yield can be ended by force.
"""

import asyncio
import shutil
import tempfile
from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from distributed import Worker, WorkerPlugin

from engine.cluster.codec import Chunk, chunks_of, encode, write_chunk
from engine.foundation.child import ChildProcess
from engine.foundation.code_hash import program_hash
from engine.foundation.files import keep_private
from engine.foundation.log import log_error
from engine.foundation.messages import read_value, receive, send_body
from engine.foundation.visitor import Pace
from engine.runs.folder import RunFolder
from engine.workers import protocol

LONGEST = 1.0
"""Seconds that a call waits for something to tell; the answer then says only that the relay is there."""
ANSWERS = 30
"""Answers in each second, which may also come at once: many runs have much to tell, and each call costs both sides."""
ABANDONED = 60.0
"""Seconds without a call after which the app is taken to be gone, and its processes are ended."""
LARGEST = 8 * 2**20
"""Bytes above which a call or an answer takes no further message along; the next one has it."""

Item = list[Any]
"""A message between app and relay: what it is, the process that it is about, and more: plain values and bytes only."""


def size_of(item: Item) -> int:
    """The bytes in a message; all else in it is small."""
    return sum(len(part) for part in item if isinstance(part, bytes))


def operation(app: str) -> str:
    """The name of the relay's operation on a Dask worker."""
    return f"attention_lab_{app}"


class Relay(WorkerPlugin):
    """One app's relay on one Dask worker. All methods but the children's callbacks run on the worker's event loop."""

    def __init__(self, app: str) -> None:
        """``app``: a name that no other app on the cluster has."""
        self.app = app
        self.name = operation(app)

    def setup(self, worker: Worker) -> None:
        self._loop = asyncio.get_running_loop()
        self._session = ""
        self._children: dict[str, Child] = {}
        self._outbox: deque[Item] = deque()
        self._something = asyncio.Event()
        self._called_at = self._loop.time()
        self._pace = Pace(rate=ANSWERS, most=ANSWERS)
        self._data = Path(tempfile.mkdtemp(prefix="attention-lab-"))
        keep_private(self._data)
        worker.handlers[self.name] = self._called
        self._watch = self._loop.call_later(ABANDONED, self._end_if_abandoned)

    def teardown(self, worker: Worker) -> None:
        worker.handlers.pop(self.name, None)
        self._watch.cancel()
        self._end_all()
        shutil.rmtree(self._data, ignore_errors=True)

    async def _called(self, session: str, do: str, items: Sequence[Item] = ()) -> Any:
        """``begin``: a new session, without processes. ``push``: handle messages from the app. ``pull``: give those that there are."""
        self._called_at = self._loop.time()
        if do == "begin":
            self._end_all()
            self._session = session
            return {"code": program_hash()}
        if session != self._session:
            return None
        if do == "push":
            for item in items:
                self._handle(*item)
            return True
        if not self._outbox:
            self._something.clear()
            try:
                await asyncio.wait_for(self._something.wait(), LONGEST)
            except TimeoutError:
                self._outbox.extend(["memory", name, child.process.memory()] for name, child in self._children.items())
        if wait := self._pace.spend(self.app, 1):
            await asyncio.sleep(wait)
        return self._answer()

    def _answer(self) -> list[Item]:
        given, size = list[Item](), 0
        while self._outbox and size < LARGEST:
            given.append(self._outbox.popleft())
            size += size_of(given[-1])
        return given

    def _handle(self, what: str, name: str, *more: Any) -> None:
        if what == "start":
            self._children[name] = Child(name, more[0], self._data, partial(self._push_from_thread, self._session))
        elif child := self._children.get(name):
            match what:
                case "send":
                    child.process.send(more[0])
                case "file":
                    write_chunk(self._data, Chunk(*more))
                case "close":
                    child.process.close()
                case "kill":
                    child.process.kill()

    def _push_from_thread(self, session: str, items: Sequence[Item]) -> None:
        self._loop.call_soon_threadsafe(self._push, session, items)

    def _push(self, session: str, items: Sequence[Item]) -> None:
        """Keep messages for the app. Names of processes come again in another session, so that those of an earlier one say nothing."""
        if session != self._session:
            return
        for item in items:
            if item[1] in self._children:
                self._outbox.append(item)
            if item[0] == "end":
                self._children.pop(item[1], None)
        self._something.set()

    def _end_all(self) -> None:
        for child in self._children.values():
            child.process.kill()
        self._children.clear()
        self._outbox.clear()

    def _end_if_abandoned(self) -> None:
        if self._loop.time() - self._called_at > ABANDONED:
            self._end_all()
        self._watch = self._loop.call_later(ABANDONED / 4, self._end_if_abandoned)


class Child:
    """A worker process beside the relay. Its commands are passed on as they are; its reports are read, and encoded anew."""

    def __init__(self, name: str, arguments: Sequence[str], data: Path, push: Any) -> None:
        """``push`` is called on the process's reader thread with messages for the app."""
        self._name, self._data, self._push = name, data, push
        self._sent: dict[Path, tuple[int, int]] = {}  # of each file that the app has: its time and its size
        self.process: ChildProcess[bytes, protocol.Report] = ChildProcess(
            name, ["-m", "engine.workers.worker", *arguments], write=send_body, read=receive,
            on_message=self._pass_on, on_end=self._ended, data=data,
        )  # fmt: skip
        self.process.begin()

    def _pass_on(self, report: protocol.Report) -> None:
        """Send a report, and first the files that it speaks of: code that reads it then finds them."""
        if isinstance(report, protocol.JobAnswer) and not report.error:
            report = self._readable(report)
        items: list[Item] = [["report", self._name, encode(report)]]
        if isinstance(report, protocol.Ready):
            items = [["pid", self._name, self.process.pid], *items]
        if isinstance(report, protocol.RunUpdate) and report.state in ("paused", "saved", "over", "suspended"):
            items = [*self._files(report.run_id, with_state=report.state in ("saved", "suspended")), *items]
        self._push(items)
        if isinstance(report, protocol.RunUpdate) and report.state in ("over", "suspended"):
            shutil.rmtree(self._folder(report.run_id), ignore_errors=True)
            self._sent = {
                file: known for file, known in self._sent.items() if file.parent != self._folder(report.run_id)
            }

    def _readable(self, answer: protocol.JobAnswer) -> protocol.JobAnswer:
        try:
            return protocol.JobAnswer(answer.job_id, encode(read_value(answer.value)))
        except TypeError as error:
            return protocol.JobAnswer(answer.job_id, error=str(error))

    def _files(self, run_id: str, *, with_state: bool) -> list[Item]:
        folder, items = RunFolder(self._folder(run_id)), list[Item]()
        for file in (folder.weights, *([folder.state] if with_state else [])):
            try:
                stat = file.stat()
                known = self._sent.get(file) == (stat.st_mtime_ns, stat.st_size)
                if not known:
                    items += [["file", self._name, run_id, *chunk] for chunk in chunks_of(file)]
                    self._sent[file] = (stat.st_mtime_ns, stat.st_size)
            except FileNotFoundError:
                continue  # there was no model yet
            except OSError as error:
                log_error(f"A file of run {run_id}", error)
        return items

    def _folder(self, run_id: str) -> Path:
        return self._data / "runs" / run_id

    def _ended(self) -> None:
        self._push([["end", self._name, self.process.how_it_ended()]])
