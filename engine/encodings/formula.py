"""An encoding's equation with the numbers of a run put in for its symbols."""

from __future__ import annotations

import re

from engine.encodings.spec import EncodingSettings, EncodingSpec
from engine.settings.base import BaseConfig


def with_numbers(spec: EncodingSpec, config: BaseConfig, own: EncodingSettings) -> str:
    """The spec's equation in TeX, with each of its ``symbols`` replaced by the setting's value, except where that is auto."""
    formula = spec.equation
    # The longest symbol first, so that d_h is not read as d.
    for symbol, name in sorted(spec.symbols, key=lambda pair: -len(pair[0])):
        value = getattr(own if name in type(own).model_fields else config, name)
        if value is not None:
            formula = re.sub(rf"(?<![\\A-Za-z0-9_^]){re.escape(symbol)}(?![A-Za-z0-9_])", f"{{{value:g}}}", formula)
    return formula
