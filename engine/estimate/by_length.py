"""Memory, time and cache of a model by the sequence length, by formula, and the longest length within a limit.

Cache: two vectors for each token and layer (Shazeer 2019, Fast Transformer Decoding, section 2.4).
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace

from engine.config.run_config import RunConfig
from engine.estimate.flops import flops_per_step
from engine.estimate.layout import Shapes, shapes
from engine.estimate.memory import count_parameters, predict_memory
from engine.estimate.speed import Speed
from engine.settings.costs import BYTES, Memory

FARTHEST = 2**40  # tokens up to which a search goes


def memory_at(config: RunConfig, length: int) -> Memory:
    return predict_memory(config, _at(config, length))


def flops_at(config: RunConfig, length: int) -> float:
    return flops_per_step(config, count_parameters(config, _at(config, length)), length)


def _at(config: RunConfig, length: int) -> Shapes:
    return replace(shapes(config), length=length, source_length=None, position_range=length)


def seconds_at(config: RunConfig, length: int, speed: Speed | None) -> float | None:
    """Seconds of a training step; None for a family whose time depends on the length more than on the FLOPs."""
    if speed is None or not config.architecture.attends:
        return None
    return speed.seconds_on(config, flops_at(config, length), config.batch_size, length)


def cache_bytes_at(config: RunConfig, length: int) -> int:
    per_token = 2 * config.n_layers * config.key_heads * config.head_width * BYTES[config.dtype]
    return config.batch_size * length * per_token


def longest(cost: Callable[[int], float], allowed: float) -> int:
    """The largest number of tokens whose cost, which grows with it, is at most ``allowed``; 0 if one token costs more."""
    return bisect_right(range(1, FARTHEST), allowed, key=cost)
