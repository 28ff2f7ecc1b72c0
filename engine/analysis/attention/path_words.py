"""The sentence on the path of an answer, which names the parts of which it speaks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.analysis.attention.parts import Part
from engine.analysis.attention.path import GAIN, Path, Reading, named, naming
from engine.foundation.formatting import listed, percent, quoted_with_article

MOST_TOLD = 3
"""The most readings in the sentence; a path can have more."""
SHARP = 0.5
"""The weight from which on a head reads one symbol."""


@dataclass(frozen=True)
class Symbols:
    """The symbols of a sequence by position: those of the stack that answers, and those of the source of an encoder-decoder."""

    tokens: Sequence[str]
    source: Sequence[str]

    def of(self, reading: Reading) -> Sequence[str]:
        """The symbols among which the read one is."""
        return self.tokens if reading.which == "self" else self.source

    def follows_its_own(self, reading: Reading) -> bool:
        """Whether the read symbol is the one after an earlier place of the reading position's own symbol."""
        names, read = self.of(reading), reading.read
        return reading.which != "cross" and 0 < read <= reading.position and names[read - 1] == names[reading.position]


def marks(reading: Reading) -> bool:
    """Whether a position reads the one before it: it then knows what it follows."""
    return reading.which != "cross" and reading.read == reading.position - 1


def sentence_of(path: Path, right: Sequence[float], symbols: Symbols, *, written: bool) -> str:
    """``right``: the probability of the right symbol at the path's position, before the first layer and after each. ``written``: whether
    the model writes it, since no other has more."""
    lost = next((layer for layer, share in enumerate(right) if math.isnan(share)), None)
    if lost is not None:
        place = _layer(lost - 1) if lost else "the embedding"
        return f"The answer does not arrive: the numbers of {place} are no longer finite."
    if not path.arrives:
        most = ", the most of all but less than half" if written else ""
        return (
            f"The answer does not arrive: after layer {len(right) - 1} the right symbol has {percent(right[-1])}{most}."
        )
    arrives = f"The answer arrives in {_layer(path.layer)} ({_from_to(path.before, path.after)})"
    if path.after - path.before < GAIN:
        whole = _from_to(right[0], right[-1])
        arrives = f"No layer alone brings the answer ({whole} over all layers); {_layer(path.layer)} adds most"
    return f"{arrives}{_how(path, symbols)}."


def _how(path: Path, symbols: Symbols) -> str:
    readings, mlp = path.readings, naming(Part("mlp", layer=path.layer), "MLP")
    if path.carrier == "several":
        heads = [naming(reading.part, str(reading.head + 1)) for reading in readings]
        return ", where no head stands out" + (f": heads {listed(heads)} add to it" if heads else "")
    if not readings:
        return f": the {mlp} makes it"
    first = readings[0]
    head, mostly = naming(first.part, f"head {first.head + 1}"), "" if first.weight >= SHARP else " mostly"
    reads = f"the {mlp} makes it of what {head} reads," if path.carrier == "mlp" else f"{head} reads"
    return f": {reads}{mostly} {_place_words(first, symbols, told=marks(readings[-1]))}{_below(readings, symbols)}"


def _below(readings: Sequence[Reading], symbols: Symbols) -> str:
    said, last = "", readings[-1]
    for above, reading in pairwise(readings[:MOST_TOLD]):
        if reading is last and marks(last) and symbols.follows_its_own(above):
            said += f", which {named(reading.part)} had marked"
        else:
            told = marks(last) and reading is not last
            said += f". There {named(reading.part)} had read {_place_words(reading, symbols, told=told)}"
    return said + (f", and so on down to layer {last.layer + 1}" if len(readings) > MOST_TOLD else "")


def _place_words(reading: Reading, symbols: Symbols, *, told: bool) -> str:
    """The read symbol; ``told``: by the symbol that it follows, where this is how the head finds it."""
    names, source = symbols.of(reading), "" if reading.which == "self" else " of the source"
    symbol = quoted_with_article(names[reading.read])
    if reading.which != "cross" and reading.read == reading.position:
        return f"itself, {symbol}"
    if told and symbols.follows_its_own(reading):
        return f"the symbol after the earlier “{names[reading.position]}”"
    if marks(reading):
        return f"the symbol before it, {symbol}"
    return (
        f"{'the first symbol' if reading.read == 0 else f'the symbol at position {reading.read + 1}'}{source}, {symbol}"
    )


def _layer(layer: int) -> str:
    return naming(Part("layer", layer=layer), f"layer {layer + 1}")


def _from_to(before: float, after: float) -> str:
    return f"{100 * before:.0f} → {percent(after)}"
