"""A run as a visitor's browser follows it: the event stream, what was seen of it and when, and what the board tells the page."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import aiohttp

LIVE = ("queued", "running", "paused")


@dataclass
class Board:
    """What was seen of one run. Times are those of ``time.perf_counter``."""

    run: str
    shown: float = field(default_factory=time.perf_counter)
    """When the page showed this run."""
    state: str = "queued"
    step: int = 0
    heard: bool = False
    """Whether a message has come."""
    last: int = 0
    """The number of the first event that has not come yet."""
    points: list[float] = field(default_factory=list)
    """When each message came that brought further steps."""
    polled: bool = False
    """Whether the stream was given up and the page polls."""
    reported: str = ""
    problem: str = ""

    @property
    def ended(self) -> bool:
        return self.state not in LIVE

    @property
    def updates_per_second(self) -> float | None:
        """From the first point to the last; None where there are too few to tell."""
        return (len(self.points) - 1) / (self.points[-1] - self.points[0]) if len(self.points) > 2 else None

    def take(self, news: dict[str, Any]) -> None:
        """Take in a message, streamed or polled."""
        status, self.heard = news["status"], True
        if news["last"] > self.last and status["step"] > self.step:
            self.points.append(time.perf_counter())
        self.last = max(self.last, news["last"])
        self.step, self.state, self.problem = status["step"], status["state"], status["problem"]

    def tells(self, page_state: str) -> bool:
        """Whether the page must hear of the state, because its buttons are out of date; once for each state."""
        now = _kind(self.state)
        if now in (_kind(page_state), self.reported):
            return False
        self.reported = now
        return True


def _kind(state: str) -> str:
    return "running" if state == "queued" else state


async def messages(http: aiohttp.ClientSession, address: str, run: str, after: int) -> AsyncIterator[dict[str, Any]]:
    """The messages of a run's event stream. Raises aiohttp.ClientError where it is refused or breaks off."""
    rest = b""
    async with http.get(f"{address}live/{run}", params={"after": str(after)}) as answer:
        answer.raise_for_status()
        async for chunk in answer.content.iter_any():
            *whole, rest = (rest + chunk).replace(b"\r\n", b"\n").split(b"\n\n")
            for message in whole:
                for line in message.split(b"\n"):
                    if line.startswith(b"data: "):
                        yield json.loads(line[6:])
