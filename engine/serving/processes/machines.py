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

HERE = ""
"""The name of the machine that the app runs on."""


def host_of(name: str) -> str:
    """The host in an address such as tls://10.0.0.7:40123; a name without one is its own."""
    return urlsplit(name).hostname or name


class Process(Protocol):
    """A worker process, wherever it runs: the part of :class:`ChildProcess` that the pool uses. Nothing blocks but ``wait``."""

    last_message_at: float

    @property
    def pid(self) -> int: ...
    @property
    def address(self) -> str:
        """Where on a cluster it is, such as tls://10.0.0.7:40123; empty on the app's own machine."""
        ...

    def begin(self) -> None: ...
    def send(self, message: protocol.Command) -> None: ...
    def kill(self) -> None: ...
    def close(self) -> None: ...
    def wait(self, timeout: float | None = None) -> bool: ...
    def is_stopped(self) -> bool: ...
    def memory(self) -> int: ...
    def how_it_ended(self) -> str: ...


Launch = Callable[[str, Sequence[str], Callable[[protocol.Report], None], Callable[[], None]], Process]
"""Start ``python -m engine.serving.worker``: a name for the process's threads, the arguments, and two functions that are called on
its reader thread: with each report, and at its end, last of all. Raises OSError."""


@dataclass(eq=False)
class Machine:
    """A computer, or the part of one, on which worker processes are started."""

    slots: int
    """The number of processes that train runs in turns."""
    memory: int
    """The bytes that each of them may take."""
    launch: Launch
    name: str = HERE
    """Empty for the machine that the app runs on."""
    most_runs: int | None = None
    """The runs that a process takes at once; None: as the limits say."""


class Cluster:
    """Machines that join and leave while the app runs; of this class itself there are none."""

    connecting = False
    """Whether it is not known yet whether there are any."""
    problem = ""
    """One sentence where the cluster cannot be reached, else empty."""

    @property
    def machines(self) -> Sequence[Machine]:
        """Those that take processes now."""
        return ()

    def start(self, changed: Callable[[], None]) -> None:
        """``changed`` is called, on a thread of the cluster's own, when machines have joined or left."""

    def close(self) -> None:
        """Let its machines go."""


def launch_here(
    name: str, arguments: Sequence[str], on_message: Callable[[protocol.Report], None], on_end: Callable[[], None]
) -> Process:
    return ChildProcess[protocol.Command, protocol.Report](
        name, ["-m", "engine.serving.worker", *arguments], write=send, read=receive,
        on_message=on_message, on_end=on_end,
    )  # fmt: skip


def memory_for(role: protocol.Role, machine: Machine, limits: Limits) -> int:
    """The bytes that a process may take: one with a single run as much as a worker and the largest allowed run."""
    return min(machine.memory, WORKER_BYTES + int(limits.memory)) if role == "own" else machine.memory


class Machines:
    """All machines that processes may be started on."""

    def __init__(self, limits: Limits, slots: int, cluster: Cluster | None = None) -> None:
        """``slots``: the processes that train on the app's own machine."""
        self._here = Machine(slots, int(limits.worker_memory), launch_here)
        self.cluster = cluster or Cluster()

    @property
    def training(self) -> list[Machine]:
        """Those on which runs are trained now: the app's own only while there is no other, so that its cores are the pages'."""
        return list(self.cluster.machines) or ([] if self.cluster.connecting else [self._here])

    @property
    def slots(self) -> int:
        """The number of processes that train, when all are up; as on the app's own machine while no other is known."""
        return sum(machine.slots for machine in self.training) or self._here.slots

    @property
    def measuring(self) -> str:
        """The name of the machine on which times are measured: always the same of those that train, as long as it is there."""
        return min((machine.name for machine in self.training), default=HERE)

    def find(self, name: str) -> Machine | None:
        """The machine of that name; None where it has left."""
        return next((machine for machine in [self._here, *self.training] if machine.name == name), None)
