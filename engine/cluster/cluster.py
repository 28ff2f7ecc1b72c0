"""The cluster: a connection to a Dask scheduler, and the workers that are there."""

import asyncio
import pickle
import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from distributed import Client, Security
from distributed.comm.core import CommClosedError

from engine.cluster.codec import Unreadable
from engine.cluster.member import SILENT, Call, Member, OtherVersion
from engine.cluster.relay import Relay, operation
from engine.foundation.log import LOG
from engine.hosting.host import ROOM, SHARED_BYTES, WORKER_BYTES, is_loopback
from engine.workers.processes.machines import Cluster

LOOK_EVERY = 1.0
"""Seconds between two looks at which workers are there."""
AGAIN_AFTER = 5.0
"""Seconds until a scheduler or a worker that could not be reached is tried again."""
FREE_SHARE = 0.75
"""The share of a worker's memory that its processes may take together."""
WITHOUT_PICKLE = ["msgpack"]
"""The ways in which an answer may be written. Neither pickle, nor Dask's own, which names types by pickles."""
DIRECTLY = 3.0
"""Seconds within which a worker must answer to be called directly."""
LONGEST_CLOSE = 10.0
"""The most seconds that :meth:`DaskCluster.close` takes."""
UNREACHABLE = (OSError, Unreadable)
"""The errors of a call where the worker cannot be reached: its time-outs and lost connections are kinds of OSError."""


def checked_address(address: str) -> str:
    """The address of a scheduler. Raises ValueError with one sentence where it is not protected: whoever reaches a scheduler can
    run code on its workers."""
    parts = urlsplit(address)
    protected = parts.scheme == "tls" or (parts.scheme == "tcp" and is_loopback(parts.hostname))
    if protected and parts.hostname and parts.port:
        return address
    raise ValueError(
        f"The scheduler is {address!r}; allowed is tls://host:port, or tcp://127.0.0.1:port on this machine alone."
    )


