"""Memory of one training step by formula, part by part, in bytes.

Counted as saved for backward: every tensor that the forward pass creates and autograd keeps. Left out: parameters, cached masks and tables,
the batch, which are there before; the peak has transients on top. Checked against autograd's saved tensors in
``tests/engine/estimate/test_memory.py``.

For one pre-LN block with N = batch x length T and d_ff = f d_model it comes to 4[(8 + 2f) N d + 4 N + batch h T^2] with GELU, (8 + f) with
ReLU; fused attention has T for T^2.

In mixed precision (:mod:`engine.model.precision`) the numbers that products read and give take two bytes; the inputs and statistics of
norms and the pattern take four; and each product keeps a rounded copy of its weights, as autocast makes it.
"""

from collections import Counter
from collections.abc import Iterator
from math import prod

from engine.config.run_config import RunConfig
from engine.estimate.encoding_costs import cost_of, encoding_saved_bytes
from engine.estimate.layout import Shapes
from engine.settings.costs import BYTES, INDEX, MIXED, SINGLE, WEIGHT_BYTES, Memory, Shape, dense_shapes

STATISTIC = 4  # bytes of a log-sum-exp, a log-probability or a count of answers: float32 at any precision


def parameter_shapes(config: RunConfig, sizes: Shapes) -> Iterator[tuple[str, Shape]]:
    layers = config.architecture.layer_shapes
    yield "embedding", (sizes.n_tokens, config.d_model)
    yield from layers(config) if layers is not None else _stack_shapes(config, sizes.position_range)
    matrix, bias = dense_shapes(config.d_model, sizes.n_outputs)
    yield from (("head", shape) for shape in ([bias] if config.tie_embeddings else [matrix, bias]))


def _stack_shapes(config: RunConfig, max_positions: int) -> Iterator[tuple[str, Shape]]:
    stacks = 2 if config.family == "encoder_decoder" else 1
    n_blocks = 1 if config.share_layers else config.n_layers
    modules = n_blocks if config.encoding.per_layer else 1
    for causal in (False, True) if stacks == 2 else (config.causal,):
        settings = config.encoding_settings.parameter_shapes(config, max_positions, causal)
        yield from (("encoding", shape) for shape in modules * settings)
    attention = _attention_shapes(config)
    yield from (("attention", shape) for shape in stacks * n_blocks * attention)
    yield from (("cross_attention", shape) for shape in (stacks - 1) * n_blocks * attention)
    if config.local_mix:
        width = config.d_model
        yield from (("mix", shape) for shape in stacks * n_blocks * [(width, config.local_mix + 1), (width,)])
    if config.mlp:
        dense = (1 + config.gated_mlp) * dense_shapes(config.d_model, config.mlp_width)
        dense += dense_shapes(config.mlp_width, config.d_model)
        yield from (("mlp", shape) for shape in stacks * n_blocks * dense)
    branches = stacks * (1 + config.mlp) + (stacks - 1)
    norms = {"pre": branches * n_blocks + stacks, "post": branches * n_blocks, "none": 0}[config.norm]
    yield from norms * config.norm_tensors * [("norm", (config.d_model,))]


def _attention_shapes(config: RunConfig) -> list[Shape]:
    width, read = config.n_heads * config.head_width, config.key_heads * config.head_width
    shapes = dense_shapes(config.d_model, width) + 2 * dense_shapes(config.d_model, read)
    shapes += dense_shapes(width, config.d_model)
    if config.qk_norm:
        shapes += 2 * [(config.head_width,)]
    if config.attention_gate:
        shapes += dense_shapes(config.d_model, width)
    return [*shapes, (config.n_heads, config.head_width)] if config.attention_score == "additive" else shapes


def count_parameters(config: RunConfig, sizes: Shapes) -> dict[str, int]:
    """Parameters of each part: embedding, encoding, attention, cross_attention, mlp, norm, head; in a baseline recurrent or convolution."""
    counts = Counter[str]()
    for part, shape in parameter_shapes(config, sizes):
        counts[part] += prod(shape)
    return dict(counts)


