"""The torch-free training of the pool's tests, whose worker process is killed at the point of its life that the seed names."""

import os
import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any

from engine.config.run_config import RunConfig
from engine.runs.events import Event, Finished, Progress
from tests.engine import fake_training

POINTS = (
    "before it begins", "before the first step", "in a step", "in a validation", "writing the result",
    "saving the weights", "saving a run that leaves", "closing a stopped run",
)  # fmt: skip
FIRST = 200
MIDDLE = 30  # a process is killed here in the middle of a training


def seed_of(point: str) -> int:
    return FIRST + POINTS.index(point)


def die_at(point: str, seed: int) -> None:
    if seed == seed_of(point):
        os.kill(os.getpid(), signal.SIGKILL)


class Model:
    def __init__(self, seed: int) -> None:
        self.seed = seed

    @property
    def config(self) -> RunConfig:
        die_at("saving the weights", self.seed)
        return RunConfig()


class State(fake_training.State):
    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed
        self.model: Any = Model(seed) if seed == seed_of("saving the weights") else None

    def save(self, file: Path) -> None:
        die_at("saving a run that leaves", self.seed)
        super().save(file)


def begin(config: RunConfig, prediction: object = None) -> State:
    die_at("before it begins", config.seed)
    return State(config.seed)


def train(config: RunConfig, *given: Any) -> Generator[Event, str | None, None]:
    """Yield the stand-in's events, up to the point."""
    events = fake_training.train(config, *given)
    request: str | None = None
    try:
        while True:
            event = events.send(request)
            if isinstance(event, Finished):
                die_at("writing the result", config.seed)
            if isinstance(event, Progress) and event.step == MIDDLE:
                die_at("in a validation", config.seed)
            request = yield event
            if isinstance(event, Progress) and event.step == MIDDLE:
                die_at("in a step", config.seed)
            if not isinstance(event, Progress):
                die_at("before the first step", config.seed)
    except StopIteration:
        return
    except GeneratorExit:
        die_at("closing a stopped run", config.seed)
        events.close()
        raise
