from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from engine.analysis.attention.requests import ModelRequest
from engine.analysis.depth.jobs import MeasureDepth, MeasureRunDepth, by_seed, dial
from engine.analysis.depth.measure import (
    draw,
    first_gradients,
    lengths_up_to,
    outputs_after,
    oversquashing,
    oversquashing_of_first_weights,
    roll_out,
    token_shares,
)
from engine.analysis.depth.sentences import across
from engine.analysis.measurements.depth import gradients_by_part, untrained
from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.foundation.files import DATA_VARIABLE
from engine.model.transformer import Transformer
from engine.tasks.base.data import task_data
from engine.training.data import Batch


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    return tmp_path


def some_batch(config: RunConfig, size: int = 2) -> Batch:
    tokens = torch.randint(10, (size, config.seq_len), generator=torch.Generator().manual_seed(config.seed))
    return Batch(tokens, tokens.flip(1), {})


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("encoding", ["rope", "shaw"])
def test_the_first_layers_of_a_deep_stack_are_a_stack_of_that_depth(encoding: str, norm: str) -> None:
    config = dial(pos_encoding=encoding, norm=norm, seq_len=12, n_layers=5)
    deep, shallow, batch = untrained(config), untrained(config.replace(n_layers=2)), some_batch(config)
    weights = {name: value for name, value in deep.state_dict().items() if name in shallow.state_dict()}
    shallow.load_state_dict(weights)
    for measure in (roll_out, token_shares, first_gradients):
        of_deep, of_shallow = (np.array(measure(model, batch, (2,))) for model in (deep, shallow))
        assert of_deep == pytest.approx(of_shallow, rel=1e-5)
    of_deep, of_shallow = (oversquashing(model, (2,), (3, 12)) for model in (deep, shallow))
    for name in ("first_token", "repeat", "repeat_equal"):
        assert of_deep[name] == pytest.approx(of_shallow[name], rel=1e-4)  # type: ignore[literal-required]


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
@pytest.mark.parametrize("encoding", ["rope", "cope"])
def test_one_model_with_its_norms_moved_is_each_model_drawn_by_itself(encoding: str, norm: str) -> None:
    depths, config = (1, 3), dial(pos_encoding=encoding, norm=norm, seq_len=12)
    numbers, alone = draw(config, depths), config.replace(n_layers=3)
    tokens = torch.randint(alone.task_settings.n_symbols, (1, 12), generator=torch.Generator().manual_seed(alone.seed))
    batch = Batch(tokens, task_data(alone.task).answer(tokens, alone.task_settings), {})
    for name in dict.fromkeys(("pre", "post", norm)):
        found = first_gradients(untrained(alone.replace(norm=name)), batch, depths)
        assert numbers["gradient"][name].tolist() == found.tolist()
    assert numbers["roll_out"].tolist() == roll_out(untrained(alone), batch, depths)[0].tolist()
    assert (
        numbers["first_token"].tolist()
        == oversquashing(untrained(alone), depths, lengths_up_to(12))["first_token"].tolist()
    )


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_at_longer_lengths_it_is_the_same_draw(norm: str) -> None:
    depths, config = (1, 2), dial(norm=norm, seed=3)
    near, far = draw(config, depths), oversquashing_of_first_weights(config, depths)
    assert far["lengths"].tolist() == [8, 32, 128, 512]
    for name in ("first_token", "repeat"):
        assert far[name][:, :2] == pytest.approx(near[name][:, :2], rel=1e-3)  # type: ignore[literal-required]
    assert (far["first_token"][:, -1] < far["first_token"][:, 0]).all()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_one_pass_gives_the_output_at_every_length(encoding: str) -> None:
    model = untrained(dial(pos_encoding=encoding, seq_len=16, n_layers=2))
    tokens = some_batch(model.config).inputs
    with torch.no_grad():
        (whole,), (short,) = (outputs_after(model, tokens[:, :length], (2,)) for length in (16, 5))
    assert short[:, -1].numpy() == pytest.approx(whole[:, 4].numpy(), abs=1e-5)