def predict_memory(config: RunConfig, sizes: Shapes) -> Memory:
    """Bytes of one training step on batches [batch_size, length].

    ``saved`` and ``scores`` are None if they depend on the kernel that the library chooses (:func:`has_formula`).
    """
    size = WEIGHT_BYTES[config.dtype]
    shapes = list(parameter_shapes(config, sizes))
    parameters = size * sum(prod(shape) for _, shape in shapes)
    saved = scores = None
    if has_formula(config):
        saved_bytes = _SavedBytes(config, sizes)
        if sizes.cut_targets:
            saved_bytes.add(INDEX, config.batch_size, sizes.length)  # a copy of them
        saved_bytes.add(STATISTIC)  # the number of answers, over which the loss is a mean
        saved, scores = saved_bytes.bytes, saved_bytes.scores
    return Memory(parameters, parameters, _optimizer_bytes(config, shapes), saved, scores)


def has_formula(config: RunConfig) -> bool:
    """True if the memory saved for backward is known without running.

    An encoding that keeps anything is an upper estimate, and so is an RMSNorm on a GPU; all else is exact.
    """
    settings = config.encoding_settings
    # the device's library chooses among kernels that save different tensors; a design is not measured
    if not config.architecture.attends or cost_of(config) is None:
        return False
    if config.attention_impl != "fused":
        return True
    fused = runs_fused(config)
    # fused attention with dropout, and below with a learned bias, leaves the choice of the kernel to the library
    if config.dropout > 0:
        return not fused and config.family != "encoder_decoder"
    learned_bias = config.encoding.acts_on == "scores" and settings.parameter_shapes(
        config, config.seq_len, config.causal
    )
    return not (fused and learned_bias)


def runs_fused(config: RunConfig, *, cross: bool = False) -> bool:
    return config.attention_impl == "fused" and (cross or not config.encoding_settings.needs_pattern)


def _optimizer_bytes(config: RunConfig, shapes: list[tuple[str, Shape]]) -> int:
    size = WEIGHT_BYTES[config.dtype]
    if config.optimizer == "sgd":
        return 0
    total = 0
    for part, shape in shapes:
        # Muon keeps one number for each weight of a block's matrix
        by_muon = config.optimizer == "muon" and len(shape) == 2 and part not in ("embedding", "encoding", "head")
        # AdamW: two for each parameter, and a float32 step count for each tensor
        total += size * prod(shape) if by_muon else 2 * size * prod(shape) + 4
    return total


def saved_if_written_out(config: RunConfig, sizes: Shapes) -> int:
    """Bytes that attention would save on [batch_size, length] if it wrote its matrices out, without those that depend on the encoding's
    settings."""
    written = config.model_copy(update={"attention_impl": "materialised"})
    return _SavedBytes(written, sizes).bytes


