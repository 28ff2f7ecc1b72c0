"""The lease of a server process: a file in the data folder that it touches again and again, its heartbeat.

Servers that share a data folder know by it which runs go on at another one and which were left by a process that is gone.
"""

import json
import os
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from engine.foundation.files import write_whole
from engine.foundation.stored_json import read_json

EVERY = 5.0
"""Seconds between two heartbeats."""
SILENT = 30.0
"""Seconds without a heartbeat after which a server on another machine counts as gone."""


@dataclass(frozen=True)
class Holder:
    """A server process."""

    id: str
    pid: int
    host: str
    """The machine, and the container where there is one: process ids mean something within it only."""
    began: float
    """The time at which the process began (:func:`_began`): process ids are used again."""

    @property
    def running(self) -> bool | None:
        """Whether the process is there; None where that cannot be known from here."""
        if self.host != _host():
            return None
        try:
            process = psutil.Process(self.pid)
            return abs(_began(process) - self.began) < 2 and process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False
        except psutil.Error:
            return None


class ServerLease:
    """The lease of this process, and those of the others, in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._touched = folder, -EVERY
        self._holder = Holder(secrets.token_hex(8), os.getpid(), _host(), _began(psutil.Process()))
        self.id = self._holder.id
        """The name of this server process, which stands in the folders of its runs."""

    def take(self) -> None:
        """Write the lease. Raises OSError where the disk does not take it."""
        write_whole(self._file(self.id), json.dumps(asdict(self._holder)))
        self._touched = time.monotonic()

    def touch(self) -> None:
        """Give a heartbeat if it is time to. A disk that does not take it is tried again the next time."""
        if time.monotonic() - self._touched >= EVERY:
            self._touched = time.monotonic()
            with suppress(OSError):
                try:
                    os.utime(self._file(self.id))
                except FileNotFoundError:
                    self.take()

    def release(self) -> None:
        """Delete the lease: this server ends."""
        self._delete(self.id)

    def others(self) -> list[Holder]:
        """The other servers that are alive."""
        return [holder for holder, alive in self._read() if alive]

    def elsewhere(self, server: str) -> bool:
        """Whether the server of that name is another one, and alive."""
        return bool(server) and any(holder.id == server for holder in self.others())

    def tidy(self) -> None:
        """Delete the leases of servers that are gone."""
        for holder, alive in self._read():
            if not alive:
                self._delete(holder.id)

    def _read(self) -> Iterator[tuple[Holder, bool]]:
        """The other servers, and whether each is alive. Where its process can be looked at, no clock counts: it may be set anew."""
        for file in self._folder.glob("*.json"):
            with suppress(OSError, ValueError, TypeError):
                holder = Holder(**read_json(file))
                if holder.id == file.stem and holder.id != self.id:
                    running = holder.running
                    yield holder, abs(time.time() - file.stat().st_mtime) < SILENT if running is None else running

    def _delete(self, server: str) -> None:
        with suppress(OSError):
            self._file(server).unlink(missing_ok=True)

    def _file(self, server: str) -> Path:
        return self._folder / f"{server}.json"


def _began(process: psutil.Process) -> float:
    """The time at which a process began, in seconds since 1970. Under Linux since the start of the system: psutil adds the time of
    that start, which changes where the clock is set anew."""
    return float(process.create_time() - (psutil.boot_time() if psutil.LINUX else 0.0))


def _host() -> str:
    with suppress(OSError):
        return f"{socket.gethostname()} {os.readlink('/proc/self/ns/pid')}"
    return socket.gethostname()
