"""The machines whose processes train: those of the cluster while it has any, else the app's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from engine.serving import protocol
from engine.serving.host import WORKER_BYTES
from engine.serving.limits import Limits
from engine.serving.processes.child import ChildProcess
from engine.serving.processes.messages import receive, send

APP_MACHINE = ""


def host_of(name: str) -> str:
    """The host in an address such as tls://10.0.0.7:40123; a name without one is its own."""
    return urlsplit(name).hostname or name


class Process(Protocol):
    """A worker process on any machine: the part of :class:`ChildProcess` that the pool uses. Nothing blocks but ``wait``."""

    last_message_at: float

    @property
    def pid(self) -> int: ...
    @property
    def address(self) -> str: ...  # on a cluster, such as tls://10.0.0.7:40123; empty on the app's machine

    def begin(self) -> None: ...
    def send(self, message: protocol.Command) -> None: ...
    def kill(self) -> None: ...
    def close(self) -> None: ...
    def wait(self, timeout: float | None = None) -> bool: ...
    def is_stopped(self) -> bool: ...
    def memory(self) -> int: ...
    def end_in_words(self) -> str: ...


# Start python -m engine.serving.worker: a name for the process's threads, the arguments, and two functions that are called on its
# reader thread: with each report, and at its end, last of all. Raises OSError.
Launch = Callable[[str, Sequence[str], Callable[[protocol.Report], None], Callable[[], None]], Process]


@dataclass(eq=False)
class Machine:
    slots: int  # processes that train runs in turns
    memory: int  # bytes that each of them may take
    launch: Launch
    name: str = APP_MACHINE  # empty for the machine of the app
    most_runs: int | None = None  # runs that a process takes at once; None: as the limits say


class Cluster:
    """Machines that join and leave while the app runs; this base class has none."""

    connecting = False  # until it is known whether there are any
    problem = ""  # one sentence if the cluster cannot be reached

    @property
    def machines(self) -> Sequence[Machine]:
        return ()

    def start(self, changed: Callable[[], None]) -> None:
        """``changed`` is called, on a thread of the cluster, when machines have joined or left."""

    def close(self) -> None: ...


def launch_here(
    name: str, arguments: Sequence[str], on_message: Callable[[protocol.Report], None], on_end: Callable[[], None]
) -> Process:
    return ChildProcess[protocol.Command, protocol.Report](
        name, ["-m", "engine.serving.worker", *arguments], write=send, read=receive,
        on_message=on_message, on_end=on_end,
    )  # fmt: skip


def memory_for(role: protocol.Role, machine: Machine, limits: Limits) -> int:
    """Bytes that a process may take: one with a single run as much as a worker and the largest allowed run."""
    return min(machine.memory, WORKER_BYTES + int(limits.memory)) if role == "dedicated" else machine.memory


class Machines:
    def __init__(self, limits: Limits, slots: int, cluster: Cluster | None = None) -> None:
        self._here = Machine(slots, int(limits.worker_memory), launch_here)
        self.cluster = cluster or Cluster()

    @property
    def training(self) -> list[Machine]:
        """The machines that train now: the app's own only while there is no other, so that its cores are the pages'."""
        return list(self.cluster.machines) or ([] if self.cluster.connecting else [self._here])

    @property
    def slots(self) -> int:
        """The number of processes that train when all are up; while no machine is known, that of the app's machine."""
        return sum(machine.slots for machine in self.training) or self._here.slots

    @property
    def measuring(self) -> str:
        """The machine on which times are measured: always the same of those that train, as long as it is there."""
        return min((machine.name for machine in self.training), default=APP_MACHINE)

    def find(self, name: str) -> Machine | None:
        return next((machine for machine in [self._here, *self.training] if machine.name == name), None)
