"""The limits of a host. They are checked before a run starts, and a refusal says which setting to lower and to which value."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import NamedTuple

from pydantic import BaseModel, ByteSize, ConfigDict, Field, ValidationError

from engine.config.run_config import RunConfig
from engine.estimate.device import CPU
from engine.estimate.prediction import Prediction
from engine.foundation.formatting import in_bytes, in_time
from engine.runs.retention import Retention
from engine.serving import descriptors, host
from engine.settings.errors import ConfigError

PREFIX = "ATTENTION_LAB_"
GIB = 2**30
# settings that need less memory when lower, in the order of suggestion
SHRINKABLE = ("batch_size", "seq_len", "n_layers")


class Limits(BaseModel):
    """The defaults suit a personal computer; a public host chooses the profile ``public`` or lowers single limits by environment
    variables such as ``ATTENTION_LAB_STEPS``.

    Memory is in bytes, and may be written ``512MiB`` or ``2GiB``; times are in seconds. A visitor is a browser, with all its tabs.
    Of a limit for everybody, a network address has at most half (:func:`engine.serving.allowances.has_share`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: int = Field(default=50_000, ge=1, description="Optimizer steps of one run.")
    memory: ByteSize = Field(
        default=ByteSize(2 * GIB), gt=0, description="Predicted peak memory of one run in the host's memory."
    )
    accelerator_memory: ByteSize | None = Field(
        default=None, gt=0, description="Predicted peak memory of one run on a GPU; by default the free memory."
    )
    seconds: float = Field(default=7200.0, gt=0, description="Predicted time of one run.")

    runs_per_visitor: int = Field(default=64, ge=1, description="Runs of one visitor that go or wait at once.")
    experiments_per_visitor: int = Field(default=1, ge=1, description="Experiments of one visitor at once.")
    sweeps_per_visitor: int = Field(default=1, ge=1, description="Sweeps over lengths of one visitor at once.")
    jobs_per_visitor: int = Field(default=16, ge=1, description="Questions of one visitor to a model at once.")
    streams_per_visitor: int = Field(default=12, ge=1, description="Event streams of one visitor; further pages poll.")
    tabs_per_visitor: int = Field(default=100, ge=1, description="Open tabs of one visitor.")
    inputs_per_visitor: ByteSize = Field(
        default=ByteSize(16 * 2**20),
        gt=0,
        description="Files, typed texts and controls of one visitor's open pages, in memory.",
    )
    texts_per_visitor: int = Field(default=20, ge=1, description="Own texts of one visitor that are kept, the newest.")

    queue_length: int = Field(default=256, ge=1, description="Runs of everybody that wait at once.")
    runs_per_worker: int = Field(
        default=64, ge=1, description="Runs that take turns on one worker while they fit into it."
    )
    experiments: int = Field(default=100, ge=1, description="Experiments of everybody at once.")
    sweeps: int = Field(default=100, ge=1, description="Sweeps over lengths of everybody at once.")
    jobs: int = Field(default=200, ge=1, description="Questions of everybody to a model at once.")
    streams: int = Field(default=150, ge=1, description="Event streams of everybody; further pages poll.")
    tabs: int = Field(default_factory=descriptors.for_tabs, ge=1, description="Open tabs of everybody.")
    inputs: ByteSize = Field(
        default=ByteSize(256 * 2**20),
        gt=0,
        description="Files, typed texts and controls of everybody's open pages, in memory.",
    )
    workers: int = Field(default_factory=host.worker_count, ge=1, description="Worker processes that train.")
    job_processes: int = Field(
        default_factory=host.question_count,
        ge=1,
        description="Questions that are computed at once. A visitor never has two, so nobody waits for a few visitors.",
    )
    worker_memory: ByteSize = Field(
        default_factory=lambda given: ByteSize(host.for_workers() // given["workers"]),
        gt=0,
        description="A worker that takes more for itself is ended.",
    )
    grace_seconds: float = Field(
        default=10.0, gt=0, description="A run that does not stop when asked is ended after this."
    )
    silent_seconds: float = Field(
        default=120.0, gt=0, description="A run whose step or evaluation takes longer is ended."
    )
    niceness: int = Field(
        default=19,
        ge=0,
        le=19,
        description="The most by which what computes gives way to the pages and to other programs.",
    )
    kept_runs_per_visitor: int = Field(
        default=200, ge=1, description="The newest run folders of one visitor that are kept."
    )
    pinned_runs_per_visitor: int = Field(default=50, ge=0, description="Runs that one visitor keeps for good.")
    kept_runs: int = Field(default=2000, ge=1, description="The newest run folders of everybody that are kept.")
    kept_bytes: ByteSize = Field(default=ByteSize(4 * GIB), gt=0, description="Size of all run folders together.")

    @property
    def retention(self) -> Retention:
        return Retention(self.kept_runs, self.kept_bytes, self.kept_runs_per_visitor, self.pinned_runs_per_visitor)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> Limits:
        """The limits of the environment's profile, with single ones on top. Raises ValueError with one sentence for the
        first variable that does not fit."""
        given = {name: environ[variable_of(name)] for name in cls.model_fields if variable_of(name) in environ}
        profile = environ.get(PROFILE, "own")
        if profile not in PROFILES:
            raise ValueError(f"{PROFILE} is {profile!r}; it must be {' or '.join(PROFILES)}.")
        try:
            limits = cls.model_validate({**PROFILES[profile], **given})
        except ValidationError as error:
            item = error.errors()[0]
            name = str(item["loc"][0])
            raise ValueError(f"{variable_of(name)} is {given[name]!r}: {item['msg'].lower()}.") from None
        # a larger machine may train the runs; else no worker of this host could give a run more
        if "memory" in given:
            return limits
        return limits.model_copy(update={"memory": min(limits.memory, limits.worker_memory - host.WORKER_BYTES)})


PROFILE = PREFIX + "PROFILE"
# public suits strangers on one core with 1 GB; a larger host raises workers
PROFILES: Mapping[str, Mapping[str, object]] = {
    "own": {},
    "public": {
        "steps": 5_000, "memory": "192MiB", "accelerator_memory": "12GiB", "seconds": 180.0,
        "runs_per_visitor": 2, "jobs_per_visitor": 4, "streams_per_visitor": 6, "tabs_per_visitor": 20, "texts_per_visitor": 3,
        "inputs_per_visitor": "6MiB", "inputs": "24MiB", "queue_length": 128, "jobs": 128, "workers": 1,
        "kept_runs_per_visitor": 20, "pinned_runs_per_visitor": 10, "kept_bytes": "1GiB",
    },
}  # fmt: skip


def variable_of(name: str) -> str:
    return PREFIX + name.upper()


class Accelerator(NamedTuple):
    name: str
    memory: int  # bytes that runs may take; 0 if it shares the host's memory


def refusal(
    config: RunConfig,
    prediction: Prediction,
    limits: Limits,
    predict: Callable[[RunConfig], Prediction],
    accelerator: Accelerator | None = None,
) -> str | None:
    """The reason why this host refuses a config, in one sentence that names the setting and a value that fits; else None.

    ``prediction`` is the config's own; ``predict`` is called for smaller configs only. ``accelerator``: the one that the run would
    use here, if any.
    """
    if config.steps > limits.steps:
        return f"steps is {config.steps}; this host allows at most {limits.steps}."
    for cost, allowed, words in _weighed(limits, accelerator):
        if (needed := cost(prediction)) > allowed:
            fits = largest_that_fits(config, allowed, lambda smaller, cost=cost: cost(predict(smaller)))  # type: ignore[misc]
            advice = f"set {fits[0]} to {fits[1]} or less" if fits else "choose a much smaller model"
            given = f"{fits[0]} is {config.value(fits[0])}: " if fits else ""
            reason = words.format(needed=in_bytes(needed), allowed=in_bytes(allowed))
            return f"{given}the run would take {reason}; {advice}."
    seconds = prediction.seconds(config.steps)
    if accelerator is not None and prediction.device.timed == CPU:
        return None  # the speed of the accelerator is not measured yet
    if seconds is not None and seconds > limits.seconds:
        steps = most_steps(prediction, limits.seconds)
        reason = f"would take about {in_time(seconds)} and this host allows {in_time(limits.seconds)}"
        advice = f"set steps to {steps} or less" if steps > 0 else "choose a smaller model or a shorter seq_len"
        return f"steps is {config.steps}: the run {reason}; {advice}."
    return None


def _weighed(limits: Limits, on: Accelerator | None) -> list[tuple[Callable[[Prediction], int], int, str]]:
    """For each limited memory of a run: its bytes in a prediction, the bytes allowed, and the words for both."""
    whole, beside = attrgetter("peak"), attrgetter("beside")
    if on is None or not on.memory:
        return [(whole, limits.memory, "{needed} and this host allows {allowed}")]
    allowed, there = on.memory, f"{{needed}} of the memory of {on.name}, which has {{allowed}} for it"
    if limits.accelerator_memory is not None and limits.accelerator_memory < on.memory:
        allowed = limits.accelerator_memory
        there = f"{{needed}} of the memory of {on.name} and this host allows {{allowed}}"
    return [
        (whole, allowed, there),
        (beside, limits.memory, f"{{needed}} of the host's memory with {on.name} and this host allows {{allowed}}"),
    ]


def most_steps(prediction: Prediction, seconds: float) -> int:
    """The largest number of steps that, with the measurements after them, take no longer than ``seconds``; 0 or less for none."""
    beside = (prediction.result_seconds or 0.0) + prediction.data_seconds
    in_steps = (seconds - beside) * (prediction.steps_per_second or 0.0)
    return int(in_steps - prediction.recording_steps)


def largest_that_fits(config: RunConfig, limit: int, cost: Callable[[RunConfig], int]) -> tuple[str, int] | None:
    for name in SHRINKABLE:
        low, high = 0, config.value(name)  # low fits or is 0; high does not fit
        assert isinstance(high, int)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if _fits(config, name, middle, limit, cost) else (low, middle)
        if low:
            return name, low
    return None


def _fits(config: RunConfig, name: str, value: int, limit: int, cost: Callable[[RunConfig], int]) -> bool:
    try:
        return cost(config.replace(**{name: value})) <= limit
    except ConfigError:
        return False
