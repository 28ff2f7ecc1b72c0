"""How the pool is doing, as facts for a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class WorkerHealth:
    pid: int
    ready: bool
    runs: int
    memory: int
    """Resident bytes."""
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Health:
    workers: list[WorkerHealth]
    size: int
    """Workers there should be."""
    running: int
    paused: int
    queued: int
    problem: str = ""
    """One sentence when workers cannot be started."""

    @property
    def ready(self) -> int:
        return sum(worker.ready for worker in self.workers)

    @property
    def device(self) -> dict[str, Any]:
        """What the first ready worker found: ``torch``, ``accelerator``, ``accelerators``, ``accelerator_name``."""
        return next((worker.facts for worker in self.workers if worker.ready), {})
