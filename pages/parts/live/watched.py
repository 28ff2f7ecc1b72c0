"""What the board needs to know of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.config import RunConfig
from engine.encodings import ENCODINGS
from engine.events import Event

LIVE_STATES = ("queued", "running", "paused")
"""In any other state a run says nothing more."""


class Watched(Protocol):
    """The part of ``engine.runs.Run`` that is read here; events grow at the end while others read."""

    @property
    def id(self) -> str: ...
    @property
    def config(self) -> RunConfig: ...
    @property
    def state(self) -> str: ...
    @property
    def events(self) -> Sequence[Event]: ...
    @property
    def queue_place(self) -> int | None: ...


def has_ended(run: Watched) -> bool:
    return run.state not in LIVE_STATES


def color_of(config: RunConfig) -> str:
    """The one colour of a run's encoding."""
    return ENCODINGS[config.pos_encoding].color
