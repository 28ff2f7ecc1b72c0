"""The bytes of the tensors that a pass over the model holds at once: upper bounds by the shapes.

Training steps, pieces of work (:mod:`engine.estimate.pieces`) and the peak of a run (:mod:`engine.estimate.peak`) are sized by
them. Compared with the tensors of real passes in ``tests/engine/estimate/test_passes.py``.
"""

from __future__ import annotations

from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes
from engine.estimate.memory import has_formula, runs_fused
from engine.settings.costs import BYTES, SINGLE, StackShape

TOKEN = 8
"""Bytes of a token, a position or an index."""
PASSING = {"gru": 8, "lstm": 6, "cnn": 8}
"""An upper bound of the numbers of a layer of a baseline that live for a moment, for each position and dimension."""


def pass_bytes(config: RunConfig, rows: int, n: int, *, written_out: bool) -> int:
    """A pass without gradient over ``rows`` sequences of ``n`` symbols: one layer, and after the last layer the loss."""
    sizes = shapes(config, n)
    lengths = [sizes.length, sizes.source_length or 0]
    layers = max(layer_bytes(config, rows, n, written_out=written_out) for n in lengths)
    # Logits and log-probabilities, and the logits in single precision where they are not.
    loss = rows * sizes.length * (sizes.n_outputs * (2 * SINGLE + BYTES[config.dtype]) + 4 * TOKEN)
    return max(layers, loss)


def layer_bytes(config: RunConfig, rows: int, length: int, *, written_out: bool) -> int:
    """The tensors that one layer holds at once on [rows, length], without those kept for backward; among them matrices of
    queries and keys where attention writes them out."""
    size, tokens = BYTES[config.dtype], rows * length
    if not config.architecture.attends:
        return size * tokens * config.d_model * PASSING[config.family]
    width = config.n_heads * config.head_width
    attention = 5 * config.d_model + 6 * width
    mlp = 5 * config.d_model + (2 * config.mlp_width if config.mlp else 0)
    held = size * tokens * max(attention, mlp)
    if written_out:
        pairs = config.n_heads * length**2 * size
        matrices = 2 if config.softmax_axis == "key" else 3
        each = 3 * config.head_width if config.attention_score == "additive" else matrices
        held += pairs * (rows * each + (2 if config.encoding.acts_on == "scores" else 0))
    return held + encoding_bound(config, rows, length)


def encoding_bound(config: RunConfig, rows: int, length: int) -> int:
    """The bytes that the encoding holds in one layer on [rows, length], at most."""
    stack = StackShape(config.model_copy(update={"batch_size": rows}), length, config.causal)
    own = config.encoding_settings
    return own.layer_bytes_bound(stack) + own.stack_activation_bytes(stack)


def writes_out(config: RunConfig, *, gradient: bool = False) -> bool:
    """Whether a pass makes matrices of queries and keys. With ``gradient`` a fused call does, too, where no kernel takes what it
    is given: dropout, or a bias that is learned."""
    if not config.architecture.attends:
        return False
    return not runs_fused(config) or (gradient and not has_formula(config))
