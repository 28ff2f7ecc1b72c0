"""The word of a server process that it is alive, in the data folder: a file that it touches again and again.

Servers that share a data folder know by it which runs go on at another one and which were left by a process that is gone.
"""

from __future__ import annotations

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

EVERY = 5.0
"""Seconds between two touches."""
SILENT = 30.0
"""Seconds without a touch after which a server on another machine counts as gone."""


@dataclass(frozen=True)
class Holder:
    """A server process."""

    id: str
    pid: int
    host: str
    """The machine, and the container where there is one: process ids mean something within it only."""
    began: float
    """The time at which the process began (:func:`_began`): process ids are used again."""

    @classmethod
    def this(cls) -> Holder:
        return cls(secrets.token_hex(8), os.getpid(), _host(), _began(psutil.Process()))

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
    """This process's word, and those of the others, in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._holder = Holder.this()
        self._touched = -EVERY

    @property
    def id(self) -> str:
        """The name of this server process, which stands in the folders of its runs."""
        return self._holder.id

    def take(self) -> None:
        """Say that this server is alive. Raises OSError where the disk does not take it."""
        write_whole(self._file(self.id), json.dumps(asdict(self._holder)))
        self._touched = time.monotonic()

    def touch(self) -> None:
        """Say so again if it is time to. A disk that does not take it is tried again the next time."""
        if time.monotonic() - self._touched < EVERY:
            return
        self._touched = time.monotonic()
        with suppress(OSError):
            try:
                os.utime(self._file(self.id))
            except FileNotFoundError:
                self.take()

    def release(self) -> None:
        """This server ends."""
        with suppress(OSError):
            self._file(self.id).unlink(missing_ok=True)

    def others(self) -> list[Holder]:
        """The other servers that are alive."""
        return [holder for holder in self._holders() if holder.id != self.id and self._alive(holder)]

    def elsewhere(self, server: str) -> bool:
        """Whether the server of that name is another one, and alive."""
        return any(holder.id == server for holder in self.others()) if server else False

    def tidy(self) -> None:
        """Delete the files of servers that are gone."""
        for holder in self._holders():
            if holder.id != self.id and not self._alive(holder):
                with suppress(OSError):
                    self._file(holder.id).unlink(missing_ok=True)

    def _alive(self, holder: Holder) -> bool:
        if (running := holder.running) is not None:  # known whatever the clocks say, which may be set anew
            return running
        try:
            age = time.time() - self._file(holder.id).stat().st_mtime
        except OSError:
            return False
        return abs(age) < SILENT

    def _holders(self) -> Iterator[Holder]:
        for file in self._folder.glob("*.json"):
            with suppress(OSError, ValueError, TypeError):
                holder = Holder(**json.loads(file.read_text("utf-8")))
                if holder.id == file.stem:
                    yield holder

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
