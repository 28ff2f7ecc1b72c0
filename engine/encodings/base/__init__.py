"""The specification of a positional encoding: its settings with the facts that follow from them, and its registry row.

Each encoding has a folder: ``engine/encodings/<name>/__init__.py`` holds a subclass of :class:`EncodingSettings` and an
:class:`EncodingSpec`, ``engine/encodings/<name>/layer.py`` the torch module. In this folder are the base class of these modules,
``layer.py``, and parts that several of them share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from engine.settings.base import BaseConfig
from engine.settings.costs import SINGLE, Shape, StackShape
from engine.settings.fields import Parameters, setting

# added to the token embedding, added to the attention scores, or rotating queries and keys
ActsOn = Literal["nowhere", "embedding", "scores", "rotation"]


class EncodingSettings(Parameters):
    """The settings of one encoding, and the facts that follow from them and from the run's plain settings.

    An encoding overrides the methods whose default does not hold for it. Parameters are tested against torch's count, for every encoding
    in the registry; memory and time are measured (:mod:`engine.estimate.encoding_costs`).
    """

    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        """The shape of every learned tensor of one layer module.

        ``max_positions``: positions met in training. ``causal``: true if the stack attends to earlier positions only.
        """
        return []

    def bytes_bound(self, stack: StackShape) -> int:
        """Upper bound of the bytes that the encoding holds in one attention layer during a training step, if its cost is not measured
        (:mod:`engine.estimate.encoding_costs`): eight numbers for each pair of a query and a key, and for each of their dimensions."""
        return SINGLE * stack.queries * 8 * (stack.length + stack.config.head_width)

    @property
    def needs_pattern(self) -> bool:
        # true if the encoding reads the pattern, which a fused kernel never writes out
        return False

    @property
    def ends_at_trained_length(self) -> bool:
        # true if positions beyond the trained ones have no encoding (PositionOutOfRange)
        return False

    @property
    def init_std(self) -> float | None:
        """First scale of the rows added to the embedding; None if it follows the token embedding's."""
        return None

    def specialise(self, spec: EncodingSpec) -> EncodingSpec:
        """The registry row with the facts that these settings decide (where a design acts, say)."""
        return spec

    def broken_rules(self, config: BaseConfig) -> Iterator[tuple[str, str]]:
        # for each broken rule a setting to name, and its allowed values
        yield from ()

    def warning(self, config: BaseConfig) -> str | None:
        """A sentence on what these settings will not do in this run."""
        return None


@dataclass(frozen=True)
class EncodingSpec:
    name: str
    label: str
    acts_on: ActsOn
    settings: type[EncodingSettings]
    equation: str  # TeX, in the notation of the source
    source: str
    layer: str
    """``module:Class`` of the torch module, built as ``Class(config, settings, max_positions=..., causal=...)``."""
    color: str
    """The colour of the encoding in the whole app, readable on light and on dark, and distinct from the others with red-green colour
    blindness, too."""
    url: str = ""  # of the source; empty if it is not published
    # every attention layer has its own module (Shaw, CoPE); else all layers of a stack share one (T5, RoPE)
    per_layer: bool = False
    relative: bool = False  # shifting all positions by the same number changes nothing
    numbered: bool = True  # reads the numbers of positions, not only the order of the tokens
    # a symbol of the equation and the setting (or head_width) whose value can replace it
    symbols: tuple[tuple[str, str], ...] = ()
    # a note under plots that cannot show what the encoding does, since that depends on the tokens (CoPE, Shaw, conv)
    shown_as: str = ""

    def equation_with_numbers(self, config: BaseConfig, settings: EncodingSettings) -> str:
        """The TeX of the equation; each of the ``symbols`` is replaced by the setting's value, except if that is auto."""
        formula = self.equation
        # The longest symbol first, so that d_h is not read as d.
        for symbol, name in sorted(self.symbols, key=lambda pair: -len(pair[0])):
            value = getattr(settings if name in type(settings).model_fields else config, name)
            if value is not None:
                formula = re.sub(rf"(?<![\\A-Za-z0-9_^]){re.escape(symbol)}(?![A-Za-z0-9_])", f"{{{value:g}}}", formula)
        return formula


class InitScaleSettings(EncodingSettings):
    encoding_init_std: float | None = setting(
        None, "Init scale",
        "Root mean square of the first values, over the trained positions. Auto: as the token embedding's.",
        ge=0.0, le=10.0,
    )  # fmt: skip

    @property
    def init_std(self) -> float | None:
        return self.encoding_init_std


class RotationSettings(EncodingSettings):
    rope_base: float = setting(10_000.0, "RoPE base", "b: pair t turns by b^(-2t/d_head) a position.", ge=2.0, le=1e7)
    rope_layout: Literal["interleaved", "rotate_half"] = setting(
        "rotate_half",
        "RoPE layout",
        "Pairs of dimensions: neighbours, or first half with second half.",
        labels={"interleaved": "Interleaved", "rotate_half": "Rotate-half"},
    )