def test_the_gradient_is_that_of_the_first_layers_weights_and_leaves_the_model_as_it_was() -> None:
    model = untrained(dial(seq_len=8, n_layers=2))
    batch = some_batch(model.config, size=1)
    model.head.requires_grad_(False)
    (found,) = first_gradients(model, batch, (2,))
    assert not model.head.weight.requires_grad
    assert all(weight.requires_grad for weight in model.stack.parameters())
    parts = gradients_by_part(model, batch)
    assert found == pytest.approx(np.hypot.reduce([size for part, size in parts.items() if part.startswith("0.")]))


# Referee's numbers, from code that shares nothing with this one: forward passes of untrained stacks of width 64 with 4 heads.


Measure = Callable[[Transformer, tuple[int, ...]], Sequence[np.ndarray] | np.ndarray]


def medians(measure: Measure, config: RunConfig, depths: tuple[int, ...], *, usual: bool = False) -> list[np.ndarray]:
    """Medians of a measurement over four draws. ``usual``: with torch's initial weights for linear layers, smaller than ours in
    attention, as the referee had them."""
    models = (untrained(config.replace(seed=seed, n_layers=max(depths))) for seed in range(4))
    found = [measure(with_weights(model, seed, usual), depths) for seed, model in enumerate(models)]
    return [np.median(values, axis=0) for values in zip(*found, strict=True)]


def roll_outs(model: Transformer, depths: tuple[int, ...]) -> Sequence[np.ndarray]:
    return roll_out(model, some_batch(model.config), depths)


def shares(model: Transformer, depths: tuple[int, ...]) -> np.ndarray:
    return token_shares(model, some_batch(model.config), depths)


def changes(model: Transformer, depths: tuple[int, ...]) -> Sequence[np.ndarray]:
    found = oversquashing(model, depths, lengths_up_to(model.config.seq_len))
    return [found["first_token"][0], found["repeat"][0], found["repeat_equal"][0]]


def with_weights(model: Transformer, seed: int, usual: bool) -> Transformer:
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        for module in model.modules():
            if usual and isinstance(module, nn.Linear):
                module.reset_parameters()
    return model


@pytest.mark.parametrize(
    ("encoding", "referee", "uniform"),
    [
        ("nope", [0.008, 0.10, 0.36, 0.82, 0.995], 0.016),
        ("rope", [0.008, 0.10, 0.36, 0.82, 0.995], 0.016),
        ("alibi", [0.003, 0.04, 0.18, 0.61, 0.97], 0.006),
    ],
)
def test_roll_out_moves_to_token_0_with_depth_while_each_layer_does_not(
    encoding: str, referee: list[float], uniform: float
) -> None:
    flow, weight = medians(roll_outs, dial(pos_encoding=encoding), (1, 4, 8, 16, 32))
    assert flow[:, 0] == pytest.approx(referee, abs=0.015)
    assert weight[:, 0] == pytest.approx(uniform, abs=0.02)


@pytest.mark.parametrize("encoding", ["rope", "alibi"])
def test_with_skips_tokens_stay_different(encoding: str) -> None:
    config, depths = dial(pos_encoding=encoding, seq_len=32, family="encoder"), (1, 4, 8, 16)
    # The referee's norm of a matrix was another one.
    assert medians(shares, config, depths, usual=True) == pytest.approx([0.91, 0.87, 0.81, 0.72], abs=0.1)
    # Our branches are larger, so that each layer mixes more.
    assert medians(shares, config, depths) == pytest.approx([0.92, 0.67, 0.46, 0.36], abs=0.05)


