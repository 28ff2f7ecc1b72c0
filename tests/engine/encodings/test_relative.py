"""What every encoding does to a whole model: relative ones do not notice a shift of all positions, others do."""

from __future__ import annotations

import pytest
import torch

from engine.encodings import ENCODINGS
from tests.engine.tiny import LENGTH, given_to, tiny_model


@pytest.mark.parametrize(
    ("family", "impl"),
    [("decoder", "fused"), ("decoder", "materialised"), ("encoder", "fused"), ("encoder_decoder", "materialised")],
)
@pytest.mark.parametrize("name", ENCODINGS)
def test_shifting_all_positions(name: str, impl: str, family: str) -> None:
    model = tiny_model(pos_encoding=name, family=family, attention_impl=impl)
    here, there = (model(**given_to(model), first_position=first) for first in (0, 37))
    assert torch.allclose(here, there, atol=1e-10) == ENCODINGS[name].relative


@pytest.mark.parametrize("name", ENCODINGS)
def test_an_encoder_without_encoding_is_blind_to_order(name: str) -> None:
    model = tiny_model(pos_encoding=name, family="encoder")
    inputs = given_to(model)["inputs"]
    order = torch.randperm(LENGTH, generator=torch.Generator().manual_seed(3))
    blind = torch.allclose(model(inputs)[:, order], model(inputs[:, order]), atol=1e-10)
    assert blind == (ENCODINGS[name].acts_on == "nowhere")


@pytest.mark.parametrize("name", ENCODINGS)
def test_what_was_first_computed_in_inference_mode_can_be_trained_on_and_drawn(name: str) -> None:
    model = tiny_model(pos_encoding=name, max_positions=23)
    inputs = torch.ones(1, 23, dtype=torch.long)
    with torch.inference_mode():
        model(inputs)
    model(inputs).sum().backward()
    assert model.head.weight.grad.isfinite().all()
    matrices = model.encoding.matrices(LENGTH)
    assert set(matrices) == {"matrix", "similarity"}
    assert matrices["similarity"].shape == (LENGTH, LENGTH)
    assert not any(tensor.requires_grad for tensor in matrices.values())
