"""A design written out as Python: the folder of an encoding that gives the same numbers.

The text is made of fixed lines chosen by the parts; of what a person typed it contains only numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.encodings.designed.layer_code import layer_code
from engine.encodings.designed.spec import SPEC, DesignedSettings

SPEC_PY = '''\
"""My encoding: settings, costs and registry row."""

from engine.encodings.designed.spec import DesignedSettings
from engine.encodings.spec import EncodingSettings, EncodingSpec
from engine.settings.base import BaseConfig
from engine.settings.costs import Flops, Shape, StackShape

PARTS = DesignedSettings(
    {parts},
)
"""The parts of the design, from which the costs follow. If you change what layer.py computes, state its costs below yourself."""


class MyEncodingSettings(EncodingSettings):
    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        return PARTS.parameter_shapes(config, max_positions, causal)

    def flops(self, stack: StackShape) -> Flops:
        return PARTS.flops(stack)

    def has_memory_formula(self, config: BaseConfig) -> bool:
        return False

    def layer_bytes_bound(self, stack: StackShape) -> int:
        return PARTS.layer_bytes_bound(stack)

    @property
    def ends_at_trained_length(self) -> bool:
        return {ends}

    @property
    def init_std(self) -> float | None:
        return {init_std}


SPEC = EncodingSpec(
    name="my_encoding",
    label="My encoding",
    acts_on="{row.acts_on}",
    settings=MyEncodingSettings,
    equation=r"\\text{{what it computes, in TeX}}",
    source="Where it comes from",
    layer="engine.encodings.my_encoding.layer:MyEncoding",
    color="#F9068C",
    relative={row.relative},
    numbered={row.numbered},
    shown_as="{row.shown_as}",
)
'''


@dataclass(frozen=True)
class Written:
    """The text of the files in ``engine/encodings/my_encoding/``; the third, ``__init__.py``, is empty."""

    spec: str
    """``spec.py``"""
    layer: str
    """``layer.py``"""


def written(parts: DesignedSettings) -> Written:
    chosen = (f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}" for name, value in parts)
    spec = SPEC_PY.format(
        parts=",\n    ".join(chosen),
        ends=parts.ends_at_trained_length,
        init_std=parts.init_std,
        row=parts.specialise(SPEC),
    )
    return Written(spec, layer_code(parts))
