"""The speed of this machine: the time of a training step on a CPU core and on its accelerator, measured once (``engine.training.speed``)
and stored.

A step of a transformer takes a share for each layer and one for its FLOPs. In a baseline small operations count, too: a recurrent layer
runs a dozen of them at each position, one after the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from engine.config.run_config import RunConfig
from engine.estimate.device import CPU
from engine.estimate.encoding_costs import encoding_work
from engine.foundation.files import data_folder, write_whole
from engine.foundation.once import once_per_change
from engine.settings.architectures import ARCHITECTURES

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
BASELINES = tuple(name for name, row in ARCHITECTURES.items() if not row.attends)


@dataclass(frozen=True)
class BaselineSpeed:
    """Prices in seconds for each step, for each layer (and position, if positions are read one after the other), for each number that a
    layer outputs, and for each FLOP."""

    family: str
    step: Seconds
    layer: Seconds
    number: Seconds
    flop: Seconds

    def seconds(self, config: RunConfig, flops: float, rows: int, length: int) -> float:
        work = baseline_work(config, flops, rows, length)
        prices = self.step, self.layer, self.number, self.flop
        return sum(amount * price for amount, price in zip(work, prices, strict=True))


def baseline_work(config: RunConfig, flops: float, rows: int, length: int) -> tuple[float, ...]:
    """The step itself, its layers (times positions), their numbers, its FLOPs, on [rows, length]."""
    recurrent = config.architecture.sees(config) is None
    layers = config.n_layers * (length if recurrent else 1)
    return 1.0, layers, rows * length * config.d_model * config.n_layers, flops


@dataclass(frozen=True)
class Speed:
    """A step takes ``overhead`` x (layers + 2) + flops / ``rate`` seconds; an encoding counts as the FLOPs that take as long
    (:func:`engine.estimate.encoding_costs.encoding_work`)."""

    overhead: Seconds
    rate: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    baselines: tuple[BaselineSpeed, ...] = ()  # a family that is missing is not measured yet

    def seconds_on(self, config: RunConfig, flops: float, rows: int, length: int) -> float:
        if not config.architecture.attends:
            return self.baseline(config.family).seconds(config, flops, rows, length)
        layers = config.n_layers * (2 if config.family == "encoder_decoder" else 1)
        return self.overhead * (layers + 2) + (flops + encoding_work(config, rows, length)) / self.rate

    def baseline(self, family: str) -> BaselineSpeed:
        return next(one for one in self.baselines if one.family == family)

    def covers(self, config: RunConfig) -> bool:
        return config.architecture.attends or any(one.family == config.family for one in self.baselines)

    @property
    def complete(self) -> bool:
        return {one.family for one in self.baselines} >= set(BASELINES)


Speeds = Mapping[str, Speed]  # by torch's name of the device, such as cpu (one core) and cuda

STORED = TypeAdapter[Speeds](Speeds)


def known_speeds() -> Speeds:
    try:
        return _read(speed_file())
    except (OSError, ValueError):
        return {}


@once_per_change(1)
def _read(file: Path) -> Speeds:
    return STORED.validate_json(file.read_bytes())


def known_speed() -> Speed | None:
    """The speed of a CPU core; None if it is not measured."""
    return known_speeds().get(CPU)


def fully_measured() -> bool:
    speeds = known_speeds()
    return CPU in speeds and all(speed.complete for speed in speeds.values())


def remember_speeds(speeds: Speeds) -> None:
    write_whole(speed_file(), STORED.dump_json(speeds))


def speed_file() -> Path:
    return data_folder() / "speed.json"
