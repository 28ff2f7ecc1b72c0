"""Multi-head attention: project, rotate, compare, mask, softmax, mix the values, project back."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, scaled_dot_product_attention

from engine.config.run_config import RunConfig
from engine.encodings.base.layer import PositionalEncoding, Positions
from engine.model.activations import ActivationCache, record
from engine.model.layers import Dropout, norm_layer
from engine.model.masks import Mask
from engine.model.precision import lowered, widened

Pair = tuple[Tensor, Tensor]
# values of the first layer of a pass through a stack, [batch, head, position, d_head]; empty before that layer
FirstValues = list[Tensor]


def _unit(t: Tensor) -> Tensor:
    """Vectors of length 1, [..., d_head]."""
    wide = widened(t)
    return (wide * torch.rsqrt(wide.square().sum(-1, keepdim=True) + 1e-12)).to(t.dtype)


# the cosine is multiplied by sqrt(d_head): a scaled dot product of vectors whose components have variance one
PREPARE: dict[str, Callable[[Tensor, Tensor], Pair]] = {
    "scaled_dot": lambda q, k: (q * q.shape[-1] ** -0.5, k),
    "dot": lambda q, k: (q, k),
    "cosine": lambda q, k: (_unit(q) * q.shape[-1] ** 0.5, _unit(k)),
    "additive": lambda q, k: (q, k),
}


class Pattern(nn.Module):
    """Scores and their softmax as matrices: the part of attention whose memory grows with the square of the length.

    ``additive`` is w . tanh(q_i + k_j) (Bahdanau et al. 2015, appendix A.1.2), with one w a head. ``softmax_plus_one`` is exp(s_j)
    / (1 + sum_k exp(s_k)), a softmax with one more key whose score and value are 0 (Miller 2023, Attention Is Off By One; the zero
    sink of Xiao et al. 2023, Efficient Streaming Language Models with Attention Sinks): a row sums to less than one.
    """

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        self.axis = {"key": -1, "query": -2}[config.softmax_axis]
        self.plus_one = config.softmax_plus_one
        self.dropout = Dropout(config.dropout)
        self.weight: nn.Parameter | None = None
        if config.attention_score == "additive":
            bound = config.head_width**-0.5
            self.weight = nn.Parameter(torch.empty(config.n_heads, config.head_width).uniform_(-bound, bound))

    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        """[batch, head, query, d_head] and [batch, head, key, d_head] -> [batch, head, query, key]."""
        if self.weight is None:
            return q @ k.mT
        pairs = torch.tanh(q[:, :, :, None] + k[:, :, None, :])  # [batch, head, query, key, d_head]
        return (pairs * self.weight[:, None, None]).sum(-1)

    def weights(self, scores: Tensor) -> Tensor:
        """The softmax of scores with their bias, [batch, head, query, key] -> the same."""
        if not self.plus_one:
            return scores.softmax(self.axis)
        # one more key, or query, with a score of 0
        more = pad(scores, (0, 1) if self.axis == -1 else (0, 0, 0, 1))
        return more.softmax(self.axis).narrow(self.axis, 0, scores.shape[self.axis])

    def forward(self, q: Tensor, k: Tensor, bias: Tensor | None, mask: Mask | None) -> tuple[Tensor, Tensor, Tensor]:
        """Scores, pattern, and the pattern after dropout, [batch, head, query, key] each."""
        scores = self.scores(q, k)
        if bias is not None:
            scores = scores + bias
        pattern = self.weights(widened(scores))
        if mask is not None and self.axis == -2:
            # A key that no query may see would still get a column of weights that sums to one.
            pattern = pattern.masked_fill(mask.blocked, 0.0)
        return scores, pattern, self.dropout(pattern).to(q.dtype)


class Attention(nn.Module):
    """Attention of queries from one sequence to keys and values from the same (self) or another sequence (cross).

    Source: Vaswani et al. 2017, Attention Is All You Need, section 3.2; ``d_head`` is free. With ``qk_norm`` each query and each
    key of a head goes through a LayerNorm with a learned scale and no bias (Henry et al. 2020, Query-Key Normalization for
    Transformers; in this form Dehghani et al. 2023, Scaling Vision Transformers to 22 Billion Parameters, section 2).

    With ``kv_heads`` a head of keys and values is read by a group of adjacent query heads (Ainslie et al. 2023, GQA:
    Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints, section 2.2). With ``value_residual`` s, the values
    of self-attention in each layer l after the first are (1 - s) V_l + s V_1 (Zhou et al. 2024, Value Residual Learning; with s = 1 all
    layers have the first one's values, their SVFormer).

    With ``attention_gate`` each number that a head has read is multiplied by the sigmoid of a linear map of the query's input (Qiu et al.
    2025, Gated Attention for Large Language Models).
    """

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        width, read = config.n_heads * config.head_width, config.key_heads * config.head_width
        self.n_heads, self.d_head = config.n_heads, config.head_width
        self.value_residual = config.value_residual
        self.prepare = PREPARE[config.attention_score]
        self.fused = config.attention_impl == "fused"
        self.q = nn.Linear(config.d_model, width)
        self.k = nn.Linear(config.d_model, read)
        self.v = nn.Linear(config.d_model, read)
        self.q_norm = norm_layer(config, config.head_width, bias=False) if config.qk_norm else None
        self.k_norm = norm_layer(config, config.head_width, bias=False) if config.qk_norm else None
        self.pattern = Pattern(config)
        self.gate = nn.Linear(config.d_model, width) if config.attention_gate else None
        self.out = nn.Linear(width, config.d_model)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Mask | None,
        encoding: PositionalEncoding,
        positions: Positions,
        cache: ActivationCache | None = None,
        name: str = "",
        first_values: FirstValues | None = None,
    ) -> Tensor:
        """[batch, query, d_model] and [batch, key, d_model] -> [batch, query, d_model]."""
        q, k, v = self.project(x, memory, first_values)
        k, v = self.for_each_query(k), self.for_each_query(v)
        record(cache, f"{name}.q", q)
        record(cache, f"{name}.k", k)
        record(cache, f"{name}.v", v)
        # queries and keys share their positions: cross-attention gets an encoding that ignores them
        q, k = encoding.rotate(q, positions), encoding.rotate_keys(k, positions)
        q, k = self.prepare(q, k)
        if self.fused and cache is None and not encoding.needs_pattern:
            bias = encoding.score_bias(q, k, positions, positions)
            triangle = bias is None and mask is not None and mask.triangle
            added = None if triangle else joined_bias(bias, mask)
            dropped = self.pattern.dropout.p if self.training else 0.0
            first = triangle and self.pattern.plus_one
            if self.pattern.plus_one:
                # A key with score and value 0 comes first; with a triangle also a query, which sees only that key, so that the kernel
                # still needs no matrix.
                k, v = pad(k, (0, 0, 1, 0)), pad(v, (0, 0, 1, 0))
                q = pad(q, (0, 0, 1, 0)) if first else q
                added = None if added is None else pad(added, (1, 0))
            # The scores are not stored where torch has a kernel for it.
            mixed: Tensor = scaled_dot_product_attention(q, k, v, added, dropped, is_causal=triangle, scale=1.0)
            mixed = mixed[:, :, 1:] if first else mixed
        else:
            q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
            bias = encoding.score_bias(q, k, positions, positions)
            scores, pattern, weights = self.pattern(q, k, joined_bias(bias, mask), mask)
            record(cache, f"{name}.scores", scores)
            record(cache, f"{name}.pattern", pattern)
            mixed = weights @ v
            term = encoding.value_term(weights, positions, positions)
            mixed = mixed if term is None else mixed + term
        mixed = self.gated(mixed, x, cache, name)
        record(cache, f"{name}.mixed", mixed)
        out: Tensor = self.out(mixed.transpose(1, 2).flatten(2))  # [batch, query, head * d_head] -> [.., d_model]
        record(cache, f"{name}.out", out)
        return out

    def gated(self, mixed: Tensor, x: Tensor, cache: ActivationCache | None = None, name: str = "") -> Tensor:
        """``mixed``: the values read, [batch, head, query, d_head]; their gate reads ``x`` [batch, query, d_model]."""
        if self.gate is None:
            return mixed
        gate = self.split(self.gate(x)).sigmoid()
        record(cache, f"{name}.gate", gate)
        return mixed * gate

    def project(
        self, x: Tensor, memory: Tensor, first_values: FirstValues | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, [batch, head, length, d_head] each, of keys and values ``kv_heads``; with ``qk_norm`` queries
        and keys are normalised. ``first_values`` are mixed into the values, or get those of the first layer."""
        q, k, v = (
            self.split(self.q(x), self.q_norm),
            self.split(self.k(memory), self.k_norm),
            self.split(self.v(memory)),
        )
        if self.value_residual and first_values is not None:
            if first_values:
                v = v.lerp(first_values[0], self.value_residual)
            else:
                first_values.append(v)
        return q, k, v

    def for_each_query(self, t: Tensor) -> Tensor:
        """Keys or values of ``kv_heads`` heads -> [batch, head, length, d_head]."""
        group = self.n_heads // t.shape[1]
        return t if group == 1 else t.repeat_interleave(group, dim=1)

    def split(self, t: Tensor, norm: nn.Module | None = None) -> Tensor:
        """[batch, length, head * d_head] -> [batch, head, length, d_head], with ``norm`` applied to each vector [d_head]."""
        heads = t.view(*t.shape[:2], -1, self.d_head)
        return (heads if norm is None else lowered(norm(widened(heads)))).transpose(1, 2)


def joined_bias(bias: Tensor | None, mask: Mask | None) -> Tensor | None:
    """The sum of both, broadcastable to [batch, head, query, key]."""
    if mask is None:
        return bias
    return mask.bias if bias is None else bias + mask.bias
