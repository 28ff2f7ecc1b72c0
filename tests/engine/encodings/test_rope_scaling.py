"""RoPE beyond the trained length: the papers' equations by hand, a well-known library where they agree, and what must
not change."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.config.run_config import parse
from engine.encodings.base.rotation import rotary_frequencies
from engine.encodings.rope.layer import Rope, ScaledRotation, ramp
from engine.training.train import train
from tests.engine.tiny import tiny_config, tiny_encoding

WIDTH, BASE, TRAINED = 64, 10_000.0, 2048


def theirs(kind: str, factor: float, length: int | None = None) -> tuple[Tensor, float]:
    """Frequencies [d_head / 2] and what queries and keys are multiplied by."""
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = LlamaConfig(
        hidden_size=WIDTH,
        num_attention_heads=1,
        max_position_embeddings=TRAINED,
        rope_parameters={
            "rope_type": kind, "factor": factor, "rope_theta": BASE, "original_max_position_embeddings": TRAINED,
        },
    )  # fmt: skip
    frequencies, temperature = ROPE_INIT_FUNCTIONS[kind](config, None, seq_len=length)
    return frequencies.double(), temperature


def ours(scaling: str, factor: float | None = None) -> ScaledRotation:
    return ScaledRotation(WIDTH, BASE, TRAINED, scaling, factor)  # type: ignore[arg-type]


def close(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=1e-5, atol=0)


def test_position_interpolation_agrees() -> None:
    close(ours("pi", 4.0).frequencies(8192), theirs("linear", 4.0)[0])


@pytest.mark.parametrize("length", [2049, 5000, 8192])
def test_automatic_ntk_agrees_with_the_dynamic_form_at_factor_one(length: int) -> None:
    close(ours("ntk").frequencies(length), theirs("dynamic", 1.0, length)[0])


def test_ntk_slows_the_slowest_by_the_factor_and_a_fixed_factor_is_not_dynamic() -> None:
    ratio = rotary_frequencies(WIDTH, BASE) / ours("ntk", 8.0).frequencies(TRAINED + 1)
    assert ratio[0] == 1
    assert ratio[-1].item() == pytest.approx(8.0)
    assert (ratio.diff() > 0).all()

    # There s is f n / L - (f - 1): at n = L f it is f^2 - f + 1, not f.
    far = 4 * TRAINED
    assert not torch.allclose(ours("ntk", 4.0).frequencies(far), theirs("dynamic", 4.0, far)[0], rtol=0.01)
    close(ours("ntk", 13.0).frequencies(far), theirs("dynamic", 4.0, far)[0])


def test_yarn_agrees_outside_the_ramp_and_in_its_temperature() -> None:
    found, (frequencies, temperature) = ours("yarn", 4.0), theirs("yarn", 4.0)
    rotations = rotary_frequencies(WIDTH, BASE) * TRAINED / (2 * math.pi)
    outside = (rotations <= 1) | (rotations >= 32)
    assert 10 < outside.sum() < WIDTH // 2 - 5
    close(found.frequencies(8192)[outside], frequencies[outside])
    assert found.temperature(8192) == pytest.approx(temperature)


def test_yarns_ramp_is_linear_in_turns_as_in_the_paper() -> None:
    found = ours("yarn", 4.0).frequencies(8192)
    for t, theta in enumerate(rotary_frequencies(WIDTH, BASE).tolist()):
        wavelength = 2 * math.pi / theta
        gamma = min(1.0, max(0.0, (TRAINED / wavelength - 1) / 31))
        assert found[t].item() == pytest.approx((1 - gamma) * theta / 4 + gamma * theta)
    assert (found - theirs("yarn", 4.0)[0]).abs().max() > 1e-3 * found.max()  # theirs is linear in t
    assert ramp(torch.tensor([0.5, 1.0, 16.5, 32.0, 99.0]), 1, 32).tolist() == [0, 0, 0.5, 1, 1]


@pytest.mark.parametrize("scaling", ["pi", "ntk", "yarn"])
def test_up_to_the_trained_length_nothing_changes(scaling: str) -> None:
    plain = ours("none")
    for factor in (None, 4.0):
        scaled = ours(scaling, factor)
        assert scaled.frequencies(TRAINED).equal(plain.frequencies(TRAINED))
        assert scaled.temperature(TRAINED) == 1
        assert not scaled.frequencies(TRAINED + 1).equal(plain.frequencies(TRAINED + 1))


def test_automatic_interpolation_stays_within_the_trained_angles_and_yarn_multiplies_queries_and_keys() -> None:
    config = tiny_config(pos_encoding="rope", rope_scaling="pi", seq_len=6)
    angles = tiny_encoding(Rope, config, max_positions=10).matrices(40)["matrix"]
    assert angles[:, 0].max() < 10
    torch.testing.assert_close(angles[:, 0], torch.arange(40) / 4)

    t = torch.randn(1, 2, 40, 4, generator=torch.Generator().manual_seed(0))
    rope = tiny_encoding(Rope, tiny_config(pos_encoding="rope", rope_scaling="yarn"), max_positions=10)
    turned = rope.rotate(t, range(40))
    torch.testing.assert_close(turned.norm(dim=-1), (0.1 * math.log(4) + 1) * t.norm(dim=-1))


def last(**settings: Any) -> Any:
    base = {"task": "k_back", "k": 1, "pos_encoding": "rope", "seq_len": 5, "test_lengths": (15,), "steps": 30}
    return list(train(parse({**base, "n_heads": 2, **settings})))[-1]


def test_a_run_is_trained_alike_and_tested_otherwise() -> None:
    plain, scaled = last(), last(rope_scaling="pi")
    assert plain.metrics == scaled.metrics
    assert plain.by_length[0] == scaled.by_length[0]
    assert plain.by_length[1] != scaled.by_length[1]
