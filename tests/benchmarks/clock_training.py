"""A stand-in for the training whose loss is the time at which a step was made, by the computer's clock."""

from __future__ import annotations

import time
from collections.abc import Generator

from engine.config.run_config import RunConfig
from engine.runs.events import Event, Finished, Progress, Started
from tests.engine.fake_training import MEMORY, State, begin

__all__ = ["begin", "train"]

EVERY = 0.01
"""Seconds of a step."""


def train(config: RunConfig, *given: object, state: State | None = None) -> Generator[Event, str | None, None]:
    yield Started(10, MEMORY, 100.0, {"loss": 2.3}, 1.0, "cpu")
    for step in range(1, config.steps + 1):
        time.sleep(EVERY)
        yield Progress(step, time.time(), 1.0, 0.01, 1000.0)
    yield Finished(config.steps, {"loss": 0.0}, [], MEMORY, 0.1)
