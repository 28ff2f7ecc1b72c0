"""The pieces into which long work is cut, so that other runs on the same core have their turn in between.

The cut depends on the config alone, so that a run gives the same numbers wherever it is repeated. A pass over all rows at
once and one over a part of them sum in another order, which changes the last digits of a mean: passes as small as those
of every documented experiment that compares what models learn therefore stay whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from engine.config.run_config import RunConfig
from engine.estimate.flops import flops_per_step
from engine.estimate.layout import shapes
from engine.estimate.memory import parameter_shapes
from engine.estimate.passes import pass_bytes, writes_out

WHOLE_FLOPS, WHOLE_PAIRS = 2.5e9, 2**24
"""The FLOPs, and the pairs of query and key over all heads, up to which a pass without gradient is one piece."""
WHOLE_BYTES = 56 * 2**20
"""The bytes of tensors at once up to which it is one piece."""
FEW_TOKENS, FEW_TOKENS_FLOPS = 2**14, 2e10
"""The tokens, and the FLOPs on these, up to which it is one piece, too: few tokens with many FLOPs are those of a wide model,
whose large matrix products run several times as fast."""
PIECE_FLOPS, PIECE_PAIRS = 1.25e9, 2**23
"""The FLOPs and the pairs of a piece of a longer pass; about a tenth of a second."""
PIECE_BYTES = 24 * 2**20
"""The bytes of tensors at once in a piece of a longer pass."""
DRAWN_AT_ONCE = 2**19
"""The tokens of a training set that are drawn at once."""


def rows_at_once(config: RunConfig, n: int, rows: int) -> int:
    """The number of sequences of ``n`` symbols that a pass without gradient over ``rows`` of them reads at once."""
    sizes = shapes(config, n)
    tokens = rows * (sizes.length + (sizes.source_length or 0))
    flops = forward_flops(config, n)
    pairs = _pairs(config, n)
    held = pass_bytes(config, rows, n, written_out=writes_out(config))
    few = tokens <= FEW_TOKENS and rows * flops <= FEW_TOKENS_FLOPS
    if (few or rows * flops <= WHOLE_FLOPS) and rows * pairs <= WHOLE_PAIRS and held <= WHOLE_BYTES:
        return rows
    return min(rows, max(1, int(min(PIECE_FLOPS / flops, PIECE_PAIRS / pairs, PIECE_BYTES * rows / held))))


def forward_flops(config: RunConfig, n: int) -> float:
    """FLOPs of a pass without gradient over one sequence of ``n`` symbols: a third of a training step's (Kaplan et al. 2020,
    section 2.1: the backward pass computes twice as much as the forward pass)."""
    sizes = shapes(config, n)
    counts: dict[str, int] = {}
    for part, shape in parameter_shapes(config, **shapes(config).of_model):
        counts[part] = counts.get(part, 0) + prod(shape)
    return flops_per_step(config, counts, sizes.length, sizes.source_length) / (3 * config.batch_size)


def _pairs(config: RunConfig, n: int) -> int:
    """The pairs of query and key in one sequence, over all heads of a layer, each with as many numbers as its score needs at once;
    1 where there is no attention."""
    if not config.architecture.attends:
        return 1
    sizes = shapes(config, n)
    numbers = config.head_width if config.attention_score == "additive" else 1
    return numbers * config.n_heads * max(sizes.length, sizes.source_length or 0) ** 2


def pieces(rows: int, at_once: int) -> Iterator[slice]:
    """The rows in pieces of at most so many, in order."""
    return (slice(first, min(first + at_once, rows)) for first in range(0, rows, at_once))
