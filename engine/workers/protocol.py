"""The messages between the pool and a worker: small frozen dataclasses, pickled, each with its length in front.

The pipes are private to the two processes, so pickle is safe here. :func:`read_value` refuses whatever would import
torch into the page process.
"""

from __future__ import annotations

import io
import pickle
import struct
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal

# Up to Python 3.11 pydantic, with which the cluster checks messages, reads only this one.
from typing_extensions import TypedDict

from engine.estimate.prediction import Prediction
from engine.foundation.job import Job
from engine.runs.events import Event
from engine.runs.request import RunRequest

Role = Literal["runs", "jobs", "own"]
"""``runs``: trains runs that take turns. ``jobs``: answers jobs and never trains a run. ``own``: trains one run and ends with it."""
LENGTH = struct.Struct("!Q")


@dataclass(frozen=True)
class Start:
    run_id: str
    request: RunRequest
    prediction: Prediction
    folder: str
    """The path, absolute or in the data folder, in which the worker saves the weights."""
    saved_step: int | None = None
    """The last step that the pool knows of a run that continues with the state in its folder; None: it begins anew."""


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


@dataclass(frozen=True)
class SetPace:
    run_id: str
    steps_per_second: float | None


@dataclass(frozen=True)
class PutAway:
    """Save the run's state in its folder and let the run go."""

    run_id: str


@dataclass(frozen=True)
class Ask:
    job_id: str
    job: Job[Any]


@dataclass(frozen=True)
class Ping:
    """A question to an idle worker, whose main loop answers with :class:`Pong`."""


Control = Pause | Step | Resume | Stop | SetPace | PutAway
"""A command for a run that was started."""
Command = Start | Control | Ask | Ping
"""A message from the pool to a worker."""


class DeviceFacts(TypedDict, total=False):
    """Facts that a worker found about torch and its device; none with a stand-in for the training."""

    torch: str
    """The version."""
    accelerator: str | None
    """The kind, such as ``cuda``; None where there is none."""
    accelerators: int
    accelerator_name: str
    accelerator_memory: int
    """Bytes that are free on the GPU of this worker; 0 where it has none, or shares the host's memory (Apple's)."""


@dataclass(frozen=True)
class Ready:
    """The worker takes runs or jobs. It has imported everything."""

    facts: DeviceFacts


@dataclass(frozen=True)
class Busy:
    """The run or job that the worker computes from now on, so that one which never returns can be named."""

    task_id: str | None


@dataclass(frozen=True)
class RunUpdate:
    """The report on a run: its next events, and its state where that has changed."""

    run_id: str
    events: list[Event] = field(default_factory=list)
    state: Literal["running", "paused", "saved", "over", "put away", "kept"] | None = None
    """``saved``: the run goes on, and its state is in its folder. ``over``: these are the last events, and the run's place on the
    worker is free. ``put away``: its place is free, and its state is in its folder; ``kept``: it was to be put away, but its state
    could not be saved."""


@dataclass(frozen=True)
class Answer:
    job_id: str
    value: bytes = b""
    """The answer, pickled by :func:`write_value`."""
    error: str = ""
    """One sentence where the job failed, else empty."""


@dataclass(frozen=True)
class Pong:
    """The answer to :class:`Ping`: the main loop takes commands."""


Report = Ready | Busy | RunUpdate | Answer | Pong
"""A message from a worker to the pool."""


def send(stream: BinaryIO, message: Command | Report) -> None:
    send_body(stream, write_value(message))


def send_body(stream: BinaryIO, body: bytes) -> None:
    """Send a message that :func:`write_value` has pickled."""
    stream.write(LENGTH.pack(len(body)) + body)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """The next message. Raises EOFError when the other process is gone, also in the middle of a message."""
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
    """The value that :func:`write_value` pickled. Raises TypeError where it holds anything of torch."""
    return _WithoutTorch(io.BytesIO(body)).load()
