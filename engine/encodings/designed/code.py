"""A design written out as Python: the folder of an encoding that gives the same numbers.

The text is made of fixed lines chosen by the parts; of what a person typed it contains only numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.encodings.designed.layer_code import OUTPUTS, Lines, indented, layer_code, waves_of, width_of
from engine.encodings.designed.spec import SPEC, DesignedSettings

ENDS: Lines = ["@property", "def ends_at_trained_length(self) -> bool:", "    return True"]


@dataclass(frozen=True)
class Written:
    """The text of the files in ``engine/encodings/my_encoding/``; the third, ``__init__.py``, is empty."""

    spec: str
    """``spec.py``"""
    layer: str
    """``layer.py``"""


def written(parts: DesignedSettings) -> Written:
    return Written(_spec(parts), layer_code(parts))


def _spec(parts: DesignedSettings) -> str:
    """The text of ``spec.py``."""
    row, shapes = parts.specialise(SPEC), _shapes(parts)
    costs = "Shape, dense_shapes" if "dense_shapes(" in shapes else "Shape"
    return "\n".join([
        '"""My encoding: settings, parameters and registry row."""',
        "",
        "from engine.encodings.spec import EncodingSettings, EncodingSpec",
        "from engine.settings.base import BaseConfig",
        f"from engine.settings.costs import {costs}",
        "",
        "",
        "class MyEncodingSettings(EncodingSettings):",
        "    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:",
        f"        return [{shapes}]",
        "",
        "    def has_memory_formula(self, config: BaseConfig) -> bool:",
        "        return False",
        *(["", *indented(1, ENDS)] if parts.ends_at_trained_length else []),
        "",
        "",
        "SPEC = EncodingSpec(",
        '    name="my_encoding",',
        '    label="My encoding",',
        f'    acts_on="{row.acts_on}",',
        "    settings=MyEncodingSettings,",
        '    equation=r"\\text{what it computes, in TeX}",',
        '    source="Where it comes from",',
        '    layer="engine.encodings.my_encoding.layer:MyEncoding",',
        '    color="#F9068C",',
        f"    relative={row.relative},",
        f"    numbered={row.numbered},",
        ")",
        "",
    ])  # fmt: skip


def _shapes(parts: DesignedSettings) -> str:
    """The shapes of the learned tensors, separated by commas."""
    width, outputs, hidden = width_of(parts), OUTPUTS[parts.design_place], str(parts.design_hidden)
    if parts.design_features == "convolution":
        reach = parts.design_reach
        features = [f"({width}, {reach + 1} if causal else {2 * reach + 1})", f"({width},)"]
    elif parts.design_features == "table":
        rows = "2 * max_positions - 1" if parts.design_place == "scores" else "max_positions"
        features = [f"({rows}, {width})"]
    elif parts.design_features == "network":
        features = [f"*dense_shapes(1, {hidden})", f"*dense_shapes({hidden}, {width})"]
    else:
        features = [f"({waves_of(parts)},)"]
    readout = {
        "direct": [],
        "linear": [f"*dense_shapes({width}, {outputs})"],
        "network": [f"*dense_shapes({width}, {hidden})", f"*dense_shapes({hidden}, {outputs})"],
    }[parts.design_readout]
    shapes = (features if parts.learns_features else []) + (readout if parts.learns_readout else [])
    return ", ".join(shapes)
