import math

import numpy as np
import pytest
import torch

from engine.analysis.encodings import distances, profiles
from engine.analysis.encodings.profiles import matrices, profile
from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.encodings.base.layer import cosines


def config(encoding: str, **settings: object) -> RunConfig:
    base = {"task": "own_position", "seq_len": 12, "d_model": 16, "n_heads": 4, "pos_encoding": encoding}
    return parse({**base, **settings})


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("family", ["decoder", "encoder"])
def test_every_encoding_has_a_profile(encoding: str, family: str) -> None:
    found, alone = (of(config(encoding, family=family), 24) for of in (profile, matrices))
    for name, value in alone.items():
        np.testing.assert_array_equal(value, found[name], err_msg=name)
    rows = found["rows"]
    assert rows in (12, 24)
    assert found["similarity"].shape == (rows, rows)
    assert found["profile"].shape == found["low"].shape == (len(found["profile"]), len(found["offsets"]))
    assert np.all(found["low"] <= found["profile"] + 1e-6 * max(1, np.abs(found["profile"]).max()))
    assert np.all(np.isfinite(found["matrix"]))
    if found["only_before"]:
        assert family == "decoder"
        assert found["offsets"].max() == 0
        assert not np.any(np.triu(found["similarity"], 1))


def test_a_learned_table_is_shown_as_the_seed_drew_it_up_to_the_trained_length() -> None:
    table = profiles.first_weights(config("learned", seed=3)).table.detach().numpy()  # type: ignore[union-attr]
    found = profile(config("learned", seed=3), 12)
    np.testing.assert_allclose(found["matrix"], table, rtol=1e-6)
    np.testing.assert_allclose(found["dot"], table @ table.T, rtol=1e-4, atol=1e-5)
    assert found["order"] == pytest.approx(distances.order(cosines(torch.from_numpy(table).double()).numpy()), abs=1e-5)
    assert profile(config("learned"), 24)["rows"] == 12
    assert profile(config("sinusoidal"), 24)["rows"] == 24


def test_angles_give_the_sum_of_their_cosines_and_alibi_its_slope() -> None:
    found = profile(config("rope"), 12)
    np.testing.assert_allclose(found["dot"], found["similarity"] * 2, rtol=1e-5)  # d_head 4: two pairs

    found = profile(config("alibi"), 12)
    slopes = -found["profile"][:, found["offsets"] == -1].ravel()
    np.testing.assert_allclose(slopes, [2.0 ** (-8 * h / 4) for h in range(1, 5)])
    assert distances.order(found["similarity"]) == pytest.approx(1.0)


def test_scales_are_those_of_the_settings() -> None:
    found = profile(config("learned", table_init_std=0.25, token_init_std=0.5, d_model=64), 12)
    assert found["added_scale"] == pytest.approx(0.25, rel=0.1)
    assert profile(config("sinusoidal"), 12)["added_scale"] == pytest.approx(math.sqrt(0.5), rel=1e-3)
    assert profile(config("alibi"), 12)["added_scale"] == 0


@torch.no_grad()
def on_content(name: str) -> bool:
    """True if the values that the encoding adds, to tokens or to scores, depend on the tokens."""
    encoding, at = profiles.first_weights(config(name)), range(12)
    first, second = torch.randn(2, 1, 12, 16)
    biases = [encoding.score_bias(q, k, at, at) for q, k in torch.randn(2, 2, 1, 4, 12, 4)]
    added = [encoding.add_to_embedding(x, at) - x for x in (first, second)]
    return not torch.allclose(*added, atol=1e-4) or (biases[0] is not None and not torch.allclose(*biases))


def test_where_tokens_matter_what_a_picture_leaves_out_is_said() -> None:
    by_content = set(filter(on_content, ENCODINGS))
    assert "shaw" in by_content
    assert by_content.isdisjoint({"nope", "sinusoidal", "learned", "t5_bias", "alibi", "rope"})
    assert all(ENCODINGS[name].shown_as for name in by_content)


def test_long_pictures_are_thinned_and_their_numbers_are_not() -> None:
    long = profile(config("sinusoidal", seq_len=512), 1024)
    assert max(long["matrix"].size, long["similarity"].size) <= profiles.MAX_CELLS
    assert long["similarity_at"][-1] >= 1024 - (long["similarity_at"][1] - long["similarity_at"][0])
    short = profile(config("sinusoidal", seq_len=512), 512)
    assert long["order"] == pytest.approx(short["order"])


def test_a_profile_has_mean_smallest_and_largest_which_are_one_where_offsets_are_all() -> None:
    offsets = np.arange(-5, 6)
    at = np.arange(6)
    matrix = np.cos(0.3 * (at[None, :] - at[:, None]))
    mean, low, high = distances.by_offset(np.stack([matrix, 2 * matrix]), offsets)
    np.testing.assert_allclose(mean[0], np.cos(0.3 * offsets))
    np.testing.assert_allclose(mean[1], 2 * np.cos(0.3 * offsets))
    np.testing.assert_allclose(low, high)

    matrix = np.diag([1.0, 2.0], 1)
    mean, low, high = (part.item() for part in distances.by_offset(matrix, np.array([1])))
    assert (mean, low, high) == (1.5, 1.0, 2.0)


def test_order_is_one_where_likeness_falls_in_a_straight_line_and_none_where_all_are_alike() -> None:
    at = np.arange(9)
    near = -np.abs(at[:, None] - at[None, :]).astype(float)
    assert (distances.order(near), distances.order(-near)) == pytest.approx((1.0, -1.0))
    assert math.isnan(distances.order(np.ones((5, 5))))
    assert math.isnan(distances.order(np.ones((1, 1))))
