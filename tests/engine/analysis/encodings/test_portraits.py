"""Portraits of every registered encoding, what runs keep of them, and the time of a pass; the numbers behind them where they are known."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import engine
from engine.analysis.encodings import portraits, spectra
from engine.analysis.encodings.portraits import along, final_scales, matrices, profile, profile_of_snapshot
from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.encodings.base.layer import cosines
from engine.runs.folder import RunFolder

RECORDED = Path(engine.__file__).parent / "runs" / "recorded" / "reverse"


def config(encoding: str, **settings: object) -> RunConfig:
    base = {"task": "own_position", "seq_len": 12, "d_model": 16, "n_heads": 4, "pos_encoding": encoding}
    return parse({**base, **settings})


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("family", ["decoder", "encoder"])
def test_every_encoding_has_a_portrait(encoding: str, family: str) -> None:
    found, alone = (of(config(encoding, family=family), 24) for of in (profile, matrices))
    for name, value in alone.items():
        np.testing.assert_array_equal(value, found[name], err_msg=name)
    rows = found["rows"]
    assert rows in (12, 24)
    assert found["similarity"].shape == (rows, rows)
    assert found["profile"].shape == found["low"].shape == (len(found["profile"]), len(found["offsets"]))
    assert np.all(found["low"] <= found["profile"] + 1e-6 * max(1, np.abs(found["profile"]).max()))
    assert np.all(np.isfinite(found["matrix"]))
    assert np.all(np.diff(found["singular"]) <= 1e-6)
    if found["only_before"]:
        assert family == "decoder"
        assert found["offsets"].max() == 0
        assert not np.any(np.triu(found["similarity"], 1))


def test_a_learned_table_is_shown_as_the_seed_drew_it_up_to_the_trained_length() -> None:
    table = portraits.first_weights(config("learned", seed=3)).table.detach().numpy()  # type: ignore[union-attr]
    found = profile(config("learned", seed=3), 12)
    np.testing.assert_allclose(found["matrix"], table, rtol=1e-6)
    np.testing.assert_allclose(found["dot"], table @ table.T, rtol=1e-4, atol=1e-5)
    assert found["order"] == pytest.approx(spectra.order(cosines(torch.from_numpy(table).double()).numpy()), abs=1e-5)
    assert profile(config("learned"), 24)["rows"] == 12
    assert profile(config("sinusoidal"), 24)["rows"] == 24


def test_angles_give_the_sum_of_their_cosines_and_alibi_its_slope() -> None:
    found = profile(config("rope"), 12)
    np.testing.assert_allclose(found["dot"], found["similarity"] * 2, rtol=1e-5)  # d_head 4: two pairs

    found = profile(config("alibi"), 12)
    slopes = -found["profile"][:, found["offsets"] == -1].ravel()
    np.testing.assert_allclose(slopes, [2.0 ** (-8 * h / 4) for h in range(1, 5)])
    assert spectra.order(found["similarity"]) == pytest.approx(1.0)


def test_scales_are_those_of_the_settings() -> None:
    found = profile(config("learned", table_init_std=0.25, token_init_std=0.5, d_model=64), 12)
    assert found["added_scale"] == pytest.approx(0.25, rel=0.1)
    assert profile(config("sinusoidal"), 12)["added_scale"] == pytest.approx(math.sqrt(0.5), rel=1e-3)
    assert profile(config("alibi"), 12)["added_scale"] == 0


@torch.no_grad()
def on_content(name: str) -> bool:
    """Whether what the encoding adds, to tokens or to scores, depends on the tokens."""
    encoding, at = portraits.first_weights(config(name)), range(12)
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
    assert max(long["matrix"].size, long["similarity"].size) <= portraits.MAX_CELLS
    assert long["similarity_at"][-1] >= 1024 - (long["similarity_at"][1] - long["similarity_at"][0])
    assert len(long["singular"]) == 16
    short = profile(config("sinusoidal", seq_len=512), 512)
    assert long["order"] == pytest.approx(short["order"])


def test_a_snapshot_is_read_as_it_was_kept_and_each_layer_by_itself(tmp_path: Path) -> None:
    recorded = RunFolder(RECORDED).read_config()[1]
    first, last = (profile_of_snapshot(str(RECORDED), recorded, step) for step in (0, recorded.steps))
    assert first["matrix"].shape == last["matrix"].shape == (2 * recorded.seq_len - 1, recorded.d_model)
    numbers = along(str(RECORDED), (0, recorded.steps))
    assert numbers["order"] == [pytest.approx(first["order"]), pytest.approx(last["order"])]
    assert numbers["scale"][0] == pytest.approx(float(np.sqrt(np.mean(first["matrix"].astype(float) ** 2))))
    with pytest.raises(ValueError, match="step is 7; no picture"):
        profile_of_snapshot(str(RECORDED), recorded, 7)

    own = config("shaw", n_layers=2)
    drawn = {name: np.random.default_rng(n).normal(size=(33, 4)) for n, name in enumerate(("matrix", "matrix.1"))}
    kept = drawn | {"similarity": np.eye(12), "similarity.1": np.ones((12, 12))}
    (tmp_path / "snapshots").mkdir()
    np.savez(tmp_path / "snapshots" / "0.npz", **{f"encoding/{name}": array for name, array in kept.items()})  # type: ignore[arg-type]
    for layer, name in enumerate(drawn):
        found = profile_of_snapshot(str(tmp_path), own, 0, layer)
        np.testing.assert_allclose(found["matrix"], drawn[name], rtol=1e-6)
        scale = along(str(tmp_path), (0,), layer)["scale"]
        assert scale == [pytest.approx(float(np.sqrt(np.mean(drawn[name] ** 2))))]
    with pytest.raises(ValueError, match="no picture of the encoding of layer 3"):
        profile_of_snapshot(str(tmp_path), own, 0, 2)


def test_final_scales_are_those_of_the_weights(tmp_path: Path) -> None:
    assert final_scales(str(tmp_path)) == {}
    weights = {"embedding.weight": torch.full((4, 2), 2.0), "stack.encodings.0.table": torch.full((3, 2), -0.5)}
    save_file(weights, tmp_path / "weights.safetensors")
    assert final_scales(str(tmp_path)) == {"tokens": 2.0, "encoding": 0.5}
    assert final_scales(str(tmp_path), layer=1) == {"tokens": 2.0}


def test_a_profile_has_mean_smallest_and_largest_which_are_one_where_offsets_are_all() -> None:
    offsets = np.arange(-5, 6)
    at = np.arange(6)
    matrix = np.cos(0.3 * (at[None, :] - at[:, None]))
    mean, low, high = spectra.by_offset(np.stack([matrix, 2 * matrix]), offsets)
    np.testing.assert_allclose(mean[0], np.cos(0.3 * offsets))
    np.testing.assert_allclose(mean[1], 2 * np.cos(0.3 * offsets))
    np.testing.assert_allclose(low, high)

    matrix = np.diag([1.0, 2.0], 1)
    mean, low, high = (part.item() for part in spectra.by_offset(matrix, np.array([1])))
    assert (mean, low, high) == (1.5, 1.0, 2.0)


def test_singular_values_are_numpys_and_a_wave_has_its_power_at_its_frequency() -> None:
    matrix = np.random.default_rng(0).normal(size=(7, 4))
    np.testing.assert_allclose(spectra.singular_values(matrix), np.linalg.svd(matrix, compute_uv=False))

    wave = np.sin(2 * np.pi * np.arange(32) * 4 / 32)[:, None]
    frequencies, power = spectra.fourier(wave + 5.0)
    assert frequencies[power.argmax()] == pytest.approx(4 / 32)
    assert power.sum() == pytest.approx(1.0)
    assert spectra.fourier(np.ones((8, 2)))[1].tolist() == [0.0] * 5


def test_components_of_points_on_a_line_are_one_line() -> None:
    at = np.arange(10.0)
    rows = at[:, None] * np.array([3.0, 4.0]) + 7.0
    curves, explained = spectra.components(rows, trained=6)
    np.testing.assert_allclose(explained, [1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(np.diff(curves[0]), 5.0)  # |(3, 4)|, and beyond the trained rows it goes on
    assert curves[0][:6].mean() == pytest.approx(0.0)


def test_order_is_one_where_likeness_falls_in_a_straight_line_and_none_where_all_are_alike() -> None:
    at = np.arange(9)
    near = -np.abs(at[:, None] - at[None, :]).astype(float)
    assert (spectra.order(near), spectra.order(-near)) == pytest.approx((1.0, -1.0))
    assert math.isnan(spectra.order(np.ones((5, 5))))
    assert math.isnan(spectra.order(np.ones((1, 1))))
