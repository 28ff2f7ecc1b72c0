"""The posts: what worker processes are there for. Each process fills one post."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["runs", "jobs", "own"]
"""``runs``: trains runs that take turns. ``jobs``: answers jobs and never trains a run. ``own``: trains one run and ends with it."""


@dataclass(frozen=True)
class Post:
    role: Role
    number: int = 0
    """Counted from 0 in each role on each machine. The worker with the number i owns the accelerator i of its machine."""
    run_id: str = ""
    """The run of an ``own`` process, else empty."""
    machine: str = ""
    """The name of the machine; empty for the app's own."""

    def __str__(self) -> str:
        named = {
            "runs": f"Worker {self.number}",
            "jobs": f"Job process {self.number}",
            "own": f"Process of run {self.run_id}",
        }
        return f"{named[self.role]} on {self.machine}" if self.machine else named[self.role]
