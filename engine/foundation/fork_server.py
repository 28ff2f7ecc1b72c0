"""The fork server: one warm process that has imported torch, of which each child process is a copy that is ready at once.

:class:`ForkServer` is the program's end of it. ``python -m engine.foundation.fork_server FD MODULE...`` is the process: it imports the
modules in its only thread and waits on the socket ``FD`` for requests. It never computes, so that no thread, no device and no random
state crosses a fork, and it ends when the program that started it does. ``multiprocessing.forkserver`` would give it, and so every
child, the server's whole environment, with its secrets; and its children import the server's ``__main__`` again and have no pipes of
their own.
"""

import atexit
import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, RLock

from engine.foundation.priority import JOBS, give_way

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
REQUEST = 2**20
"""The most bytes of a request."""
NUMBER = struct.Struct("!i")
"""The messages about a child on its own socket: first the process's number, with a pidfd, last its exit status."""
N_DESCRIPTORS = 4
"""The descriptors of a request: the child's stdin, stdout and stderr, and the socket on which its end is told."""


@dataclass(frozen=True)
class Request:
    """A child to be started: ``python -m MODULE ARGUMENTS...`` with exactly this environment."""

    module: str
    arguments: Sequence[str]
    environment: dict[str, str]

    def send(self, server: socket.socket, descriptors: Sequence[int]) -> None:
        socket.send_fds(server, [json.dumps(vars(self)).encode()], descriptors)


def serve(server: socket.socket) -> Callable[[], object] | None:
    """Fork a child for each request, and tell the end of each. Returns what a child does, in the child; None at the end."""
    told: dict[int, tuple[int, socket.socket]] = {}  # by pidfd: the child, and the socket on which its end is told
    events = select.poll()
    events.register(server, select.POLLIN)
    while True:
        for descriptor, _ in events.poll():
            if descriptor in told:
                events.unregister(descriptor)
                _tell_end(descriptor, *told.pop(descriptor))
                continue
            body, given, _, _ = socket.recv_fds(server, REQUEST, N_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
            if not body:
                return None
            try:
                pid = os.fork()
            except OSError:  # no memory, or too many processes: who asked sees its pipes closed
                for own in given:
                    os.close(own)
                continue
            if pid == 0:
                server.close()
                for handle, (_, end) in told.items():
                    os.close(handle)
                    end.close()
                return _become(Request(**json.loads(body)), given)
            for own in given[:3]:
                os.close(own)
            end = socket.socket(fileno=given[3])
            handle = os.pidfd_open(pid)
            told[handle] = pid, end
            events.register(handle, select.POLLIN)
            with suppress(OSError):  # who asked is gone; so is the child's input
                socket.send_fds(end, [NUMBER.pack(pid)], [handle])


def _tell_end(handle: int, pid: int, end: socket.socket) -> None:
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(handle)
    with suppress(OSError), end:
        end.send(NUMBER.pack(status))


def _become(request: Request, given: Sequence[int]) -> Callable[[], object]:
    """Make this fresh copy of the fork server the process that was asked for. Returns its main function."""
    for number, descriptor in enumerate(given[:3]):
        os.dup2(descriptor, number)
    for descriptor in given:
        os.close(descriptor)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request.environment)
    sys.argv = [request.module, *request.arguments]
    _show([sys.executable, "-m", *sys.argv])
    _draw_new_seeds()

    def main() -> object:
        return importlib.import_module(request.module).main()

    return main


def _draw_new_seeds() -> None:
    """Give each child random numbers of its own where nobody sets a seed; Python's ``random`` sees to that itself."""
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()
    if torch := sys.modules.get("torch"):
        torch.default_generator.seed()


def _show(command: Sequence[str]) -> None:
    """Let ``ps`` show a command in place of the fork server's, as far as it fits where that stands in memory."""
    with suppress(OSError, ValueError), open("/proc/self/stat", "rb") as file:
        numbers = file.read().rpartition(b")")[2].split()
        first, last = map(int, numbers[45:47])  # arg_start and arg_end: fields 48 and 49, of which three are before
        shown = "\0".join(command).encode()[: last - first - 1]
        ctypes.memmove(first, shown.ljust(last - first, b"\0"), last - first)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal reaches it, too: its parent ends it
    give_way(JOBS)  # also while it imports, beside the pages
    server = socket.socket(fileno=int(sys.argv[1]))
    ended = select.poll()
    ended.register(server, select.POLLHUP)
    for module in sys.argv[2:]:
        if ended.poll(0):
            return
        with suppress(ImportError):  # each child that needs it says so
            importlib.import_module(module)
    gc.collect()
    gc.freeze()  # what is never looked at again stays shared with the children
    if child := serve(server):
        child()


class Forked:
    """A process that the fork server has been asked for. The constructor does not wait; :meth:`begin` does."""

    def __init__(self, module: str, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        self.pid = 0
        """Its number; 0 until it is known."""
        self.returncode: int | None = None
        """As that of Popen; None before :meth:`wait` has returned, and where it cannot be known."""
        self._server, self._asked_at = FORK_SERVER, time.monotonic()
        self._awaited, self._killed, self._lock = True, False, Lock()
        self._handle: int | None = None  # a pidfd: it never means another process
        self._end, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        input_, stdin = os.pipe()
        stdout, output = os.pipe()
        self.stdin, self.stdout = os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb")
        try:
            self._server.send(Request(module, list(arguments), dict(environment)), [input_, output, 2, end.fileno()])
        finally:
            end.close()
            os.close(input_)
            os.close(output)

    def begin(self) -> None:
        """Wait until the process is there."""
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
        self._lock = RLock()
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
        self.close()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", __name__, str(theirs.fileno()), *WARM]
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
            if self._socket is not None and self._process is not None:
                self._socket.close()
                self._process.kill()
                self._process.wait()
                self._socket = self._process = None


FORK_SERVER = ForkServer()


if __name__ == "__main__":
    main()
