"""The position probe where the answer is known: written plainly, in order, not at all, and on sequences not fitted on."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from engine.analysis.measurements.position_probe import FITTED, JUDGED, accuracy, error, measure
from engine.config.run_config import parse
from engine.training.data import Data
from engine.training.train import prepare
from engine.training.trained import Trained

LENGTH, WIDTH = 12, 24


def noise(std: float = 1.0, seed: int = 0) -> Tensor:
    """[sequence, position, d_model]"""
    generator = torch.Generator().manual_seed(seed)
    return std * torch.randn(FITTED + JUDGED, LENGTH, WIDTH, generator=generator).double()


def split(stream: Tensor) -> tuple[Tensor, Tensor]:
    return stream[:FITTED], stream[FITTED:]


def test_a_position_written_on_one_dimension_is_read() -> None:
    stream = noise(0.05)
    stream[..., 3] += torch.arange(LENGTH)  # in order on one line: the case in which least squares hides the middle
    assert accuracy(*split(stream)) == 1.0
    assert error(*split(stream)) < 0.1


def test_noise_is_read_at_chance_by_sequences_it_was_not_fitted_on() -> None:
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
    config = parse({"task": "k_back", "family": "encoder", "seq_len": LENGTH, "n_layers": 2, "pos_encoding": encoding})
    model = prepare(config)
    before = [p.clone() for p in model.parameters()]
    trained = Trained(config, model, Data(config), torch.device("cpu"))
    found = measure(trained)
    assert set(found) == {f"position_{kind}.{layer}" for kind in ("probe", "error") for layer in range(3)}
    assert (found["position_probe.0"] > 0.9) if readable else (found["position_probe.0"] < 2 / LENGTH)
    assert measure(trained) == found
    assert model.training
    assert all(a.equal(b) for a, b in zip(before, model.parameters(), strict=True))


def test_an_encoder_decoder_is_probed_where_it_writes() -> None:
    config = parse({"task": "copy", "family": "encoder_decoder", "seq_len": 6, "n_layers": 2})
    trained = Trained(config, prepare(config), Data(config), torch.device("cpu"))
    assert measure(trained)["position_probe.0"] > 0.9
