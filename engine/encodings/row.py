"""What the registry holds of an encoding: everything that is known without running it. Torch-free."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from engine.encodings.saved import NOTHING, Saved, never
from engine.encodings.shapes import Shape
from engine.encodings.work import Reading, Work
from engine.settings.fields import Parameters

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig

Place = Literal["nowhere", "embedding", "scores", "rotation"]
Rule = Callable[["RunConfig"], tuple[str, str] | None]
"""Returns the setting to name and what it may be, or None where the rule holds."""


def _nothing_learned(config: RunConfig, rows: int, causal: bool) -> list[Shape]:
    return []


def _nothing_computed(reading: Reading) -> Work:
    return Work()


@dataclass(frozen=True)
class EncodingRow:
    """One encoding: what it is called, where it acts, what it computes and where it was published."""

    name: str
    label: str
    acts_on: Place
    parameters: type[Parameters]
    equation: str
    """TeX, in the notation of the source."""
    source: str
    implementation: str
    """``module:Class``; the class is built as ``Class(config)``."""
    color: str
    """Its one colour in the whole app; readable on light and dark."""
    per_layer: bool = False
    """Whether every layer owns one (Shaw) or all layers share one (T5, RoPE)."""
    relative: bool = False
    """Whether shifting all positions changes nothing."""
    numbered: bool = True
    """Whether it reads the numbers of positions, not only which token comes before which."""
    decided_by: Callable[[Any], dict[str, Any]] | None = None
    """From its parameters: the fields of this row that they decide. See :func:`encoding_of`."""
    symbols: tuple[tuple[str, str], ...] = ()
    """Symbols of the equation that stand for a setting (or ``head_width``): what :mod:`engine.encodings.formula` puts in."""
    shown_as: str = ""
    """What its picture leaves out, in a sentence, where what it does depends on what the tokens say."""
    learns: Callable[[RunConfig, int, bool], list[Shape]] = _nothing_learned
    """The shapes of what it learns in one stack (or layer), given the positions trained and whether it looks backwards only."""
    work: Callable[[Reading], Work] = _nothing_computed
    """What it computes in one stack. Sums, look-ups and masks cost nothing."""
    saved: Saved = NOTHING
    """What of its own is kept for backward."""
    reads_pattern: Callable[[RunConfig], bool] = never
    """Whether it needs the attention pattern, which a fused kernel never writes out."""
    rules: tuple[Rule, ...] = ()
    """Between its settings and others: see :mod:`engine.config.validators`."""

    def load(self) -> Any:
        """The class that implements it. Imports torch: workers only."""
        module, _, name = self.implementation.partition(":")
        return getattr(import_module(module), name)
