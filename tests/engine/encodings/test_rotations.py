import math
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.config.run_config import parse
from engine.encodings.base.rotation import geometric_frequencies
from engine.encodings.rope import RopeSettings
from engine.encodings.rope.layer import Rope, ScaledRotation, ramp
from engine.encodings.xpos.layer import Xpos
from engine.training.train import train
from tests.engine.tiny import tiny_encoding

LENGTH, WIDTH = 12, 8


def rope(layout: str, base: float = 10_000.0) -> Rope:
    encoding: Rope = tiny_encoding("rope", max_positions=LENGTH, d_head=WIDTH, rope_layout=layout, rope_base=base)
    return encoding


def queries() -> Tensor:
    """[batch, head, length, d_head]"""
    return torch.randn(2, 4, LENGTH, WIDTH, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("base", [500.0, 10_000.0])
def test_interleaved_agrees_with_rotary_embedding_torch(base: float) -> None:
    from rotary_embedding_torch import RotaryEmbedding

    theirs = RotaryEmbedding(WIDTH, theta=base).rotate_queries_or_keys(queries()).detach()
    torch.testing.assert_close(rope("interleaved", base).rotate(queries(), range(LENGTH)), theirs, atol=1e-5, rtol=0)


def test_rotate_half_agrees_with_llama() -> None:
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    angles = torch.arange(LENGTH)[:, None] * 10_000.0 ** -(torch.arange(0, WIDTH, 2) / WIDTH)
    both = torch.cat([angles, angles], -1)[None]  # [1, position, d_head]
    theirs, _ = apply_rotary_pos_emb(queries(), queries(), both.cos(), both.sin())
    torch.testing.assert_close(rope("rotate_half").rotate(queries(), range(LENGTH)), theirs, atol=1e-5, rtol=0)


D_HEAD, BASE, TRAINED = 64, 10_000.0, 2048


def theirs(kind: str, factor: float, length: int | None = None) -> tuple[Tensor, float]:
    """Frequencies [d_head / 2] and the factor of the queries."""
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = LlamaConfig(
        hidden_size=D_HEAD,
        num_attention_heads=1,
        max_position_embeddings=TRAINED,
        rope_parameters={
            "rope_type": kind, "factor": factor, "rope_theta": BASE, "original_max_position_embeddings": TRAINED,
        },
    )  # fmt: skip
    frequencies, temperature = ROPE_INIT_FUNCTIONS[kind](config, None, seq_len=length)
    return frequencies.double(), temperature


def ours(scaling: str, factor: float | None = None) -> ScaledRotation:
    settings = RopeSettings(rope_scaling=scaling, rope_scale_factor=factor)  # type: ignore[arg-type]
    return ScaledRotation(D_HEAD, BASE, TRAINED, settings)


def close(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=1e-5, atol=0)


@pytest.mark.parametrize(
    ("scaling", "factor", "kind", "their_factor", "length"),
    [("pi", 4.0, "linear", 4.0, 8192), *(("ntk", None, "dynamic", 1.0, length) for length in (2049, 5000, 8192))],
)
def test_interpolation_and_automatic_ntk_agree_with_transformers(
    scaling: str, factor: float | None, kind: str, their_factor: float, length: int
) -> None:
    close(ours(scaling, factor).frequencies(length), theirs(kind, their_factor, length)[0])


def test_ntk_slows_the_slowest_by_the_factor_and_a_fixed_factor_is_not_dynamic() -> None:
    ratio = geometric_frequencies(D_HEAD, BASE) / ours("ntk", 8.0).frequencies(TRAINED + 1)
    assert ratio[0] == 1
    assert ratio[-1].item() == pytest.approx(8.0)
    assert (ratio.diff() > 0).all()

    # There s is f n / L - (f - 1): at n = L f it is f^2 - f + 1, not f.
    far = 4 * TRAINED
    assert not torch.allclose(ours("ntk", 4.0).frequencies(far), theirs("dynamic", 4.0, far)[0], rtol=0.01)
    close(ours("ntk", 13.0).frequencies(far), theirs("dynamic", 4.0, far)[0])


def test_yarn_agrees_outside_the_ramp_and_in_its_temperature() -> None:
    found, (frequencies, temperature) = ours("yarn", 4.0), theirs("yarn", 4.0)
    rotations = geometric_frequencies(D_HEAD, BASE) * TRAINED / (2 * math.pi)
    outside = (rotations <= 1) | (rotations >= 32)
    assert 10 < outside.sum() < D_HEAD // 2 - 5
    close(found.frequencies(8192)[outside], frequencies[outside])
    assert found.temperature(8192) == pytest.approx(temperature)


def test_yarns_ramp_is_linear_in_turns_as_in_the_paper() -> None:
    found = ours("yarn", 4.0).frequencies(8192)
    for t, theta in enumerate(geometric_frequencies(D_HEAD, BASE).tolist()):
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
    angles = tiny_encoding("rope", max_positions=10, rope_scaling="pi", seq_len=6).matrices(40)["matrix"]
    assert angles[:, 0].max() < 10
    torch.testing.assert_close(angles[:, 0], torch.arange(40) / 4)

    t = torch.randn(1, 2, 40, 4, generator=torch.Generator().manual_seed(0))
    turned = tiny_encoding("rope", max_positions=10, rope_scaling="yarn").rotate(t, range(40))
    torch.testing.assert_close(turned.norm(dim=-1), (0.1 * math.log(4) + 1) * t.norm(dim=-1))


def last(**settings: Any) -> Any:
    base = {"task": "k_back", "k": 1, "pos_encoding": "rope", "seq_len": 5, "test_lengths": (15,), "steps": 30}
    return list(train(parse({**base, "n_heads": 2, **settings})))[-1]


def test_a_run_is_trained_alike_and_tested_otherwise() -> None:
    plain, scaled = last(), last(rope_scaling="pi")
    assert (plain.metrics, plain.by_length[0]) == (scaled.metrics, scaled.by_length[0])
    assert plain.by_length[1] != scaled.by_length[1]


def xpos(causal: bool = True, **settings: object) -> Xpos:
    encoding: Xpos = tiny_encoding("xpos", max_positions=LENGTH, causal=causal, d_head=WIDTH, **settings)
    return encoding


def q_and_k() -> tuple[Tensor, Tensor]:
    q, k = torch.randn(2, 2, 4, LENGTH, WIDTH, dtype=torch.float64)
    return q, k


def scores(encoding: Xpos, q: Tensor, k: Tensor) -> Tensor:
    positions = range(LENGTH)
    turned_q, turned_k = encoding.rotate(q, positions), encoding.rotate_keys(k, positions)
    bias = encoding.score_bias(turned_q, turned_k, positions, positions)
    return turned_q @ turned_k.mT + (0 if bias is None else bias)


def decayed(q: Tensor, k: Tensor, distance: int, base: float = 512.0) -> Tensor:
    """Re sum_t q_t conj(k_t) e^(i theta_t (m - n)) zeta_t^(|m - n| / B), for interleaved pairs; q, k [d_head]."""
    total = torch.zeros(()).double()
    for t in range(WIDTH // 2):
        theta, zeta = 10_000 ** (-2 * t / WIDTH), (2 * t / WIDTH + 0.4) / 1.4
        product = complex(q[2 * t], q[2 * t + 1]) * complex(k[2 * t], k[2 * t + 1]).conjugate()
        turned = product * complex(math.cos(theta * distance), math.sin(theta * distance))
        total += turned.real * zeta ** (abs(distance) / base)
    return total


@pytest.mark.parametrize("causal", [True, False])
def test_xpos_agrees_with_the_equation(causal: bool) -> None:
    q, k = q_and_k()
    ours = scores(xpos(causal, rope_layout="interleaved", xpos_scale_base=7.0), q, k)
    for m in range(LENGTH):
        for n in range(m + 1 if causal else LENGTH):
            torch.testing.assert_close(ours[0, 1, m, n], decayed(q[0, 1, m], k[0, 1, n], m - n, 7.0))


def test_agrees_with_rotary_embedding_torch_in_a_causal_stack() -> None:
    from rotary_embedding_torch import RotaryEmbedding

    q, k = (t.float() for t in q_and_k())
    turned = RotaryEmbedding(dim=WIDTH, use_xpos=True).rotate_queries_and_keys(q, k)
    ours = scores(xpos(rope_layout="interleaved"), q, k)
    torch.testing.assert_close(ours, turned[0] @ turned[1].mT, atol=1e-5, rtol=1e-5)


def test_without_decay_it_is_rope() -> None:
    q, k = q_and_k()
    rope = tiny_encoding("rope", max_positions=LENGTH, d_model=32, n_heads=4)
    expected = rope.rotate(q, range(LENGTH)) @ rope.rotate(k, range(LENGTH)).mT
    torch.testing.assert_close(scores(xpos(xpos_scale_base=1e6), q, k), expected, atol=1e-3, rtol=1e-3)
