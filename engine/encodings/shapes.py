"""What each encoding learns: the shapes of its parameters, from the config alone. Torch-free."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.encodings.design import design_of, learned_shapes

if TYPE_CHECKING:
    from engine.config import RunConfig

Shape = tuple[int, ...]


def dense(inputs: int, outputs: int) -> list[Shape]:
    return [(outputs, inputs), (outputs,)]


def _learned(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    return [(rows, c.d_model)]


def _fourier(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    waves, width = c.value("fourier_frequencies"), c.value("fourier_width")
    return [(waves,), *dense(2 * waves, width), *dense(width, c.d_model)]


def _mlp(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    width, between = c.value("position_mlp_width"), c.value("position_mlp_layers") - 1
    return [*dense(1, width), *between * dense(width, width), *dense(width, c.d_model)]


def _conv(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    return [(c.d_model, c.value("conv_reach") * (1 if causal else 2) + 1), (c.d_model,)]


def _shaw(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    table: Shape = (2 * c.value("shaw_max_distance") + 1, c.head_width)
    return [table, table] if c.value("shaw_values") else [table]


def _t5_bias(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    return [(c.value("t5_buckets"), c.n_heads)]


def _kerple(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    return [(c.n_heads,), (c.n_heads,)]


def _fire(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    return [(1,), (1,), *dense(1, c.value("fire_width")), *dense(c.value("fire_width"), c.n_heads)]


def _cope(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    return [(1 if causal else 2, c.value("cope_counts"), c.head_width)]


def _designed(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    return learned_shapes(design_of(c, max_positions=rows, causal=causal))


LEARNED: dict[str, Callable[[RunConfig, int, bool], list[Shape]]] = {
    "learned": _learned,
    "fourier": _fourier,
    "mlp": _mlp,
    "conv": _conv,
    "shaw": _shaw,
    "t5_bias": _t5_bias,
    "kerple": _kerple,
    "fire": _fire,
    "cope": _cope,
    "designed": _designed,
}
"""By encoding: the shapes in one stack (or layer), given the positions trained and whether it looks backwards only. An
encoding that is not named here learns nothing."""


def encoding_shapes(config: RunConfig, *, max_positions: int, causal: bool) -> list[Shape]:
    shapes_of = LEARNED.get(config.pos_encoding)
    return shapes_of(config, max_positions, causal) if shapes_of else []
