"""Equations with numbers: the registry's symbols stand in the equation and are put in."""

from __future__ import annotations

import pytest

from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS


def shown(config: RunConfig) -> str:
    return config.encoding.equation_with_numbers(config, config.encoding_settings)


def test_base_and_width_are_put_in_and_nothing_else() -> None:
    config = parse({"pos_encoding": "rope", "rope_base": 500.0, "d_model": 32, "n_heads": 4})
    assert shown(config) == (
        r"e_{ij} = (R_i q_i) \cdot (R_j k_j) / \sqrt{{8}},\quad R_i = \mathrm{diag}_t\,\mathrm{rot}(i\,{500}^{-2t/{8}})"
    )


@pytest.mark.parametrize("name", [name for name, row in ENCODINGS.items() if row.symbols])
def test_every_symbol_named_stands_in_the_equation(name: str) -> None:
    row = ENCODINGS[name]
    config = parse({"pos_encoding": name, "d_model": 32, "n_heads": 4})
    assert shown(config) != row.equation
    for _, setting in row.symbols:
        value = config.head_width if setting == "head_width" else config.value(setting)
        assert f"{{{value:g}}}" in shown(config)
