"""The path of an answer through the stack, as data: the layer that brings the right symbol, the head or the MLP that brings it, the
position that this head reads, and the earlier readings at that position in the layers below.

:mod:`engine.analysis.attention.attribution` finds it in a snapshot, :mod:`engine.analysis.attention.links` its needed parts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from engine.analysis.attention.parts import Part
from engine.analysis.attention.requests import AttentionKind

# the part that brings the answer in its layer: one head or heads that read the same position, the MLP, several heads that read
# different ones, or nothing
Contributor = Literal["head", "mlp", "several", ""]
GAIN = 0.1  # the smallest gain of the right symbol's probability at which one layer brings the answer


@dataclass(frozen=True)
class HeadReading:
    """One head at one position, and the position that it reads most. All count from 0."""

    which: AttentionKind  # the read position is one of the source in "encoder" and "cross"
    layer: int
    head: int
    position: int  # the query
    read: int  # the key
    weight: float  # of that key, from 0 to 1

    @property
    def part(self) -> Part:
        return Part("head", self.which, self.layer, self.head)


def links_in(readings: Sequence[HeadReading]) -> list[list[HeadReading]]:
    """The readings of a chain in its links: heads of one layer that do the same are one link."""
    return [list(link) for _, link in groupby(readings, lambda one: (one.which, one.layer, one.position))]


@dataclass(frozen=True)
class Words:
    text: str
    part: str = ""  # its name (parts.py): head.1.0, mlp.1 or layer.1; empty for words that name none


def naming(part: Part, words: str) -> str:
    """Words that name a part, for a sentence that goes through :func:`in_pieces`."""
    return f"\0{part.name}\0{words}\0"


def heads_in_words(*heads: Part, capital: bool = False) -> str:
    side = {"self": "", "encoder": " of the encoder", "cross": " (cross-attention)"}[heads[0].which]
    *others, last = heads
    noun, which = "Head" if capital else "head", f"{last.head + 1} of layer {last.layer + 1}{side}"
    if not others:
        return naming(last, f"{noun} {which}")
    return f"{noun}s {', '.join(naming(one, str(one.head + 1)) for one in others)} and {naming(last, which)}"


def in_pieces(sentence: str) -> tuple[Words, ...]:
    matches = re.findall(r"\0(.*?)\0(.*?)\0|([^\0]+)", sentence, re.DOTALL)
    return tuple(Words(words or plain, part) for part, words, plain in matches)


@dataclass(frozen=True)
class Path:
    position: int  # the position that answers, from 0
    arrives: bool  # if False, contributor is empty and there are no readings
    layer: int  # that brings the answer, from 0; if it does not arrive, the one that would
    before: float  # the probability of the right symbol before that layer, if the head of the model read it there
    after: float  # the same after that layer
    contributor: Contributor
    readings: tuple[HeadReading, ...]
    """The chain of readings from the top: first that of the head that adds most in that layer. Each further one is in a layer below,
    at the position that the previous one reads, as far down as a head stands out. Heads of one layer that do the same together are
    adjacent. If several heads bring the answer together, the reading of each. Empty if no head of that layer brings it."""
    # the head reads the symbol after an earlier occurrence of the position's symbol, which a layer below had marked
    induction: bool
    # the sentence on the layer; positions, layers and heads count from 1 in it
    answer_layer_words: tuple[Words, ...]
    # the sentences on the contributor and the readings; empty if the answer does not arrive
    links: tuple[Words, ...]

    @property
    def words(self) -> tuple[Words, ...]:
        return self.answer_layer_words + self.links

    @property
    def sentence(self) -> str:
        return "".join(piece.text for piece in self.words)


@dataclass(frozen=True)
class AnswerLayer:
    layer: int  # brings most of the answers that arrive, from 0
    head: str  # adds most to these answers, in sum over their positions; empty if no head adds anything
    name: str
    """"induction" if an induction head brings most of those in this layer, else "most answers in layer 2"."""
