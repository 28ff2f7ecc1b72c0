"""A learned scalar for each head and bucket of distances: e_ij = q_i . k_j / sqrt(d_h) + b[h, bucket(j - i)].

Source: Raffel et al. 2020, Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer,
section 2.1. Half of the buckets hold one offset each, the rest grow logarithmically up to the furthest.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from engine.encodings.base import PositionalEncoding, Positions, constant, offsets

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


def bucket(offset: Tensor, *, buckets: int, furthest: int, causal: bool) -> Tensor:
    """The bucket of each offset j - i. Looking both ways, each direction has half of the buckets."""
    if causal:
        first, distance = torch.zeros_like(offset), (-offset).clamp(min=0)
    else:
        buckets //= 2
        first, distance = (offset > 0) * buckets, offset.abs()
    exact = buckets // 2
    growth = torch.log(distance.float() / exact) / math.log(furthest / exact)  # 0 at exact, 1 at furthest
    far = (exact + (growth * (buckets - exact)).long()).clamp(max=buckets - 1)
    return first + torch.where(distance < exact, distance, far)


@constant(keep=16)
def bucket_table(
    query_positions: Positions,
    key_positions: Positions,
    buckets: int,
    furthest: int,
    causal: bool,
    device: torch.device,
) -> Tensor:
    """[query, key]"""
    offset = offsets(query_positions, key_positions, device)
    return bucket(offset, buckets=buckets, furthest=furthest, causal=causal)


class T5Bias(PositionalEncoding):
    """One table of biases [bucket, head], shared by the layers of a stack."""

    def __init__(self, config: RunConfig, *, max_positions: int, causal: bool | None = None) -> None:
        super().__init__()
        self.causal = config.causal if causal is None else causal
        self.buckets = int(config.value("t5_buckets"))
        self.furthest = int(config.value("t5_max_distance"))
        self.biases = nn.Parameter(torch.empty(self.buckets, config.n_heads))
        nn.init.normal_(self.biases, std=config.d_model**-0.5)

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor:
        rows = bucket_table(query_positions, key_positions, self.buckets, self.furthest, self.causal, q.device)
        return nn.functional.embedding(rows, self.biases).permute(2, 0, 1)[None]  # [1, head, query, key]

    def picture(self, length: int) -> dict[str, Tensor]:
        places = range(length)
        rows = bucket_table(places, places, self.buckets, self.furthest, self.causal, torch.device("cpu"))
        matrix = self.biases.detach().float().cpu()[rows].permute(2, 0, 1)  # [head, query, key]
        return {"matrix": matrix, "similarity": matrix.mean(0)}
