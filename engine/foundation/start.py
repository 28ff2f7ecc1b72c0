"""The start of a Python process with pipes of its own: forked from the warm fork server where that is safe, else spawned."""

from __future__ import annotations

import atexit
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import BinaryIO, Protocol

from engine.foundation.fork_server import NUMBER, Request

ROOT = Path(__file__).resolve().parents[2]
"""The folder in which ``python -m engine...`` finds the package."""
WARM = (
    "engine.workers.worker", "engine.training.train", "engine.training.speed", "engine.sweeps.measure", "engine.notebooks.play",
    "engine.analysis.attention.changes", "engine.analysis.attention.checks", "engine.analysis.attention.heads",
    "engine.analysis.attention.steps", "engine.analysis.encodings.portraits", "engine.analysis.text.questions",
    "torch._dynamo", "torch.profiler",
)  # fmt: skip
"""The modules that the fork server imports: those of the children, of their questions, and what the first training step imports."""


HANGS_AFTER = 60.0
"""Seconds without coming to a request after which a fork server hangs: it is killed with the child that was asked for."""


class Started(Protocol):
    """A process that was started: the part of :class:`subprocess.Popen` that its parent uses."""

    @property
    def pid(self) -> int:
        """Its number; 0 until it is known."""
        ...

    @property
    def stdin(self) -> BinaryIO: ...
    @property
    def stdout(self) -> BinaryIO: ...
    @property
    def returncode(self) -> int | None:
        """As that of Popen; None before :meth:`wait` has returned, and where it cannot be known."""
        ...

    def begin(self) -> None:
        """Wait until the process is there."""

    def kill(self) -> None: ...
    def wait(self) -> object: ...


class Spawned(subprocess.Popen[bytes]):
    """A process that imports for itself all that it needs."""

    stdin: BinaryIO
    stdout: BinaryIO

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        super().__init__(
            [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=environment,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip

    def begin(self) -> None:
        """It is there since the constructor."""


class Forked:
    """A process that the fork server has been asked for. The constructor does not wait; :meth:`begin` does."""

    def __init__(
        self, server: ForkServer, module: str, arguments: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        self.pid = 0
        self.returncode: int | None = None
        self._server, self._asked_at = server, time.monotonic()
        self._awaited = True
        self._killed, self._lock = False, Lock()
        self._handle: int | None = None  # a pidfd: it never means another process
        self._end, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        input_, stdin = os.pipe()
        stdout, output = os.pipe()
        self.stdin, self.stdout = os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb")
        try:
            server.send(Request(module, list(arguments), dict(environment)), [input_, output, 2, end.fileno()])
        finally:
            end.close()
            os.close(input_)
            os.close(output)

    def begin(self) -> None:
        body, given, _, _ = socket.recv_fds(self._end, NUMBER.size, 1, socket.MSG_CMSG_CLOEXEC)
        self._awaited = False
        if not body:
            return  # the fork server ended before it came to this request; the pipes are closed
        with self._lock:
            (self.pid,), (self._handle,) = NUMBER.unpack(body), given
        if self._killed:
            self.kill()

    def kill(self) -> None:
        with self._lock, suppress(ProcessLookupError):
            self._killed = True
            if self._handle is not None:
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            elif self._awaited and time.monotonic() - self._asked_at > HANGS_AFTER:
                self._server.kill()

    def wait(self) -> None:
        """Wait for the end; to be called once. The status is unknown where the fork server ended before the process, or hangs."""
        if self._handle is not None:
            gone = select.poll()
            gone.register(self._handle, select.POLLIN)
            gone.poll()
            with self._lock:
                os.close(self._handle)
                self._handle = None
        with self._end, suppress(OSError):
            self._end.settimeout(HANGS_AFTER)
            if body := self._end.recv(NUMBER.size):
                (self.returncode,) = NUMBER.unpack(body)


class ForkServer:
    """This program's fork server: started with the first child, and anew where it was killed; its children go on without it."""

    def __init__(self) -> None:
        self._lock = Lock()
        atexit.register(self.close)
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    @property
    def pid(self) -> int:
        """Its process's number; 0 where none was started."""
        return self._process.pid if self._process else 0

    def send(self, request: Request, descriptors: Sequence[int]) -> None:
        """Pass a request on. Raises OSError where no fork server can be started."""
        with self._lock:
            if self._socket is not None and self._process is not None and self._process.poll() is None:
                with suppress(ConnectionError):
                    return request.send(self._socket, descriptors)
            request.send(self._start(request.environment), descriptors)

    def _start(self, environment: Mapping[str, str]) -> socket.socket:
        self._close()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "engine.foundation.fork_server", str(theirs.fileno()), *WARM]
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=ROOT, env=environment,
                pass_fds=[theirs.fileno()],
            )  # fmt: skip
        return self._socket

    def kill(self) -> None:
        """End its process, which hangs; the next child has a new one."""
        if process := self._process:
            process.kill()

    def close(self) -> None:
        """End the fork server; one that is importing would else do that to the end."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._socket is not None and self._process is not None:
            self._socket.close()
            self._process.kill()
            self._process.wait()
            self._socket = self._process = None


FORK_SERVER = ForkServer()


def can_fork() -> bool:
    """Whether children are forked: on Linux, where the system hands over descriptors of processes. Elsewhere a process that has
    imported numerical libraries cannot be forked safely."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return sys.platform == "linux"


FORKS = can_fork()


def start(command: Sequence[str], environment: Mapping[str, str]) -> Started:
    """Start Python with these arguments and exactly this environment, in :data:`ROOT`. ``-m MODULE ...`` is forked where that is
    safe: the module's ``main`` is called. Raises OSError."""
    if FORKS and command[0] == "-m":
        return Forked(FORK_SERVER, command[1], command[2:], environment)
    return Spawned(command, environment)
