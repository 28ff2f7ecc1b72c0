"""The costs that each encoding adds to the plain transformer: memory and time, in multiples of one size.

``python -m tools.encoding_costs`` measures them and writes ``encoding_costs.toml``. No encoding states formulas of its own: a measured
factor is an upper estimate, and the file says by how much at most.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path

from pydantic import TypeAdapter

from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.settings.costs import SINGLE, StackShape

FILE = Path(__file__).with_name("encoding_costs.toml")
# numbers of a pair of positions beside those of its heads: its distance, and the numbers before the heads divide
PAIR_NUMBERS = 8

# weight of a learned vector that multiplies each query, relative to a key: the worst error over Shaw and CoPE is least with it
VECTOR = 0.25


@dataclass(frozen=True)
class EncodingCost:
    """The cost of an encoding for each number that :func:`numbers_of` counts."""

    kept: float  # numbers in single precision that are kept for the backward pass
    held: float  # further numbers in single precision that one layer holds at once
    work: float  # FLOPs that take as long as the encoding, in all of a training step


@cache
def costs() -> dict[str, EncodingCost]:
    return TypeAdapter(dict[str, EncodingCost]).validate_python(tomllib.loads(FILE.read_text("utf-8"))["costs"])


def cost_of(config: RunConfig) -> EncodingCost | None:
    """None for an encoding that is not in the table: a design, or a new one."""
    return costs().get(config.pos_encoding)


def encoding_saved_bytes(config: RunConfig, rows: int, length: int) -> int:
    """Upper bound of the bytes that the encoding keeps for the backward pass in one stack on [rows, length]; 0 if not measured."""
    cost = cost_of(config)
    return 0 if cost is None else int(SINGLE * cost.kept * _times(config) * numbers_of(config, rows, length))


def encoding_layer_bytes(config: RunConfig, rows: int, length: int) -> int:
    """Upper bound of the bytes that the encoding holds at once in one layer on [rows, length]."""
    cost = cost_of(config)
    if cost is None:
        stack = StackShape(config.model_copy(update={"batch_size": rows}), length, config.causal)
        return config.encoding_settings.bytes_bound(stack)
    return int(SINGLE * (cost.kept + cost.held) * numbers_of(config, rows, length))


def encoding_work(config: RunConfig, rows: int, length: int) -> float:
    """The FLOPs that take as long as the encoding in a training step on [rows, length]. An encoding that is not measured counts as the
    slowest that acts in the same place."""
    cost = cost_of(config)
    work = cost.work if cost is not None else _slowest(config.encoding.acts_on)
    return work * _times(config) * numbers_of(config, rows, length)


@cache
def _slowest(acts_on: str) -> float:
    return max(cost.work for name, cost in costs().items() if ENCODINGS[name].acts_on == acts_on)


def _times(config: RunConfig) -> int:
    return 1 if config.encoding.acts_on == "embedding" else config.n_layers


def numbers_of(config: RunConfig, rows: int, length: int) -> float:
    """The number of values by which the costs of an encoding are multiplied, each time that it acts: the values that it is added to
    or rotates, and for each vector or pair a share of the encoding's parameters."""
    spec, heads, width = config.encoding, config.n_heads, config.head_width
    parameters = sum(map(prod, config.encoding_settings.parameter_shapes(config, length, config.causal)))
    if spec.acts_on in ("embedding", "nowhere"):
        # numbered positions are encoded once for all sequences, others for each
        return (1 if spec.numbered else rows) * length * (config.d_model + parameters / config.d_model)
    if spec.acts_on == "rotation":  # where a stack looks both ways, scores may be computed more than once (xPos)
        return rows * heads * length * (width + (0 if config.causal else length))
    if spec.per_layer:
        return rows * heads * length * (length + VECTOR * parameters / width)
    return length**2 * (heads + PAIR_NUMBERS + parameters / heads)
