"""FIRE, functional interpolation: e_ij = q_i . k_j / sqrt(d_h) + f_h(psi(i - j) / psi(max(L, i))), psi(x) = log(1 + c x).

Source: Li et al. 2023, Functional Interpolation for Relative Positions Improves Long Context Transformers, section 3: f is a network of
one hidden layer on one number, c and L are learned, and however long the sequence the number stays in [0, 1]. The paper's stack is
causal. In both directions, the number here is sign(i - j) psi(|i - j|) / psi(max(L, i, j)), in [-1, 1]: under a causal mask that is the
paper's, and the two directions differ.

Beyond L the query's position enters, so that shifting all positions changes the biases a little.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from engine.encodings.base.layer import PositionalEncoding, Positions, bias_matrices, index_of, offsets
from engine.encodings.base.modules import Dense, at_least_single
from engine.encodings.fire import FireSettings
from engine.settings.base import BaseConfig


class Fire(PositionalEncoding):
    def __init__(self, config: BaseConfig, settings: FireSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        self.threshold = max_positions / 4 if settings.fire_threshold is None else settings.fire_threshold
        self.threshold_factor = nn.Parameter(torch.ones(1))
        self.c = nn.Parameter(torch.full((1,), settings.fire_c))
        self.hidden = Dense(1, settings.fire_width)
        self.out = Dense(settings.fire_width, config.n_heads)

    def distances(self, query_positions: Positions, key_positions: Positions) -> Tensor:
        """The number that f reads, [query, key], in [-1, 1]: above zero for keys before the query."""
        dtype, device = at_least_single(self.c), self.c.device
        c, longest = self.c.to(dtype).abs(), (self.threshold_factor.to(dtype) * self.threshold).abs()
        before = -offsets(query_positions, key_positions, device).to(dtype)  # i - j
        queries, keys = index_of(query_positions, device)[:, None], index_of(key_positions, device)[None, :]
        reach = torch.maximum(torch.maximum(queries, keys).to(dtype), longest)  # [query, key]
        return before.sign() * (c * before.abs()).log1p() / ((c * reach).log1p() + 1e-6)

    def bias(self, query_positions: Positions, key_positions: Positions) -> Tensor:
        """f_h of the distances, [head, query, key]."""
        number = self.distances(query_positions, key_positions)[..., None]
        biases: Tensor = self.out(relu(self.hidden(number)))  # [query, key, head]
        return biases.permute(2, 0, 1)

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor:
        return self.bias(query_positions, key_positions)[None].to(q.dtype)

    def matrices(self, length: int) -> dict[str, Tensor]:
        return bias_matrices(self.bias(range(length), range(length)))
