"""An encoding's equation with the numbers of a config put in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.encodings import ENCODINGS

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


def with_numbers(config: RunConfig) -> str:
    """TeX: each symbol of the registry's row replaced by its number. The same as the equation where it has none."""
    row = ENCODINGS[config.pos_encoding]
    formula = row.equation
    # The longest first, so that d_h is not read as d.
    for symbol, name in sorted(row.symbols, key=lambda pair: -len(pair[0])):
        value = config.head_width if name == "head_width" else config.value(name)
        if value is not None:  # auto
            formula = re.sub(rf"(?<![\\A-Za-z0-9_^]){re.escape(symbol)}(?![A-Za-z0-9_])", f"{{{value:g}}}", formula)
    return formula
