"""One worker of the cluster as the app sees it: its relay, and the worker processes beside it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from engine.cluster.codec import Unreadable
from engine.cluster.process import RemoteProcess
from engine.cluster.relay import Item
from engine.foundation.code_hash import program_hash
from engine.foundation.log import LOG
from engine.workers import protocol

SILENT = 10.0
"""Seconds without an answer after which a worker of the cluster is taken to be gone."""
LARGEST_CALL = 8 * 2**20
"""Bytes above which a call takes no further message along."""

Call = Callable[..., Awaitable[Any]]
"""Call the relay's operation on this worker; raises OSError or TimeoutError where that cannot be reached."""


class OtherVersion(Exception):
    """The worker has another version of this program."""


class Member:
    """One Dask worker with its relay. Its properties and :meth:`launch` may be used from any thread."""

    def __init__(self, address: str, slots: int, memory: int) -> None:
        """``slots``: its threads, each of which stands for one process that trains. ``memory``: bytes for each."""
        self.name, self.slots, self.memory = address, slots, memory
        self.ready = False
        self._session = secrets.token_hex(8)
        self._processes: dict[str, RemoteProcess] = {}
        self._started = 0
        self._loop = asyncio.get_running_loop()
        self._outbox: asyncio.Queue[Item] = asyncio.Queue()

    def launch(
        self,
        name: str,
        arguments: Sequence[str],
        on_message: Callable[[protocol.Report], None],
        on_end: Callable[[], None],
    ) -> RemoteProcess:
        """Start a worker process there. Raises OSError where the worker has just left."""
        if not self.ready:
            raise OSError(f"{self.name} has left the cluster.")
        self._started += 1
        known_as = f"{name}-{self._started}"
        process = RemoteProcess(known_as, arguments, self._tell, on_message, on_end)
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
            self.ready = False
            for process in list(self._processes.values()):
                process.end(f"the connection to {self.name} was lost")

    async def _ask(self, do: str, items: Sequence[Item] = ()) -> Any:
        answer = await self._call(session=self._session, do=do, items=list(items))
        if answer is None:
            raise ConnectionResetError(f"{self.name} was started anew.")
        return answer

    def _tell(self, item: Item) -> None:
        """Queue a message for the relay; from any thread."""
        try:
            self._loop.call_soon_threadsafe(self._outbox.put_nowait, item)
        except RuntimeError:  # the loop is closed: the process has ended, too
            return

    async def _pass_on(self) -> None:
        while True:
            items = [await self._outbox.get()]
            size = _size(items[0])
            while size < LARGEST_CALL and not self._outbox.empty():
                items.append(self._outbox.get_nowait())
                size += _size(items[-1])
            await self._ask("tell", items)

    async def _listen(self) -> None:
        while True:
            for what, name, *more in await self._ask("take"):
                process = self._processes.get(name)
                if process is None:
                    continue
                if what == "end":
                    del self._processes[name]
                process.take(what, *more)

    def say_gone(self, error: BaseException) -> None:
        LOG.warning("The cluster's worker %s is gone (%s).", self.name, str(error) or type(error).__name__)


def _size(item: Item) -> int:
    return sum(len(part) for part in item if isinstance(part, bytes))
