"""The path of an answer through the stack, as read from one snapshot: the layer in which the right symbol gains most, the head or the
MLP that brings it, the position that this head reads, and what had been read at that position in the layers below."""

from dataclasses import dataclass
from typing import Literal

from engine.analysis.attention.asked import Which

Carrier = Literal["head", "mlp", "several", ""]
"""The part that brings the answer in its layer: one head, the MLP, several heads of which none stands out, or nothing."""


@dataclass(frozen=True)
class Reading:
    """One head at one position, and the position that it reads most. All count from 0."""

    which: Which
    """The kind of attention; the read position is one of the source in ``encoder`` and ``cross``."""
    layer: int
    head: int
    position: int
    """The position that reads: the query."""
    read: int
    """The position that is read: the key."""
    weight: float
    """The attention weight of that key, from 0 to 1."""


@dataclass(frozen=True)
class Words:
    """A piece of a sentence, and the part of the model that it names."""

    text: str
    part: str = ""
    """The name of the part (:mod:`engine.analysis.attention.parts`): ``head.1.0``, ``mlp.1`` or ``layer.1``; empty for words
    that name none."""


@dataclass(frozen=True)
class Path:
    """How the answer at one position arises."""

    position: int
    """The position that answers, from 0."""
    arrives: bool
    """Whether the answer arrives. Where it does not, ``carrier`` is empty and there are no ``readings``."""
    layer: int
    """The layer with the largest gain of the right symbol, from 0."""
    before: float
    """The probability of the right symbol before that layer, if the head read it there."""
    after: float
    """The same after that layer."""
    carrier: Carrier
    readings: tuple[Reading, ...]
    """What the head that adds most to the right symbol in that layer reads, then what was read at the position which it reads in
    a layer below, and so on, as far down as one head stands out. Empty where this layer's heads add nothing."""
    words: tuple[Words, ...]
    """The sentence in pieces, which name the parts of which they speak; positions, layers and heads count from 1 in it."""

    @property
    def sentence(self) -> str:
        return "".join(piece.text for piece in self.words)
