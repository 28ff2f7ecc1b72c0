"""The messages between the pool and a worker: small frozen dataclasses, pickled, each after its length.

The pipes are private to the two processes, so pickle is safe here. :func:`read_value` refuses whatever would import
torch into the page process.
"""

from __future__ import annotations

import io
import pickle
import struct
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal

from engine.estimate.prediction import Prediction
from engine.foundation.job import Job
from engine.runs.events import Event
from engine.runs.request import RunRequest

LENGTH = struct.Struct("!Q")


@dataclass(frozen=True)
class Start:
    run_id: str
    request: RunRequest
    prediction: Prediction
    folder: str
    """Absolute; the worker leaves the weights there."""


@dataclass(frozen=True)
class Pause:
    run_id: str


@dataclass(frozen=True)
class Step:
    run_id: str


@dataclass(frozen=True)
class Resume:
    run_id: str


@dataclass(frozen=True)
class Stop:
    run_id: str
    reason: str = ""


@dataclass(frozen=True)
class SetPace:
    run_id: str
    steps_per_second: float | None


@dataclass(frozen=True)
class Ask:
    job_id: str
    job: Job[Any]


@dataclass(frozen=True)
class Forget:
    """Nobody waits for this job any more."""

    job_id: str


Control = Pause | Step | Resume | Stop | SetPace
"""To a run that was started."""
Command = Start | Control | Ask | Forget
"""From the pool to a worker."""


@dataclass(frozen=True)
class Ready:
    """The worker has imported everything and trained a step, so the first run starts at once."""

    facts: dict[str, Any]


@dataclass(frozen=True)
class Busy:
    """The run or job that the worker computes from now on, so that one which never comes back can be named."""

    task_id: str | None


@dataclass(frozen=True)
class RunUpdate:
    """All that a worker says of a run: its next events, and its state where that has changed."""

    run_id: str
    events: list[Event] = field(default_factory=list)
    state: Literal["running", "paused", "over"] | None = None
    """``over``: these are its last events, and its place on the worker is free."""


@dataclass(frozen=True)
class Answer:
    job_id: str
    value: bytes = b""
    """Pickled by :func:`write_value`."""
    error: str = ""
    """One sentence; empty when all is well."""


Report = Ready | Busy | RunUpdate | Answer
"""From a worker to the pool."""


def send(stream: BinaryIO, message: Command | Report) -> None:
    body = write_value(message)
    stream.write(LENGTH.pack(len(body)) + body)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """The next message. Raises EOFError when the other side is gone, also in the middle of a message."""
    header = stream.read(LENGTH.size)
    if len(header) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(header)
    body = stream.read(length)
    if len(body) < length:
        raise EOFError
    return read_value(body)


def write_value(value: Any) -> bytes:
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


class _WithoutTorch(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] == "torch":
            raise TypeError(f"{module}.{name} cannot be sent: say it in numpy and plain Python.")
        return super().find_class(module, name)


def read_value(body: bytes) -> Any:
    """What :func:`write_value` wrote. Raises TypeError where it holds anything of torch."""
    return _WithoutTorch(io.BytesIO(body)).load()
