"""The jobs of a sweep, and their answers: the machine's facts, and a visit, one for each point and round."""

from dataclasses import dataclass

from engine.config.run_config import RunConfig
from engine.foundation.job import Job
from engine.settings.costs import Memory


@dataclass(frozen=True)
class Machine:
    """The machine of a measurement."""

    device: str
    """The device in words."""
    kind: str
    """The device type: ``cpu``, ``cuda`` ..."""
    torch: str
    threads: int
    free: int
    """The free bytes before the measurement."""


@dataclass(frozen=True)
class Visit:
    """One measurement of one point."""

    kind: str
    place: int
    """The length in tokens or the number of layers, depending on the plan's axis."""
    round: int
    width: int
    parameters: int
    train: float
    """Seconds of a training step: forward, backward, optimizer. The shortest of a few repetitions, as all times here."""
    inference: float
    """Seconds of one pass without gradient; also the cost of the next token without a cache."""
    cached: float | None
    """Seconds of the next token with a cache of keys and values, or of the state; None where it is not measured."""
    cache_bytes: int | None
    """The measured bytes of the cache."""
    memory: Memory | None
    """The memory of a training step; measured in the first round only, since it is the same in every one."""
    inference_peak: int | None
    """The highest allocation of a pass without gradient, beyond the weights; first round only."""
    took: float = 0.0
    """Seconds of the whole visit."""

    @property
    def saved(self) -> int | None:
        """The bytes that a training step saves for backward, where the memory was measured."""
        return None if self.memory is None else self.memory.saved


class DescribeMachine(
    Job[Machine], function=".measure:machine", noun="Reading the facts about the machine", anywhere=True
):
    device: str


class MeasurePoint(Job[Visit], function=".measure:visit", noun="Measuring one point", anywhere=True):
    config: RunConfig
    length: int
    kind: str
    place: int
    round: int
    device: str
    count_bytes: bool
