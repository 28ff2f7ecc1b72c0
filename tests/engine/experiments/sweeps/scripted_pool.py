from collections import Counter
from types import SimpleNamespace
from typing import Any

from engine.experiments.sweeps.jobs import DescribeMachine, MeasureCost
from engine.foundation.errors import JobError
from engine.foundation.job import Job
from engine.serving.limits import Limits
from engine.settings.costs import Cost, MachineFacts, Memory

LAWS = {
    "materialised": lambda n: 1e-7 * n**2,
    "fused": lambda n: 2e-6 * n**1.5,
    "gru": lambda n: 1e-4 * n,
    "lstm": lambda n: 1e-5 * n,
    "cnn": lambda n: 2e-6 * n,
}


class ScriptedPool:
    """Answers a sweep's questions at once, by laws that the test states; a visit to ``fails`` gives nothing."""

    def __init__(self, fails: tuple[str, int] | None = None) -> None:
        self.limits = Limits()
        self.machines = SimpleNamespace(measuring="")
        self.request: list[tuple[str, int, int]] = []
        self.visited = Counter[tuple[str, int]]()
        self.alone: list[bool] = []
        self.fails = fails
        self.on_visit = lambda count: None

    def ask(self, job: Job[Any], *, alone: bool = False, timeout: float = 30.0) -> Any:
        match job:
            case DescribeMachine():
                return MachineFacts("a processor", "cpu", "2", 1, 2**34)
            case MeasureCost(config, length):
                kind = config.attention_impl if config.family == "decoder" else config.family
                self.alone.append(alone)
                return self._cost((kind, length), length, job.memory)
        raise AssertionError(job)

    def _cost(self, point: tuple[str, int], length: int, counts_bytes: bool) -> Cost:
        round = self.visited[point]
        self.visited[point] += 1
        self.request.append((*point, round))
        self.on_visit(len(self.request))
        if point == self.fails:
            raise JobError("Its worker used 9 GiB of memory and was ended.")
        seconds = LAWS[point[0]](length) * (1 + 0.1 * round)
        memory = Memory(1, 1, 2, 100 * length, 0, peak=200 * length) if counts_bytes else None
        return Cost(seconds, seconds / 3, None, None, memory, 1)
