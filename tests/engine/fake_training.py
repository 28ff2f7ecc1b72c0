"""A stand-in for ``engine.training.train`` without torch: the pool's tests are fast, and each run misbehaves as its seed says."""

import mmap
import os
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np

from engine.config.run_config import RunConfig
from engine.foundation.files import data_folder
from engine.foundation.job import Job
from engine.runs.events import Event, Finished, Progress, Sample, Snapshot, Started
from engine.runs.record_options import DEFAULT_RECORD, SNAPSHOT_NOW, RecordOptions
from engine.settings.costs import Memory

RAISES, HANGS, HANGS_IN_THE_END, SHOUTS, DIES, GROWS, SHARES = range(101, 108)  # seeds of runs that go wrong at step 3
MEMORY = Memory(parameters=8, gradients=8, optimizer=16, saved=100, scores=10)


def config(steps: int = 20, seconds_per_step: float = 1e-6, seed: int = 0, **settings: Any) -> RunConfig:
    """The learning rate is the duration of a step (s)."""
    return RunConfig().replace(steps=steps, learning_rate=seconds_per_step, seed=seed, **settings)


class State:
    def __init__(self) -> None:
        self.model, self.step = None, 0

    def save(self, file: Path) -> None:
        file.write_text(str(self.step))

    def load(self, file: Path) -> None:
        self.step = int(file.read_text())


def begin(config: RunConfig, prediction: object = None) -> State:
    return State()


def loss_at(config: RunConfig, step: int) -> float:
    return 1 / (step + config.seed + 1)


def train(
    config: RunConfig,
    model: None = None,
    record: RecordOptions = DEFAULT_RECORD,
    prediction: object = None,
    measure: object = None,
    state: State | None = None,
) -> Generator[Event, str | None, None]:
    state = state or State()
    if state.step == 0:
        yield Started(10, MEMORY, 100.0, {"loss": 2.3}, 1.0, "cpu")
        if record.snapshots:
            yield snapshot_of(config, 0)
    try:
        for step in range(state.step + 1, config.steps + 1):
            time.sleep(config.learning_rate)
            if step == 3:
                misbehave(config.seed)
            state.step = step
            held_out = {"loss": loss_at(config, step)} if step == config.steps else None
            request = yield Progress(step, loss_at(config, step), 1.0, 0.01, 1000.0, validation=held_out)
            while request == SNAPSHOT_NOW:
                request = yield snapshot_of(config, step)
    except GeneratorExit:
        if config.seed == HANGS_IN_THE_END:
            time.sleep(3600)
        raise
    yield Finished(config.steps, {"loss": loss_at(config, config.steps)}, [], MEMORY, 0.1)


def snapshot_of(config: RunConfig, step: int) -> Snapshot:
    pattern = np.full((1, 2, 3, 3), step, np.float32)
    return Snapshot(step, {"self": pattern}, {"matrix": pattern[0, 0]}, [Sample(["1"], ["1"], ["2"])])


def hang_note(pid: int) -> Path:
    """A file that the process writes when it begins to hang in a step: it cannot report anything."""
    return data_folder() / f"{pid} hangs"


def misbehave(seed: int) -> None:
    if seed == RAISES:
        raise RuntimeError("the weights fell over\nand a second line")
    if seed == HANGS:
        hang_note(os.getpid()).touch()
        time.sleep(3600)
    if seed == SHOUTS:
        print("this is not a message")
        os.write(1, b"nor is this\n")
    if seed == DIES:
        os._exit(7)
    while seed in (GROWS, SHARES):
        try:
            hoard.append(bytearray(PIECE) if seed == GROWS else shared(PIECE))
        except MemoryError:
            hoard.clear()
            raise
        time.sleep(0.2)


def shared(size: int) -> mmap.mmap:
    """Memory that the operating system's limit does not count."""
    memory = mmap.mmap(-1, size)
    for page in range(0, size, mmap.PAGESIZE):
        memory[page] = 1
    return memory


PIECE = 100 * 2**20
hoard: list[bytearray | mmap.mmap] = []


# Jobs


def add(a: int, b: int = 0) -> int:
    return a + b


def worker_pid() -> int:
    return os.getpid()


def fail() -> None:
    raise KeyError("nothing of that name")


def nap(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def note(file: str, text: str, seconds: float) -> str:
    """Write a line into a file, then take some time."""
    with open(file, "a") as notes:
        notes.write(f"{text}\n")
    time.sleep(seconds)
    return text


def read_stdin() -> str:
    print("a job prints")
    return sys.stdin.read()


class Add(Job[int], function=f"{__name__}:add"):
    a: int
    b: int = 0


class WorkerPid(Job[int], function=f"{__name__}:worker_pid"): ...


class PidAnywhere(WorkerPid, anywhere=True): ...


class Fail(Job[None], function=f"{__name__}:fail"): ...


class Nap(Job[float], function=f"{__name__}:nap"):
    seconds: float


class Note(Job[str], function=f"{__name__}:note"):
    file: str
    text: str
    seconds: float


class ReadStdin(Job[str], function=f"{__name__}:read_stdin"): ...


class NoSuchFunction(Job[None], function=f"{__name__}:no_such_function"): ...
