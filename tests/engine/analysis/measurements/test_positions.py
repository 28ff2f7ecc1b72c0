"""The position probe, neighbours' cosine and the structure of a table, where the answer is known."""

import pytest
import torch
from torch import Tensor

from engine.analysis.measurements.positions import (
    FITTED,
    JUDGED,
    LENGTHS,
    SQUEEZED,
    accuracy,
    error,
    neighbour_cosine,
    position_probe,
    structure,
    table_structure,
)
from tests.engine.tiny import as_trained

LENGTH, WIDTH = 12, 24


def noise(std: float = 1.0) -> Tensor:
    """[sequence, position, d_model]"""
    generator = torch.Generator().manual_seed(0)
    return std * torch.randn(FITTED + JUDGED, LENGTH, WIDTH, generator=generator).double()


def split(stream: Tensor) -> tuple[Tensor, Tensor]:
    return stream[:FITTED], stream[FITTED:]


def test_a_position_written_on_one_dimension_is_read_and_noise_at_chance_by_sequences_it_was_not_fitted_on() -> None:
    stream = noise(0.05)
    stream[..., 3] += torch.arange(LENGTH)  # in order on one line: the case in which least squares hides the middle
    assert accuracy(*split(stream)) == 1.0
    assert error(*split(stream)) < 0.1

    assert accuracy(*split(noise())) == pytest.approx(1 / LENGTH, abs=0.04)
    assert error(*split(noise())) == pytest.approx(LENGTH / 4, rel=0.1)
    judged_on_itself = accuracy(noise()[:20], noise()[:20])
    assert judged_on_itself > 3 / LENGTH


def test_the_discriminants_agree_with_the_gaussians_they_come_from() -> None:
    means = torch.randn(LENGTH, WIDTH, generator=torch.Generator().manual_seed(1)).double()
    scales = torch.linspace(0.2, 3, WIDTH, dtype=torch.float64)
    fitted, judged = split(noise() * scales + means)
    distances = ((judged[:, :, None] - means) / scales).square().sum(-1)  # [sequence, position, class]
    best = (distances.argmin(-1) == torch.arange(LENGTH)).double().mean().item()
    assert 0.5 < best < 1.0
    assert accuracy(fitted, judged) == pytest.approx(best, abs=0.03)


@pytest.mark.parametrize(("encoding", "readable"), [("learned", True), ("nope", False), ("rope", False)])
def test_layer_zero_has_the_position_where_it_is_added(encoding: str, readable: bool) -> None:
    case = as_trained(task="k_back", family="encoder", seq_len=LENGTH, n_layers=2, pos_encoding=encoding)
    before = [p.clone() for p in case.model.parameters()]
    found = position_probe(case)
    assert set(found) == {f"position_{kind}.{layer}" for kind in ("probe", "error") for layer in range(3)}
    assert (found["position_probe.0"] > 0.9) if readable else (found["position_probe.0"] < 2 / LENGTH)
    assert position_probe(case) == found
    assert case.model.training
    assert all(a.equal(b) for a, b in zip(before, case.model.parameters(), strict=True))


def test_an_encoder_decoder_is_probed_where_it_writes() -> None:
    case = as_trained(task="copy", family="encoder_decoder", seq_len=6, n_layers=2)
    assert position_probe(case)["position_probe.0"] > 0.9


def test_a_sinusoid_looks_the_same_at_every_length_squeezed_as_its_table_says_and_others_as_far_as_they_have_rows() -> (
    None
):
    def measured(encoding: str) -> dict[str, float]:
        return neighbour_cosine(as_trained(task="k_back", seq_len=8, pos_encoding=encoding, d_model=32))

    found = measured("sinusoidal")
    frequencies = 10_000.0 ** -(torch.arange(16).double() / 16)
    for n in LENGTHS:
        assert found[f"neighbour_cosine@{n}"] == pytest.approx(frequencies.cos().mean().item(), abs=1e-6)
        angles = (torch.arange(n) * SQUEEZED / n)[:, None] * frequencies
        rows = torch.cat([angles.sin(), angles.cos()], 1)
        cosines = torch.cosine_similarity(rows[1:], rows[:-1])
        assert found[f"squeezed_cosine@{n}"] == pytest.approx(cosines.mean().item(), abs=1e-9)
    assert measured("nope") == {f"neighbour_cosine@{n}": 1.0 for n in LENGTHS}
    assert set(measured("learned")) == {"neighbour_cosine@8"}


def test_structure_is_one_along_a_line_of_angles_about_zero_in_random_rows_and_of_a_learned_table_only() -> None:
    angles = torch.arange(24).double() * 0.05
    fan = torch.stack([angles.cos(), angles.sin()], dim=1)
    assert structure(fan) == pytest.approx(1, abs=0.05)
    assert structure(fan[torch.randperm(24)]) < 0.5
    rows = torch.randn(64, 64, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert structure(rows) == pytest.approx(0, abs=0.1)

    for encoding, numbers in (("learned", {"table_structure", "table_norm"}), ("rope", set[str]())):
        assert set(table_structure(as_trained(pos_encoding=encoding, d_model=16))) == numbers
