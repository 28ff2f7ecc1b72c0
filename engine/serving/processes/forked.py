"""Processes that a fork server forks, and this program's end of that server (:mod:`engine.serving.processes.fork_server`)."""

import atexit
import errno
import math
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from threading import Lock, RLock

import psutil

from engine.foundation.log import LOG
from engine.serving.processes.fork_server import NUMBER, ROOT, Request

# modules that the fork server imports: those of the children, of their questions, and of the first training step
WARM = (
    "engine.serving.worker", "engine.training.train", "engine.training.speed", "engine.analysis.measurements.cost",
    "engine.analysis.attention.changes", "engine.analysis.attention.checks", "engine.analysis.attention.heads",
    "engine.analysis.attention.steps", "engine.analysis.encodings.profiles", "engine.analysis.text.questions",
    "engine.training.first_run", "torch._dynamo", "torch.profiler",
)  # fmt: skip
# without an answer to a request, after which a fork server hangs: it is killed with the requested child
HANGS_AFTER = 60.0
POLL_SECONDS = 0.5  # between two checks of a silent fork server; found stopped twice, it is killed
TELLS_WITHIN = 5.0  # after the end of a child, for its fork server to report the status


def is_stopped(pid: int) -> bool:
    try:
        return bool(pid) and psutil.Process(pid).status() in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
    except psutil.Error:
        return False


class Forked:
    """The constructor does not wait for the process; :meth:`begin` does."""

    def __init__(self, module: str, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        self.pid = 0  # 0 until it is known
        # as Popen's; None before wait() has returned, and if it cannot be known
        self.returncode: int | None = None
        self._server, self._requested_at = FORK_SERVER, time.monotonic()
        self._awaited, self._killed, self._lock = True, False, Lock()
        self._handle: int | None = None  # a pidfd: it never means another process
        self._end, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with end, ExitStack() as theirs:
            input_, stdin = os.pipe()
            theirs.callback(os.close, input_)
            self.stdin = os.fdopen(stdin, "wb")
            stdout, output = os.pipe()
            theirs.callback(os.close, output)
            self.stdout = os.fdopen(stdout, "rb")
            self._server.send(Request(module, list(arguments), dict(environment)), [input_, output, 2, end.fileno()])

    def begin(self) -> None:
        """Wait until the process is there, or the fork server refuses, ends or hangs. Raises OSError if this program has no
        descriptor left for it: the process ends with its input."""
        self._hears()
        body, given, _, _ = socket.recv_fds(self._end, NUMBER.size, 1, socket.MSG_CMSG_CLOEXEC)
        self._awaited = False
        if not body:
            return  # the fork server did not start it; the pipes are closed
        if not given:
            raise OSError(errno.EMFILE, "no descriptor is left for a process")
        with self._lock:
            (self.pid,), (self._handle,) = NUMBER.unpack(body), given
        if self._killed:
            self.kill()

    def _hears(self, seconds: float = math.inf) -> bool:
        """Wait for the fork server to send something, or to end: one that hangs is killed. False if ``seconds`` passed first."""
        waits, stopped = select.poll(), 0
        waits.register(self._end, select.POLLIN)
        while not waits.poll(POLL_SECONDS * 1000):
            seconds -= POLL_SECONDS
            if seconds <= 0:
                return False
            stopped = stopped + 1 if is_stopped(self._server.pid) else 0
            if stopped == 2:  # once may be the moment in which all processes of a terminal go on
                LOG.warning("The fork server (process %d) hangs and is replaced.", self._server.pid)
                self._server.kill()
        return True

    def kill(self) -> None:
        with self._lock, suppress(ProcessLookupError):
            self._killed = True
            if self._handle is not None:
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            elif self._awaited and time.monotonic() - self._requested_at > HANGS_AFTER:
                self._server.kill()

    def wait(self) -> None:
        """Wait for the end; to be called once. The status is unknown if the fork server ended before the process, or is silent."""
        if self._handle is not None:
            poll = select.poll()
            poll.register(self._handle, select.POLLIN)
            poll.poll()
            with self._lock:
                os.close(self._handle)
                self._handle = None
        with self._end, suppress(OSError):
            if self._hears(TELLS_WITHIN) and (body := self._end.recv(NUMBER.size)):
                (self.returncode,) = NUMBER.unpack(body)


class ForkServer:
    """This program's fork server: started with the first child, and again after it was killed. Its children continue without it."""

    def __init__(self) -> None:
        self._lock = RLock()
        atexit.register(self.close)
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    @property
    def pid(self) -> int:
        # 0 if none was started
        return self._process.pid if self._process else 0

    def send(self, request: Request, descriptors: Sequence[int]) -> None:
        """Raises OSError if no fork server can be started."""
        with self._lock:
            if self._socket is not None and self._process is not None and self._process.poll() is None:
                with suppress(ConnectionError):
                    return request.send(self._socket, descriptors)
            request.send(self._start(request.environment), descriptors)

    def _start(self, environment: Mapping[str, str]) -> socket.socket:
        self.close()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", Request.__module__, str(theirs.fileno()), *WARM]
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=ROOT, env=environment,
                pass_fds=[theirs.fileno()],
            )  # fmt: skip
        return self._socket

    def kill(self) -> None:
        if process := self._process:
            process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL_SECONDS)

    def close(self) -> None:
        with self._lock:
            if self._socket is not None and self._process is not None:
                self._socket.close()
                # one that is importing would else continue to the end
                self._process.kill()
                self._process.wait()
                self._socket = self._process = None


FORK_SERVER = ForkServer()
