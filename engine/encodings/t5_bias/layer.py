"""T5's relative bias, a learned scalar for each head and bucket of distances: e_ij = q_i . k_j / sqrt(d_h) + b[h, bucket(j - i)].

Source: Raffel et al. 2020, Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer,
section 2.1. Half of the buckets hold one offset each, the rest grow logarithmically up to the largest distance.
"""

import math

import torch
from torch import Tensor, nn

from engine.encodings.base.layer import PositionalEncoding, Positions, bias_matrices, cached_by_positions, offsets
from engine.encodings.t5_bias import T5BiasSettings
from engine.settings.base import BaseConfig


def bucket(offset: Tensor, *, buckets: int, max_distance: int, causal: bool) -> Tensor:
    """The bucket of each offset j - i, of any shape. In both directions, each direction has half of the buckets."""
    if causal:
        first, distance = torch.zeros_like(offset), (-offset).clamp(min=0)
    else:
        buckets //= 2
        first, distance = (offset > 0) * buckets, offset.abs()
    exact = buckets // 2
    growth = torch.log(distance.float() / exact) / math.log(max_distance / exact)  # 0 at exact, 1 at max_distance
    far = (exact + (growth * (buckets - exact)).long()).clamp(max=buckets - 1)
    return first + torch.where(distance < exact, distance, far)


@cached_by_positions(maxsize=16)
def bucket_table(
    query_positions: Positions, key_positions: Positions, buckets: int, max_distance: int, causal: bool, device: torch.device
) -> Tensor:  # fmt: skip
    """The buckets, [query, key]."""
    offset = offsets(query_positions, key_positions, device)
    return bucket(offset, buckets=buckets, max_distance=max_distance, causal=causal)


class T5Bias(PositionalEncoding):
    """A table of biases [bucket, head], which the layers of a stack share."""

    def __init__(self, config: BaseConfig, settings: T5BiasSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        self.causal = causal
        self.buckets = settings.t5_buckets
        self.max_distance = settings.t5_max_distance
        self.biases = nn.Parameter(torch.empty(self.buckets, config.n_heads))
        nn.init.normal_(self.biases, std=config.d_model**-0.5)

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor:
        rows = bucket_table(query_positions, key_positions, self.buckets, self.max_distance, self.causal, q.device)
        return nn.functional.embedding(rows, self.biases).permute(2, 0, 1)[None]  # [1, head, query, key]

    def matrices(self, length: int) -> dict[str, Tensor]:
        at = range(length)
        rows = bucket_table(at, at, self.buckets, self.max_distance, self.causal, torch.device("cpu"))
        return bias_matrices(self.biases.cpu()[rows].permute(2, 0, 1))  # [head, query, key]
