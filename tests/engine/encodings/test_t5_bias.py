"""T5's buckets and biases against transformers and x-transformers."""

from __future__ import annotations

import pytest
import torch

from engine.encodings.t5_bias.layer import T5Bias, bucket
from tests.engine.tiny import tiny_config, tiny_encoding

OFFSETS = torch.arange(-45_000, 45_000)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("buckets", "max_distance"), [(32, 128), (16, 64), (33, 100), (4, 33), (64, 33), (64, 4096)])
def test_no_bucket_differs_from_transformers(causal: bool, buckets: int, max_distance: int) -> None:
    from transformers.models.t5.modeling_t5 import T5Attention

    ours = bucket(OFFSETS, buckets=buckets, max_distance=max_distance, causal=causal)
    theirs = T5Attention._relative_position_bucket(  # noqa: SLF001 - the library has no public name for it
        OFFSETS, bidirectional=not causal, num_buckets=buckets, max_distance=max_distance
    )
    assert (ours != theirs).sum() == 0
    assert ours.min() >= 0
    assert ours.max() < buckets


@pytest.mark.parametrize("causal", [True, False])
def test_bias_agrees_with_x_transformers(causal: bool) -> None:
    from x_transformers.x_transformers import RelativePositionBias

    encoding = tiny_encoding(T5Bias, tiny_config(pos_encoding="t5_bias"), max_positions=40, causal=causal)
    theirs = RelativePositionBias(1.0, causal=causal, heads=4)
    theirs.relative_attention_bias.weight.data.copy_(encoding.biases)
    q = torch.zeros(1, 4, 40, 4)
    torch.testing.assert_close(encoding.score_bias(q, q, range(40), range(40))[0], theirs(40, 40))


def test_each_direction_has_its_own_buckets_unless_causal_and_the_picture_is_the_bias() -> None:
    assert set(bucket(torch.arange(1, 500), buckets=32, max_distance=128, causal=True).tolist()) == {0}
    ahead = set(bucket(torch.arange(1, 500), buckets=32, max_distance=128, causal=False).tolist())
    behind = set(bucket(-torch.arange(1, 500), buckets=32, max_distance=128, causal=False).tolist())
    assert not ahead & behind

    encoding = tiny_encoding(T5Bias, tiny_config(pos_encoding="t5_bias"), max_positions=9)
    matrices = encoding.matrices(9)
    q = torch.zeros(1, 4, 9, 4)
    torch.testing.assert_close(matrices["matrix"], encoding.score_bias(q, q, range(9), range(9))[0].detach())
    torch.testing.assert_close(matrices["similarity"], matrices["matrix"].mean(0))