class _SavedBytes:
    """The sum of all that the forward pass saves for the backward pass, in the order in which the model computes it."""

    def __init__(self, config: RunConfig, sizes: Shapes) -> None:
        self.config, self.batch, self.padded = config, config.batch_size, sizes.padded
        self.bytes = self.scores = 0
        self.size, self.wide = BYTES[config.dtype], WEIGHT_BYTES[config.dtype]
        self.width = config.n_heads * config.head_width
        self.drops = config.dropout > 0
        self.has_bias = config.encoding.acts_on == "scores"
        self.stack(sizes.length, sizes.source_length, causal=config.causal)
        if sizes.source_length is not None:
            self.stack(sizes.source_length, None, causal=False)
        self._weights(config.d_model, sizes.n_outputs)
        self.add(STATISTIC, self.batch, sizes.length, sizes.n_outputs)  # log-probabilities

    def add(self, *factors: int) -> None:
        self.bytes += prod(factors)

    def _weights(self, inputs: int, outputs: int) -> None:
        # also where layers share the weights, each makes a copy
        if self.config.dtype == MIXED:
            self.add(inputs, outputs, self.size)

    def stack(self, length: int, source_length: int | None, *, causal: bool) -> None:
        c, tokens = self.config, self.batch * length
        masked = self.padded or (causal and c.mask_fault != "missing")
        if c.position_dropout > 0 and c.encoding.acts_on == "embedding":
            self.add(self.batch)  # which sequences have no positions, a byte each
        self.add(encoding_saved_bytes(c, self.batch, length))
        if self.drops:
            self.add(tokens, c.d_model)  # the embedding's dropout mask, a byte a value
        if self.padded:
            self._padding_mask(length, causal)
        for _ in range(c.n_layers):
            self._branch(tokens)
            if c.local_mix:  # what the convolution reads, with zeros before it
                self.add(self.batch, length + c.local_mix, c.d_model, self.size)
                self._weights(c.d_model, c.local_mix + 1)
            self._attention(length, length, masked=masked, cross=False)
            if source_length is not None:
                self._branch(tokens)
                self._attention(length, source_length, masked=False, cross=True)
            if c.mlp:
                self._branch(tokens)
                # The input of "down"; GELU also saves its own input, SwiGLU that and both factors.
                self.add({"gelu": 2, "swiglu": 4}.get(c.activation, 1), tokens, c.mlp_width, self.size)
                self._weights((2 + c.gated_mlp) * c.d_model, c.mlp_width)
        if c.norm == "pre":
            self._norm(tokens, c.d_model)
        self.add(tokens, c.d_model, self.size)  # the input of the head or of cross-attention

    def _branch(self, tokens: int) -> None:
        # the input of its first layer
        self.add(tokens, self.config.d_model, self.size)
        if self.config.norm != "none":
            self._norm(tokens, self.config.d_model)
        if self.drops:
            # the dropout mask, a byte a value
            self.add(tokens, self.config.d_model)

    def _norm(self, vectors: int, width: int) -> None:
        """Add what a norm keeps: layer norm its input, mean and deviation; RMSNorm, in single precision at any ``dtype``, input, size, and
        the input divided by it. A GPU's own kernel for RMSNorm keeps less."""
        if self.config.norm_kind == "rms":
            self.add(vectors, 2 * width + 1, SINGLE)
        else:
            self.add(vectors, width + 2, self.wide)

    def _attention(self, length: int, keys: int, *, masked: bool, cross: bool) -> None:
        c, queries, fused = self.config, self.batch * length, runs_fused(self.config, cross=cross)
        biased, more = self.has_bias and not cross, int(fused and c.softmax_plus_one)  # one more key, with plus one
        first = int(more and masked and not (biased or self.padded or c.mask_fault != "none"))  # and one more query
        read = c.key_heads * c.head_width
        self._weights(2 * c.d_model, self.width + read)
        self._weights(c.attention_gate * c.d_model, self.width)
        self.add(queries, self.width, self.size)  # the mixed values, read by the output projection
        if first or c.attention_gate:  # these before the gate, or with the first query
            self.add(queries + first * self.batch, self.width, self.size)
        if c.attention_gate:
            self.add(queries, self.width, self.size)  # the gate
        self.add(self.batch * (keys + more), self.width, self.size)  # v
        if c.attention_score != "additive":
            self.add(queries + self.batch * (keys + more + first), self.width, self.size)  # q and k
        if c.attention_score == "cosine":
            # q and k before they are divided by their lengths, and one over the lengths.
            self.add(queries + self.batch * keys, self.width + c.n_heads, self.wide)
        if c.qk_norm:
            self._norm(queries * c.n_heads + self.batch * keys * c.key_heads, c.head_width)
        if fused:
            self.add(STATISTIC, queries + first * self.batch, c.n_heads)  # log of the softmax's denominator
            if (biased and (masked or more)) or (masked and more and not first):
                # The kernel keeps the bias and the mask as one tensor; with plus one also either of them.
                rows = length if biased or (masked and c.causal) else 1
                self.add(self.batch if self.padded else 1, c.n_heads if biased else 1, rows, keys + more, self.size)
        else:
            self._matrices(self.batch * c.n_heads * length * keys, masked=masked)
            if c.softmax_plus_one:
                sums = queries if c.softmax_axis == "key" else self.batch * keys  # each with one more number
                self.add(sums, c.n_heads, self.wide)
                self.scores += sums * c.n_heads * self.wide

    def _matrices(self, pairs: int, *, masked: bool) -> None:
        c, before = self.config, self.bytes
        self.add(pairs, self.wide)  # the pattern
        if self.drops:
            self.add(pairs, self.size + 1)  # the pattern after dropout, and its mask
        elif (c.softmax_axis == "query" and masked) or c.dtype == MIXED:
            # The pattern with blocked pairs at zero, or as the product with the values reads it.
            self.add(pairs, self.size)
        if c.attention_score == "additive":
            self.add(pairs, c.head_width, self.size)  # tanh(q + k)
        self.scores += self.bytes - before

    def _padding_mask(self, length: int, causal: bool) -> None:
        """Add the padding mask, one a stack, with a row for each query if it is causal; a fused kernel has it in the model's dtype."""
        queries = length if causal else 1
        if runs_fused(self.config):
            # Otherwise it is kept in each layer: in one tensor with the bias, or with one more key.
            if not (self.has_bias or self.config.softmax_plus_one):
                self.add(self.batch, queries, length, self.size)
        elif self.config.softmax_axis == "query":
            self.add(self.batch, queries, length)
