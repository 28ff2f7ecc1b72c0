"""The prediction of a run before it starts: parameters, memory by part, FLOPs, time."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from engine.config.run_config import RunConfig
from engine.estimate.layout import generation_size, keeps_past, shapes, writes_answer
from engine.estimate.memory import count_parameters, predict_memory
from engine.estimate.recording import recording_cost
from engine.foundation.files import write_whole
from engine.foundation.paths import data_folder
from engine.settings.costs import Flops, Memory, StackShape
from engine.settings.errors import ConfigError

TESTED = 128
"""The number of sequences of each test length."""
CPU_IS_FASTER_BELOW = 2e9
"""FLOPs of a step below which the CPU is faster: an accelerator would spend its time launching kernels."""


@dataclass(frozen=True)
class Speed:
    """The speed of this machine: a step takes ``overhead`` x (layers + 2) + flops / ``rate`` seconds."""

    overhead: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    rate: Annotated[float, Field(gt=0, allow_inf_nan=False)]

    def seconds_per_step(self, config: RunConfig, flops: float) -> float:
        stacks = 2 if config.family == "encoder_decoder" else 1
        return self.overhead * (stacks * config.n_layers + 2) + flops / self.rate


SPEED = TypeAdapter(Speed)


@dataclass(frozen=True)
class Prediction:
    parameters: int
    by_part: dict[str, int]
    memory: Memory
    tokens_per_step: int
    flops_per_step: float
    """FLOPs of forward and backward: 6 for each weight and token (Kaplan et al. 2020, table 1), the attention matrices, and the
    encoding."""
    steps_per_second: float | None
    """None until the speed of this machine is measured (``engine.training.speed``), and for a baseline, whose time depends on
    the length more than on the FLOPs."""
    result_seconds: float | None
    """Seconds of the measurements after the last step: answers written token by token, test lengths, memory. None as above."""
    recording_steps: float = 0.0
    """The cost of the validations and snapshots during the run, in training steps."""

    @property
    def seconds_per_step(self) -> float | None:
        return 1 / self.steps_per_second if self.steps_per_second else None

    def seconds(self, steps: int) -> float | None:
        """Seconds of a run of ``steps`` steps, with what is recorded during it and measured after the last one."""
        if self.seconds_per_step is None or self.result_seconds is None:
            return None
        return (steps + self.recording_steps) * self.seconds_per_step + self.result_seconds


def predict(config: RunConfig) -> Prediction:
    sizes = shapes(config)
    parts = count_parameters(config, **sizes.of_model)
    flops = flops_per_step(config, parts, sizes.length, sizes.source_length)
    speed = known_speed() if config.architecture.attends else None
    return Prediction(
        parameters=sum(parts.values()),
        by_part=parts,
        memory=predict_memory(
            config,
            length=sizes.length,
            source_length=sizes.source_length,
            padded=config.task_settings.pad_token is not None,
            **sizes.of_model,
        ),
        tokens_per_step=config.batch_size * (sizes.length + (sizes.source_length or 0)),
        flops_per_step=flops,
        steps_per_second=1 / speed.seconds_per_step(config, flops) if speed else None,
        result_seconds=result_seconds(config, speed, parts) if speed else None,
        recording_steps=recording_cost(config),
    )


def result_seconds(config: RunConfig, speed: Speed, parts: dict[str, int]) -> float:
    """Seconds of the measurements after the last step. A pass without gradient takes a third of a training step (Kaplan
    et al. 2020, section 2.1: the backward pass computes twice as much as the forward pass)."""

    def step(n: int, sequences: int) -> float:
        sizes = shapes(config, n)
        flops = flops_per_step(config, parts, sizes.length, sizes.source_length)
        return speed.seconds_per_step(config, flops * sequences / config.batch_size)

    n = config.seq_len
    lengths = {n, *config.test_lengths} if config.test_lengths else ()
    seconds = sum(step(length, TESTED) for length in lengths) / 3 + step(n, config.batch_size)
    if not writes_answer(config):
        return seconds
    if keeps_past(config):  # one small pass for each token; together the FLOPs of one pass over the whole sequence
        return seconds + (n * speed.seconds_per_step(config, 0.0) + step(n, generation_size(n))) / 3
    # A whole pass for each of n tokens, over three quarters of the sequence on average: a third of a step, times 3/4.
    return seconds + n * step(n, generation_size(n)) / 4


def added_parameters(config: RunConfig, encoding: str) -> int | None:
    """The parameters that an encoding would add to this config's model; None where the two do not go together."""
    chosen = _with_encoding(config, encoding)
    return None if chosen is None else count_parameters(chosen, **shapes(chosen).of_model).get("encoding", 0)


def added_flops(config: RunConfig, encoding: str) -> float | None:
    """The FLOPs that an encoding would add to a training step (and to each of its tokens), as a share of those of the same
    model without encoding; None where the two do not go together."""
    chosen = _with_encoding(config, encoding)
    if chosen is None:
        return None
    sizes = shapes(chosen)
    lengths = sizes.length, sizes.source_length
    own = encoding_flops(chosen, *lengths).total
    return own / (flops_per_step(chosen, count_parameters(chosen, **sizes.of_model), *lengths) - own)


def _with_encoding(config: RunConfig, encoding: str) -> RunConfig | None:
    try:
        return config.replace(pos_encoding=encoding)
    except ConfigError:
        return None


def flops_per_step(config: RunConfig, parts: dict[str, int], length: int, source_length: int | None = None) -> float:
    """FLOPs of a step on [batch_size, length], given the parameters by part.

    Look-ups cost nothing, but a tied embedding is also the head; a shared block counts at every depth.
    """
    tokens = config.batch_size * (length + (source_length or 0))
    reads_only = ("encoding",) if config.tie_embeddings else ("embedding", "encoding")
    weights = sum(count for part, count in parts.items() if part not in reads_only)
    if not config.architecture.attends:
        return 6.0 * weights * tokens
    if config.share_layers:
        weights *= config.n_layers
    attention = config.n_layers * config.batch_size * length**2 * config.n_heads * config.head_width
    return 6.0 * weights * tokens + 12.0 * attention + encoding_flops(config, length, source_length).total


def encoding_flops(config: RunConfig, length: int, source_length: int | None = None) -> Flops:
    """FLOPs of the encoding in all stacks of a step on [batch_size, length]; the encoder of an encoder-decoder reads
    ``source_length`` tokens."""
    if not config.architecture.attends:
        return Flops()
    stacks = [StackShape(config, length, config.causal)]
    if source_length is not None:
        stacks.append(StackShape(config, source_length, causal=False))
    return sum(map(config.encoding_settings.flops, stacks), Flops())


def known_speed() -> Speed | None:
    """The speed measured on this machine earlier; None where there is none or its file does not hold a speed.

    The file is read again only after it has changed.
    """
    file = speed_file()
    try:
        return _read_speed(file, file.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=1)
def _read_speed(file: Path, written_at: int) -> Speed | None:
    try:
        return SPEED.validate_json(file.read_bytes())
    except (OSError, ValueError):
        return None


def remember_speed(speed: Speed) -> None:
    write_whole(speed_file(), json.dumps(asdict(speed)))


def speed_file() -> Path:
    return data_folder() / "speed.json"
