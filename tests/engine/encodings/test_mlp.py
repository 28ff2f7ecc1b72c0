"""The network on the position: torch's own layers with the same weights, and its smoothness."""

from __future__ import annotations

import torch
from torch import nn

from engine.encodings.mlp.layer import PositionMlp
from tests.engine.tiny import tiny_config, tiny_encoding


def test_agrees_with_torchs_layers() -> None:
    encoding = tiny_encoding(PositionMlp, tiny_config(pos_encoding="mlp", position_mlp_layers=2), max_positions=8)
    net = nn.Sequential(nn.Linear(1, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 16))
    for theirs, ours in zip(net[::2], [*encoding.hidden, encoding.out], strict=True):
        theirs.load_state_dict(ours.state_dict())
    x = torch.randn(2, 10, 16)
    expected = x + net(torch.arange(4, 14)[:, None] / 8)  # beyond the trained length 8 too
    torch.testing.assert_close(encoding.add_to_embedding(x, range(4, 14)), expected)


def test_neighbours_start_alike() -> None:
    similarity = tiny_encoding(PositionMlp, tiny_config(pos_encoding="mlp"), max_positions=64).matrices(64)[
        "similarity"
    ]
    assert similarity.diagonal(1).min() > 0.99
