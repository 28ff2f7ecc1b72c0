"""Published sizes of well-known decoders, and their memory by formula: weights, training state, activations, cache. Nothing is measured.

In mixed precision each weight takes two bytes, its gradient two, and AdamW twelve: a float32 copy and two moments
(Rajbhandari et al. 2020, ZeRO, section 3.1). In float32 these are 4, 4 and 8: the same sum.
"""

from dataclasses import dataclass
from pathlib import Path

from engine.estimate.by_length import longest
from engine.foundation.tables import read_tables


@dataclass(frozen=True)
class Published:
    """The sizes that determine a decoder's memory."""

    slug: str
    label: str
    source: str
    layers: int
    width: int
    heads: int
    kv_heads: int
    """The number of heads of keys and values, each shared by ``heads / kv_heads`` query heads (Ainslie et al. 2023, GQA)."""
    mlp_width: int
    vocabulary: int
    context: int
    """The longest sequence it was trained on, in tokens."""
    gated: bool
    """Whether the block is Llama's: RMSNorm, rotations, a gated MLP (Shazeer 2020), no biases, no dropout, an untied head.
    Otherwise it is GPT-2's: LayerNorm, a learned table, biases, GELU, dropout, the head tied to the embedding."""
    parameters: int
    """The published count, or the count of the published weights."""

    @property
    def kv_width(self) -> int:
        return self.width * self.kv_heads // self.heads


WELL_KNOWN = read_tables(Path(__file__).with_name("well_known.toml"), Published)


@dataclass(frozen=True)
class Precision:
    """The bytes of one number, by the part of the memory it belongs to."""

    label: str
    weights: int
    gradients: int
    optimizer: int
    values: int
    """Bytes of one number in activations, keys and values."""


PRECISIONS = {
    "bf16": Precision("bfloat16, mixed with float32", weights=2, gradients=2, optimizer=12, values=2),
    "fp32": Precision("float32", weights=4, gradients=4, optimizer=8, values=4),
}


def count_weights(model: Published) -> int:
    """The number of a model's parameters, computed from its sizes."""
    d, f, kv = model.width, model.mlp_width, model.kv_width
    if model.gated:
        block = 2 * d * d + 2 * d * kv + 3 * d * f + 2 * d  # q, out; k, v; gate, up, down; two norms
        return 2 * model.vocabulary * d + model.layers * block + d
    block = (4 * d * d + 4 * d) + (2 * d * f + f + d) + 4 * d  # attention, MLP, two norms, each with its biases
    return (model.vocabulary + model.context) * d + model.layers * block + 2 * d


def cache_bytes(model: Published, precision: Precision, tokens: int = 1) -> int:
    """The bytes of the keys and values of ``tokens`` tokens: 2 x layers x kv_heads x d_head numbers each."""
    return 2 * model.layers * model.kv_width * precision.values * tokens


def activation_bytes(model: Published, precision: Precision, length: int, batch: int = 1, *, written: bool) -> int:
    """The bytes saved for backward on [batch, length] in all layers, with nothing recomputed.

    GPT-2: Korthikanti et al. 2022, Reducing Activation Recomputation in Large Transformer Models, eq. 1,
    s b h (34 + 5 a s / h) bytes per layer, and 4 s b h (1 + v / h) around the layers (section 4.3). Llama is counted in the same
    way for its block; without dropout there are no masks. ``written``: whether the scores are stored; fused attention stores
    one float32 for each query and head instead.
    """
    tokens, size = batch * length, precision.values
    per_pair = (2 * size + 1) if not model.gated else size  # softmax, dropout mask and result; or the softmax only
    pairs = batch * model.heads * length * length * per_pair if written else 4 * tokens * model.heads
    around = 2 * size * model.width + 4 * model.vocabulary  # the last norm, the head's input, and the logits in float32
    return model.layers * (tokens * _block_bytes(model, size) + pairs) + tokens * around


def _block_bytes(model: Published, size: int) -> int:
    """The bytes of one token in one block, without the part that grows with the square of the length."""
    if not model.gated:
        # Two norms, their outputs (the inputs of attention and MLP), q, k, v, mixed values, and the MLP's two wide layers;
        # two dropout masks of one byte.
        return (8 * model.width + 2 * model.mlp_width) * size + 2 * model.width
    # The same four, q and mixed values; k and v; gate, its SiLU, up, their product.
    return (6 * model.width + 2 * model.kv_width + 4 * model.mlp_width) * size


@dataclass(frozen=True)
class Takes:
    """The predicted memory of a model, in bytes."""

    parameters: int
    """The number of parameters, not bytes."""
    weights: int
    gradients: int
    optimizer: int
    activations: int
    cache_per_token: int
    cache: int
    """The keys and values of the whole length."""

    @property
    def training(self) -> int:
        return self.weights + self.gradients + self.optimizer + self.activations

    @property
    def writing(self) -> int:
        """The memory of writing with a cache, without the few activations of one token."""
        return self.weights + self.cache


def takes(model: Published, precision: Precision, length: int, batch: int = 1, *, written: bool = False) -> Takes:
    count, per_token = count_weights(model), cache_bytes(model, precision)
    return Takes(
        parameters=count, weights=count * precision.weights, gradients=count * precision.gradients,
        optimizer=count * precision.optimizer, cache_per_token=per_token, cache=batch * length * per_token,
        activations=activation_bytes(model, precision, length, batch, written=written),
    )  # fmt: skip


def longest_trained(model: Published, precision: Precision, memory: int, batch: int = 1, *, written: bool) -> int:
    """The longest sequence whose training step fits into ``memory`` bytes, in tokens; 0 where the weights alone do not fit."""
    return longest(lambda length: takes(model, precision, length, batch, written=written).training, memory)


def longest_written(model: Published, precision: Precision, memory: int, batch: int = 1) -> int:
    """The most tokens whose keys and values fit into ``memory`` bytes beside the weights."""
    return longest(lambda length: takes(model, precision, length, batch).writing, memory)
