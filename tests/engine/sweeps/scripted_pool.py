"""A pool whose machine follows laws that the test states."""

from types import SimpleNamespace
from typing import Any

from engine.config.run_config import RunConfig
from engine.foundation.errors import JobError
from engine.foundation.job import Job
from engine.hosting.limits import Limits
from engine.settings.costs import Memory
from engine.sweeps.jobs import DescribeMachine, Machine, MeasurePoint, Visit

LAWS = {
    "materialised": lambda n: 1e-7 * n**2,
    "fused": lambda n: 2e-6 * n**1.5,
    "gru": lambda n: 1e-4 * n,
    "lstm": lambda n: 1e-5 * n,
    "cnn": lambda n: 2e-6 * n,
}


class ScriptedPool:
    """Answers what a sweep asks at once; a visit to ``fails`` comes to nothing."""

    def __init__(self, fails: tuple[str, int] | None = None) -> None:
        self.limits = Limits()
        self.machines = SimpleNamespace(measuring="")
        self.asked: list[tuple[str, int, int]] = []
        self.alone: list[bool] = []
        self.fails = fails
        self.on_visit = lambda count: None

    def ask(self, job: Job[Any], *, alone: bool = False, timeout: float = 30.0) -> Any:
        match job:
            case DescribeMachine():
                return Machine("a processor", "cpu", "2", 1, 2**34)
            case MeasurePoint():
                self.alone.append(alone)
                return self._visit(**vars(job))
        raise AssertionError(job)

    def _visit(
        self, config: RunConfig, length: int, *, kind: str, place: int, round: int, device: str, count_bytes: bool
    ) -> Visit:
        self.asked.append((kind, place, round))
        self.on_visit(len(self.asked))
        if (kind, place) == self.fails:
            raise JobError("Its worker used 9 GiB of memory and was ended.")
        seconds = LAWS[kind](length) * (1 + 0.1 * round)
        memory = Memory(1, 1, 2, 100 * length, 0, peak=200 * length) if count_bytes else None
        return Visit(kind, place, round, config.d_model, 100, seconds, seconds / 3, None, None, memory, 1)
