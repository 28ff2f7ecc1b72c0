"""The messages between the pool and a worker: small frozen dataclasses, sent as in :mod:`engine.serving.processes.messages`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from engine.estimate.device import DeviceFacts
from engine.estimate.prediction import Prediction
from engine.foundation.job import Job
from engine.runs.events import Event
from engine.runs.request import RunRequest

# runs: trains runs that take turns. jobs: answers jobs and never trains a run. dedicated: trains one run and ends with it.
Role = Literal["runs", "jobs", "dedicated"]


@dataclass(frozen=True)
class Start:
    run_id: str
    request: RunRequest
    prediction: Prediction
    folder: str  # absolute or in the data folder; the worker saves the weights there
    known_step: int | None = None
    """The last step that the pool knows of a run that continues, from the state in its folder, or else from its beginning: the
    steps up to that one are repeated. None: a new run."""


# Controls of a run by its owner. pause: after the step in progress, with a snapshot. step: take exactly one optimizer step and a
# snapshot, and pause. resume: continue after a pause.
Steering = Literal["pause", "step", "resume", "set pace"]
Action = Literal[Steering, "stop", "checkpoint"]  # checkpoint: save the run's state in its folder and release the run


@dataclass(frozen=True)
class Control:
    run_id: str
    action: Action
    pace: float | None = None  # optimizer steps per second of ``set pace``; None is full speed


@dataclass(frozen=True)
class Followers:
    # any of the followers has a page open; a run that nobody waits for gets time that no other run wants
    present: bool
    # Visitor.flow of each follower who is present, of all if nobody is
    flows: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Audience:
    """The followers of all runs of the worker, by the run's id. It comes before :class:`Start`, and again with each change."""

    runs: Mapping[str, Followers]


@dataclass(frozen=True)
class Ask:
    job_id: str
    job: Job[Any]


@dataclass(frozen=True)
class Ping:
    """A question to an idle worker, whose main loop answers with :class:`Busy`."""


Command = Start | Audience | Control | Ask | Ping


@dataclass(frozen=True)
class Ready:
    """The worker takes runs or jobs from now on: it has imported everything."""

    facts: DeviceFacts


@dataclass(frozen=True)
class Busy:
    """The run or job that the worker computes from now on, so that one that never returns can be named."""

    task_id: str | None


@dataclass(frozen=True)
class RunUpdate:
    run_id: str
    events: list[Event] = field(default_factory=list)
    state: Literal["running", "paused", "saved", "unsaved", "checkpointed", "over"] | None = None
    """``saved``: its state is in its folder; ``unsaved``: it could not be saved. The run continues. ``checkpointed``: it has left
    the worker, and its state is in its folder if it had begun. ``over``: it has left the worker, and these are the last events."""


@dataclass(frozen=True)
class JobAnswer:
    job_id: str
    value: bytes = b""  # pickled by write_value()
    error: str = ""  # one sentence if the job failed


Report = Ready | Busy | RunUpdate | JobAnswer