class DaskCluster(Cluster):
    """The Dask workers of one scheduler. The connection lives on a thread of its own and is renewed when it was lost."""

    def __init__(self, address: str, security: Security | None = None) -> None:
        """``security``: the certificates; by default those that Dask's own settings name. Raises ValueError."""
        self.address = checked_address(address)
        self.connecting = True
        self.refused: dict[str, str] = {}
        """The workers that are not used, each with one sentence."""
        self._security = security
        self._app = secrets.token_hex(8)
        self._members: dict[str, Member] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._changed: Callable[[], None] = lambda: None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing = asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live()), name="cluster", daemon=True)

    @property
    def machines(self) -> Sequence[Member]:
        return [member for member in list(self._members.values()) if member.ready]

    def start(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._thread.start()

    def close(self) -> None:
        if self._loop is None:
            return
        with suppress(RuntimeError):  # it has ended by itself
            self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(LONGEST_CLOSE)

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        while not self._closing.is_set():
            try:
                await self._connected()
            except Exception as error:
                self._note_lost(error)
                await self._wait(AGAIN_AFTER)

    async def _wait(self, seconds: float) -> None:
        """Wait, but no longer than until the app closes."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)

    async def _connected(self) -> None:
        """Be connected until that is lost or the app closes. Raises what was the reason."""
        async with Client(
            self.address, asynchronous=True, security=self._security or Security(), name=f"attention-lab-{self._app}",
            deserializers=WITHOUT_PICKLE, timeout=10, set_as_default=False,
        ) as client:  # fmt: skip
            await self._register(client)
            LOG.info("Connected to the cluster at %s.", self.address)
            self.problem = ""
            try:
                while not self._closing.is_set():
                    found = await ask(client, self.address, "identity", n_workers=-1)
                    self._look(client, found["workers"])
                    if not found["workers"] and self.connecting:
                        self._know()
                    await self._wait(LOOK_EVERY)
            finally:
                await self._leave()
            with suppress(OSError):  # the relays end by themselves, too, if nobody calls them any more
                await ask(client, self.address, "unregister_worker_plugin", name=operation(self._app))

    def _look(self, client: Client, workers: dict[str, Any]) -> None:
        """Begin with the workers that have joined, and forget those that have left: each may come back at its address."""
        for address in self._tasks.keys() - workers.keys():
            self._tasks.pop(address).cancel()
        for address in self.refused.keys() - workers.keys():
            del self.refused[address]
        for address in workers.keys() - self._tasks.keys() - self.refused.keys():
            slots = max(1, int(workers[address]["nthreads"]))
            memory = (int(FREE_SHARE * int(workers[address]["memory_limit"] or 0)) - SHARED_BYTES) // slots
            member = Member(address, slots, max(memory, WORKER_BYTES + ROOM))
            self._members[address] = member
            self._tasks[address] = asyncio.create_task(self._with(client, member))

    async def _register(self, client: Client) -> None:
        """Give every worker a relay, those that join later, too."""
        name, plugin = operation(self._app), pickle.dumps(Relay(self._app))
        try:
            answers = await ask(
                client, self.address, "register_worker_plugin", plugin=plugin, name=name, idempotent=False
            )
        except TimeoutError:  # one of them stands still; the others have it
            return
        for address, answer in answers.items():
            if answer["status"] != "OK":
                LOG.warning("The cluster's worker %s cannot start a relay: has it this program?", address)

    async def _way_to(self, client: Client, address: str) -> Call:
        """How a worker is called: directly, or where it cannot be reached from here, through the scheduler."""
        name = operation(self._app)
        try:
            await ask(client, address, "identity", seconds=DIRECTLY)
            return partial(ask, client, address, name)
        except OSError:

            async def through(**message: object) -> Any:
                told = {"op": name, **message}
                return await ask(client, self.address, "proxy", worker=address, msg=told)

            return through

    async def _with(self, client: Client, member: Member) -> None:
        """Be with one worker until it is gone; after a while it is tried again."""
        try:
            await member.live(await self._way_to(client, member.name), self._know)
        except OtherVersion as error:
            self.refused[member.name] = str(error)
            LOG.warning("%s It is not used.", error)
        except UNREACHABLE as error:
            LOG.warning("The cluster's worker %s is gone (%s).", member.name, str(error) or type(error).__name__)
        except Exception as error:
            LOG.warning("The cluster's worker %s is not used: %s", member.name, error)
        finally:
            self._members.pop(member.name, None)
            self._know()
        await asyncio.sleep(AGAIN_AFTER)
        self._tasks.pop(member.name, None)

    def _know(self) -> None:
        """The number of workers is known from now on: tell the listeners."""
        self.connecting = False
        self._changed()

    async def _leave(self) -> None:
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _note_lost(self, error: Exception) -> None:
        """Say once that the cluster is gone."""
        if not self.problem:
            LOG.warning(
                "The cluster at %s cannot be reached (%s); runs are trained on this machine until it can.",
                self.address,
                "the connection was lost" if isinstance(error, CommClosedError) else str(error) or type(error).__name__,
            )
        self.problem = f"The cluster at {self.address} cannot be reached; runs are trained on this machine."
        self._know()


async def ask(client: Client, address: str, op: str, *, seconds: float = SILENT, **message: object) -> Any:
    """The answer of a Dask scheduler or worker to an operation. Raises OSError, also where none comes in time.

    Dask's own calls read a failed operation's exception with pickle, so that a worker that somebody has taken over could run code
    here; this reads plain values only.
    """
    async with asyncio.timeout(seconds):
        connection = await client.rpc.connect(address)
        try:
            await connection.write({"op": op, "reply": True, **message})
            answer = await connection.read(deserializers=WITHOUT_PICKLE)
        except BaseException:
            connection.abort()
            raise
        finally:
            client.rpc.reuse(address, connection)
    if isinstance(answer, dict) and answer.get("status") in ("error", "uncaught-error"):
        raise ConnectionError(f"{address} cannot do that: {str(answer.get('exception_text', ''))[:200]}")
    return answer
