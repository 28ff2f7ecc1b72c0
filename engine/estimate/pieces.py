"""The bytes that a pass over the model holds at once, and the pieces of long passes: other runs on the core have their turn in between.

The bytes are upper bounds by the shapes, compared with the tensors of real passes in ``tests/engine/estimate/test_pieces.py``.

The cut depends on the config alone, so that a run gives the same numbers wherever it is repeated. A pass over all rows at once and one over
a part of them sum in another order, which changes the last digits of a mean: passes as small as those of every documented experiment that
compares what models learn therefore stay whole.
"""

from collections.abc import Iterator
from math import prod

from engine.config.run_config import RunConfig
from engine.estimate.encoding_costs import encoding_layer_bytes
from engine.estimate.flops import flops_per_step
from engine.estimate.layout import Shapes, shapes
from engine.estimate.memory import count_parameters, has_formula, parameter_shapes, runs_fused
from engine.settings.costs import BYTES, INDEX, MIXED, SINGLE, WEIGHT_BYTES

# upper bound of the numbers of a layer of a baseline that live for a moment, for each position and dimension
PASSING = {"gru": 8, "lstm": 6, "cnn": 8}
# FLOPs, and pairs of query and key over all heads, up to which a pass without gradient is one piece
WHOLE_FLOPS, WHOLE_PAIRS = 2.5e9, 2**24
WHOLE_BYTES = 56 * 2**20  # bytes of tensors at once up to which it is one piece
# tokens, and FLOPs on these, up to which it is one piece, too: few tokens with many FLOPs mean a wide model, whose large matrix
# products run several times as fast
FEW_TOKENS, FEW_TOKENS_FLOPS = 2**14, 2e10
PIECE_FLOPS, PIECE_PAIRS = 1.25e9, 2**23  # FLOPs and pairs of a piece of a longer pass; about a tenth of a second
PIECE_BYTES = 24 * 2**20  # bytes of tensors at once in a piece of a longer pass
TOKENS_PER_DRAW = 2**19  # tokens of a training set


def pass_bytes(config: RunConfig, sizes: Shapes, rows: int, *, written_out: bool) -> int:
    """A pass without gradient over ``rows`` sequences of these sizes: one layer, and after the last layer the loss."""
    lengths = [sizes.length, sizes.source_length or 0]
    layers = max(layer_bytes(config, rows, n, written_out=written_out) for n in lengths)
    # Logits and log-probabilities, and the logits in single precision where they are not.
    loss = rows * sizes.length * (sizes.n_outputs * (2 * SINGLE + BYTES[config.dtype]) + 4 * INDEX)
    if config.dtype != MIXED:
        return max(layers, loss)
    # The rounded copy of the weights of one product, at most.
    return max(layers, loss) + BYTES[MIXED] * max(prod(shape) for _, shape in parameter_shapes(config, sizes))


def layer_bytes(config: RunConfig, rows: int, length: int, *, written_out: bool) -> int:
    """The tensors that one layer holds at once on [rows, length], without those kept for backward."""
    size, wide, tokens = BYTES[config.dtype], WEIGHT_BYTES[config.dtype], rows * length
    if not config.architecture.attends:
        return wide * tokens * config.d_model * PASSING[config.family]
    width = config.n_heads * config.head_width
    attention = size * (6 + 4 * (config.qk_norm + config.softmax_plus_one) + 3 * config.attention_gate) * width
    mlp = size * ((4 if config.gated_mlp else 2) * config.mlp_width if config.mlp else 0)
    needed = tokens * (5 * wide * config.d_model + max(attention, mlp))
    if written_out:
        pairs = config.n_heads * length * (length + config.softmax_plus_one) * wide
        # Scores and pattern, the pattern with zeros; or what mixed precision widens and rounds.
        matrices = 2 if config.softmax_axis == "key" and config.dtype != MIXED else 3
        matrices += config.softmax_plus_one  # the scores with one more key
        each = 3 * config.head_width if config.attention_score == "additive" else matrices
        needed += pairs * (rows * each + (2 if config.encoding.acts_on == "scores" else 0))
    elif config.softmax_plus_one and (
        config.encoding.acts_on == "scores" or config.task_settings.pad_token is not None
    ):
        # A mask or a bias with one more key.
        needed += size * rows * config.n_heads * length * (length + 1)
    return needed + encoding_layer_bytes(config, rows, length)


def writes_out(config: RunConfig, *, gradient: bool = False) -> bool:
    if not config.architecture.attends:
        return False
    # with a gradient no fused kernel takes dropout, nor a bias that is learned
    return not runs_fused(config) or (gradient and not has_formula(config))


def rows_at_once(config: RunConfig, n: int, rows: int, *, on_gpu: bool = False) -> int:
    """The number of sequences of ``n`` symbols that a pass without gradient over ``rows`` of them reads at once."""
    # a GPU reads many in the time of one, and as many pairs as a training batch has fit where a step does
    least = min(rows, int(config.batch_size * (config.seq_len / n) ** 2)) if on_gpu else 1
    sizes = shapes(config, n)
    tokens = rows * (sizes.length + (sizes.source_length or 0))
    flops, pairs = forward_flops(config, sizes), _pairs(config, sizes)
    needed = pass_bytes(config, sizes, rows, written_out=writes_out(config))
    few = tokens <= FEW_TOKENS and rows * flops <= FEW_TOKENS_FLOPS
    if (few or rows * flops <= WHOLE_FLOPS) and rows * pairs <= WHOLE_PAIRS and needed <= WHOLE_BYTES:
        return rows
    return min(rows, max(1, least, int(min(PIECE_FLOPS / flops, PIECE_PAIRS / pairs, PIECE_BYTES * rows / needed))))


def forward_flops(config: RunConfig, sizes: Shapes) -> float:
    """FLOPs of a pass without gradient over one sequence of these sizes: a third of a training step's (Kaplan et al. 2020, section 2.1: the
    backward pass computes twice as much as the forward pass)."""
    counts = count_parameters(config, sizes)
    return flops_per_step(config, counts, sizes.length, sizes.source_length) / (3 * config.batch_size)


def _pairs(config: RunConfig, sizes: Shapes) -> int:
    """Pairs of query and key in one sequence, over all heads of a layer, each with as many numbers as its score needs at once."""
    if not config.architecture.attends:
        return 1
    numbers = config.head_width if config.attention_score == "additive" else 1
    return numbers * config.n_heads * max(sizes.length, sizes.source_length or 0) ** 2


def pieces(rows: int, at_once: int) -> Iterator[slice]:
    return (slice(first, min(first + at_once, rows)) for first in range(0, rows, at_once))
