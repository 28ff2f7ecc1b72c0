import re
from pkgutil import resolve_name
from typing import Any, get_type_hints

import pytest
import torch

from engine.config.run_config import parse
from engine.encodings import ENCODINGS
from engine.encodings.base.layer import PositionalEncoding
from engine.settings.base import BaseConfig
from tests.engine.tiny import LENGTH, given_to, shifted, tiny_model


@pytest.mark.parametrize("name", ENCODINGS)
def test_spec_and_layer_agree_on_settings_and_on_what_is_needed_and_learned(name: str) -> None:
    spec = ENCODINGS[name]
    layer = resolve_name(spec.layer)
    assert issubclass(layer, PositionalEncoding)
    assert layer.__module__ == f"engine.encodings.{name}.layer"
    assert spec.settings.__module__ == f"engine.encodings.{name}"
    parameters = get_type_hints(layer.__init__)
    assert (parameters["config"], parameters["settings"]) == (BaseConfig, spec.settings)

    model = tiny_model(pos_encoding=name, max_positions=12)
    encoding, settings = model.encoding, model.config.encoding_settings
    assert encoding.needs_pattern == settings.needs_pattern
    assert [tuple(p.shape) for p in encoding.parameters()] == settings.parameter_shapes(model.config, 12, True)


@pytest.mark.parametrize("name", [name for name in ENCODINGS if name not in ("designed", "my_encoding")])
def test_a_published_encoding_names_its_source_by_address(name: str) -> None:
    assert re.fullmatch(r"https://arxiv\.org/abs/\d{4}\.\d{5}", ENCODINGS[name].url)


@pytest.mark.parametrize(
    ("family", "impl"),
    [("decoder", "fused"), ("decoder", "materialised"), ("encoder", "fused"), ("encoder_decoder", "materialised")],
)
@pytest.mark.parametrize("name", ENCODINGS)
def test_shifting_all_positions(name: str, impl: str, family: str) -> None:
    model = tiny_model(pos_encoding=name, family=family, attention_impl=impl)
    here, there = (model(**shifted(given_to(model), by)) for by in (0, 37))
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


def equation_of(name: str, **settings: Any) -> str:
    """The equation of an encoding with its numbers, at a width of 32 and a head width of 8."""
    config = parse({"pos_encoding": name, "d_model": 32, "n_heads": 4, **settings})
    return config.encoding.equation_with_numbers(config, config.encoding_settings)


@pytest.mark.parametrize("name", [name for name, row in ENCODINGS.items() if row.symbols])
def test_every_symbol_named_stands_in_the_equation_with_its_number_and_nothing_else_changes(name: str) -> None:
    assert equation_of("rope", rope_base=500.0) == (
        r"e_{ij} = (R_i q_i) \cdot (R_j k_j) / \sqrt{{8}},\quad R_i = \mathrm{diag}_t\,\mathrm{rot}(i\,{500}^{-2t/{8}})"
    )
    assert r"\tfrac{1}{\sqrt{2 \cdot {9}}}[" in equation_of("fourier", fourier_frequencies=9), "as the code divides"
    assert equation_of(name) != ENCODINGS[name].equation
    for _, setting in ENCODINGS[name].symbols:
        value = 8 if setting == "head_width" else parse({"pos_encoding": name}).value(setting)
        assert f"{{{value:g}}}" in equation_of(name)