@pytest.mark.parametrize(
    ("encoding", "referee", "ours"), [("nope", 1e-7, 1e-7), ("rope", 4e-5, 3e-3), ("alibi", 1.4e-2, 2.7e-2)]
)
def test_without_skips_and_mlp_tokens_become_equal(encoding: str, referee: float, ours: float) -> None:
    """Four layers; within a factor of 2.5."""
    config = dial(pos_encoding=encoding, seq_len=32, skips=False, mlp=False, family="encoder")
    for usual, expected in ((True, referee), (False, ours)):
        (share,) = medians(shares, config, (4,), usual=usual)
        assert np.log(share / expected) == pytest.approx(0, abs=np.log(2.5)), share


@pytest.mark.parametrize(
    ("encoding", "referee", "repeats"),
    [("nope", [0.22, 0.086, 0.033, 0.010], 1.5e-5), ("alibi", [0.18, 0.053, 0.013, 0.0014], 5e-6)],
)
def test_the_last_of_many_tokens_forgets_token_0(encoding: str, referee: list[float], repeats: float) -> None:
    config = dial(pos_encoding=encoding, seq_len=512)
    usual, ours = medians(changes, config, (6,), usual=True), medians(changes, config, (6,))
    assert usual[0] == pytest.approx(referee, rel=0.35)
    assert (ours[0] > 2 * usual[0]).all(), "our branches are larger"
    assert usual[1][[0, -1]] == pytest.approx([1.7e-2, repeats], rel=0.5)
    for first, repeat, equal in (usual, ours):
        assert (np.diff(first) < 0).all()
        assert repeat[-1] < repeat[0] / 100
        assert equal[-1] > 0.35


def test_a_draw_is_kept_under_its_settings_and_measured_anew_where_the_file_is_damaged(data: Path) -> None:
    config = dial(seq_len=9, mlp=False, skips=False)
    first, other = by_seed(config, (0, 1), (1, 2))
    assert not np.array_equal(first["roll_out"], other["roll_out"])
    files = sorted((data / "depth").iterdir())
    assert len(files) == 2
    stamps = [file.stat().st_mtime_ns for file in files]
    again = MeasureDepth(config, (1, 2)).do()
    assert [file.stat().st_mtime_ns for file in files] == stamps
    assert all(np.array_equal(again[name], first[name]) for name in first if name != "gradient")  # type: ignore[literal-required]
    assert again["gradient"]["post"].tolist() == first["gradient"]["post"].tolist()
    for file in files:
        file.write_text("{")
    assert MeasureDepth(config, (1, 2)).do()["token_share"].tolist() == first["token_share"].tolist()


def test_across_draws_there_is_a_median() -> None:
    draws = list(by_seed(dial(seq_len=4), range(3), (1,)))
    middle = across(draws)
    assert middle["gradient"]["pre"] in [numbers["gradient"]["pre"] for numbers in draws], (
        "of three draws the middle one"
    )
    assert middle["token_share"] == sorted(numbers["token_share"] for numbers in draws)[1]
    assert middle["lengths"].tolist() == [4]


def test_a_run_is_measured_after_each_of_its_layers() -> None:
    request = ModelRequest(parse({"task": "reverse", "seq_len": 8, "n_layers": 3}))
    numbers = MeasureRunDepth(request).do()
    assert numbers["depths"].tolist() == [1, 2, 3]
    assert numbers["lengths"].tolist() == [8, 15]
    assert numbers["roll_out"].sum(axis=1) == pytest.approx(1)
    assert list(numbers["gradient"]) == ["pre"]
    again = MeasureRunDepth(request).do()
    assert numbers["gradient"]["pre"].tolist() == again["gradient"]["pre"].tolist(), (
        "the model in memory stays as it was"
    )

    for changed in ({"family": "encoder"}, {"coupled_positions": True}):
        found = MeasureRunDepth(replace(request, config=request.config.replace(**changed))).do()
        assert found["first_token"].shape == (3, 0)
        assert found["roll_out"].sum(axis=1) == pytest.approx(1)
    with pytest.raises(ValueError, match=r"family is encoder_decoder; it must be decoder or encoder"):
        MeasureRunDepth(replace(request, config=request.config.replace(family="encoder_decoder"))).do()
