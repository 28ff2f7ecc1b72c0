"""What the registry says of every encoding agrees with the torch module that it names."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import get_type_hints

import pytest

from engine.encodings import ENCODINGS
from engine.encodings.base.layer import PositionalEncoding
from engine.settings.base import BaseConfig
from tests.engine.tiny import tiny_model


@pytest.mark.parametrize("name", ENCODINGS)
def test_spec_and_layer_agree_on_settings_and_on_what_is_needed_and_learned(name: str) -> None:
    spec = ENCODINGS[name]
    layer = resolve_name(spec.layer)
    assert issubclass(layer, PositionalEncoding)
    assert layer.__module__ == f"engine.encodings.{name}.layer"
    assert spec.settings.__module__ == f"engine.encodings.{name}"
    taken = get_type_hints(layer.__init__)
    assert (taken["config"], taken["own"]) == (BaseConfig, spec.settings)

    model = tiny_model(pos_encoding=name, max_positions=12)
    encoding, own = model.encoding, model.config.encoding_settings
    assert encoding.needs_pattern == own.needs_pattern
    assert [tuple(p.shape) for p in encoding.parameters()] == own.parameter_shapes(model.config, 12, True)
