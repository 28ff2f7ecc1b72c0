"""The fork server: one warm process that has imported torch, of which each child process is a copy that is ready at once.

``python -m engine.serving.processes.fork_server FD MODULE...`` is the process: it imports the modules in its only thread and waits
on the socket ``FD`` for requests (:mod:`engine.serving.processes.forked` sends them). It never computes, so that no thread, no
device and no random state crosses a fork, and it ends when the program that started it does. ``multiprocessing.forkserver`` would
give it, and so every child, the server's whole environment, with its secrets; and its children import the server's ``__main__``
again and have no pipes.
"""

import errno
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.foundation.log import LOG
from engine.serving.processes.priority import JOBS, give_way

ROOT = Path(__file__).resolve().parents[3]
MAX_REQUEST_BYTES = 2**20
# messages about a child on its socket: first the process's number, with a pidfd, last its exit status
NUMBER = struct.Struct("!i")
N_DESCRIPTORS = 4  # of a request: the child's stdin, stdout and stderr, and the socket that reports its end


@dataclass(frozen=True)
class Request:
    """``python -m MODULE ARGUMENTS...`` with exactly this environment."""

    module: str
    arguments: Sequence[str]
    environment: dict[str, str]

    def send(self, server: socket.socket, descriptors: Sequence[int]) -> None:
        socket.send_fds(server, [json.dumps(vars(self)).encode()], descriptors)


def serve(server: socket.socket) -> Callable[[], object] | None:
    """Fork a child for each request, and report the end of each. Returns the child's work, in the child; None at the end."""
    children: dict[
        int, tuple[int, socket.socket]
    ] = {}  # by pidfd: its number, and the socket on which its end is reported
    events = select.poll()
    events.register(server, select.POLLIN)
    while True:
        for descriptor, _ in events.poll():
            if descriptor in children:
                events.unregister(descriptor)
                _tell_end(descriptor, *children.pop(descriptor))
                continue
            body, given, _, _ = socket.recv_fds(server, MAX_REQUEST_BYTES, N_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
            if not body:
                return None
            try:
                if len(given) < N_DESCRIPTORS:
                    raise OSError(errno.EMFILE, "the fork server has no descriptors left")
                pid = os.fork()
            except OSError as error:  # also without memory, or with too many processes: who asked sees its pipes closed
                LOG.error("A process cannot be started: %s.", error.strerror)
                for inherited in given:
                    os.close(inherited)
                continue
            if pid == 0:
                server.close()
                for handle, (_, end) in children.items():
                    os.close(handle)
                    end.close()
                return _become(Request(**json.loads(body)), given)
            for inherited in given[:3]:
                os.close(inherited)
            end = socket.socket(fileno=given[3])
            handle = os.pidfd_open(pid)
            children[handle] = pid, end
            events.register(handle, select.POLLIN)
            with suppress(OSError):  # who asked is gone; so is the child's input
                socket.send_fds(end, [NUMBER.pack(pid)], [handle])


def _tell_end(handle: int, pid: int, end: socket.socket) -> None:
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(handle)
    with suppress(OSError), end:
        end.send(NUMBER.pack(status))


def _become(request: Request, given: Sequence[int]) -> Callable[[], object]:
    for number, descriptor in enumerate(given[:3]):
        os.dup2(descriptor, number)
    for descriptor in given:
        os.close(descriptor)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request.environment)
    sys.argv = [request.module, *request.arguments]
    _draw_new_seeds()

    def main() -> object:
        return importlib.import_module(request.module).main()

    return main


def _draw_new_seeds() -> None:
    # all children would else draw the same numbers; Python's ``random`` draws a seed itself
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()
    if torch := sys.modules.get("torch"):
        torch.default_generator.seed()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal reaches it, too: its parent ends it
    give_way(JOBS)  # also while it imports, beside the pages
    server = socket.socket(fileno=int(sys.argv[1]))
    hangups = select.poll()
    hangups.register(server, select.POLLHUP)
    failed = ""
    for module in sys.argv[2:]:
        if hangups.poll(0):
            return
        try:
            importlib.import_module(module)
        except (Exception, SystemExit) as error:  # each child that needs it fails
            failed = failed or f"{module} ({type(error).__name__}: {error})"
    if failed:
        LOG.error("The fork server cannot import %s.", failed)
    gc.collect()
    gc.freeze()  # what is never looked at again stays shared with the children
    if child := serve(server):
        child()


if __name__ == "__main__":
    main()
