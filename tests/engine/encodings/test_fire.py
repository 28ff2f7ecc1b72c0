"""FIRE against the listing in the paper's appendix, and the properties of its interpolation."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from engine.encodings.fire.layer import Fire
from tests.engine.tiny import tiny_config, tiny_encoding

LENGTH = 20


def published(encoding: Fire, length: int) -> Tensor:
    """The appendix's ``forward``, literally, with our weights; [head, query, key]."""
    mlp = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 4))
    mlp[0].load_state_dict(encoding.hidden.state_dict())
    mlp[2].load_state_dict(encoding.out.state_dict())
    positions = torch.arange(length, dtype=torch.float)
    rel_distance = positions[:, None] - positions[None, :]
    threshold = torch.abs(encoding.threshold_factor * encoding.threshold)
    pos_normalizer = torch.max(positions, threshold)[:, None]
    rel_distance = torch.log(torch.abs(encoding.c * rel_distance) + 1)
    pos_normalizer = torch.log(torch.abs(encoding.c * pos_normalizer) + 1) + 1e-6
    return mlp((rel_distance / pos_normalizer).unsqueeze(-1)).permute(2, 0, 1)


@pytest.mark.parametrize("threshold", [None, 3.0, 100.0])
def test_agrees_with_the_paper_where_a_causal_stack_looks(threshold: float | None) -> None:
    encoding = tiny_encoding(Fire, tiny_config(pos_encoding="fire", fire_threshold=threshold), max_positions=LENGTH)
    q = torch.zeros(1, 4, LENGTH, 4)
    bias = encoding.score_bias(q, q, range(LENGTH), range(LENGTH))[0]
    seen = torch.ones(LENGTH, LENGTH).tril().bool()
    torch.testing.assert_close(bias[:, seen], published(encoding, LENGTH)[:, seen])


def test_distances_stay_within_one_and_up_to_the_threshold_a_shift_changes_nothing() -> None:
    encoding = tiny_encoding(Fire, tiny_config(pos_encoding="fire"), max_positions=16)
    distances = encoding.distances(range(500), range(500))
    assert distances.abs().max() <= 1.0
    assert distances[499, 0].item() == pytest.approx(1.0, abs=1e-4)
    torch.testing.assert_close(distances, -distances.T)  # looking both ways, directions are told apart

    encoding = tiny_encoding(Fire, tiny_config(pos_encoding="fire", fire_threshold=30.0), max_positions=16)
    here, there, beyond = (encoding.bias(range(first, first + 8), range(first, first + 8)) for first in (0, 20, 60))
    torch.testing.assert_close(here, there)
    assert not torch.allclose(here, beyond)
