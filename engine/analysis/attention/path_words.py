"""The sentence on the path of an answer, in pieces that name the parts of which they speak."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.analysis.attention.parts import Part
from engine.analysis.attention.path import GAIN, Path, Reading, Words
from engine.foundation.formatting import quoted_with_article

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


def words_of(path: Path, right: Sequence[float], symbols: Symbols) -> tuple[Words, ...]:
    """``right``: the probability of the right symbol at the path's position, before the first layer and after each."""
    return tuple(_words(path, right, symbols))


def _words(path: Path, right: Sequence[float], symbols: Symbols) -> Iterator[Words]:
    lost = next((layer for layer, share in enumerate(right) if math.isnan(share)), None)
    if lost is not None:
        place = Words(f"layer {lost}", _layer_name(lost - 1)) if lost else Words("the embedding")
        yield from (Words("The answer does not arrive: the numbers of "), place, Words(" are no longer finite."))
        return
    if not path.arrives:
        last, share = len(right) - 1, _percent(right[-1])
        yield Words(f"The answer does not arrive: after layer {last} the right symbol has {share}.")
        return
    yield from _layer_words(path, right)
    readings = path.readings
    if path.carrier == "several":
        yield Words(", where no head stands out")
        yield from _heads_words(readings)
    elif not readings:
        yield from (Words(": the "), Words("MLP", Part("mlp", layer=path.layer).name), Words(" makes it"))
    else:
        yield from _first_words(path, symbols)
        yield from _below_words(readings, symbols)
    yield Words(".")


def _layer_words(path: Path, right: Sequence[float]) -> Iterator[Words]:
    layer = _layer_name(path.layer)
    if path.after - path.before >= GAIN:
        yield from (Words("The answer arrives in "), Words(f"layer {path.layer + 1}", layer))
        yield Words(f" ({_from_to(path.before, path.after)})")
        return
    yield Words(f"No layer alone brings the answer ({_from_to(right[0], right[-1])} over all layers); ")
    yield from (Words(f"layer {path.layer + 1}", layer), Words(" adds most"))


def _heads_words(readings: Sequence[Reading]) -> Iterator[Words]:
    for place, reading in enumerate(readings):
        yield Words(": heads " if place == 0 else " and " if place == len(readings) - 1 else ", ")
        yield Words(str(reading.head + 1), reading.part.name)
    if readings:
        yield Words(" add to it")


def _first_words(path: Path, symbols: Symbols) -> Iterator[Words]:
    first = path.readings[0]
    head = Words(f"head {first.head + 1}", first.part.name)
    if path.carrier == "mlp":
        mlp = Words("MLP", Part("mlp", layer=path.layer).name)
        yield from (Words(": the "), mlp, Words(" makes it of what "), head)
    else:
        yield from (Words(": "), head)
    between = ("," if path.carrier == "mlp" else "") + ("" if first.weight >= SHARP else " mostly")
    yield Words(f" reads{between} {_place_words(first, symbols, told=marks(path.readings[-1]))}")


def _below_words(readings: Sequence[Reading], symbols: Symbols) -> Iterator[Words]:
    marked = marks(readings[-1])
    for above, reading in pairwise(readings[:MOST_TOLD]):
        side = " of the encoder" if reading.which == "encoder" else ""
        head = Words(f"head {reading.head + 1} of layer {reading.layer + 1}{side}", reading.part.name)
        if reading is readings[-1] and marked and symbols.follows_its_own(above):
            yield from (Words(", which "), head, Words(" had marked"))
            continue
        yield from (Words(". There "), head)
        yield Words(f" had read {_place_words(reading, symbols, told=marked and reading is not readings[-1])}")
    if len(readings) > MOST_TOLD:
        yield Words(f", and so on down to layer {readings[-1].layer + 1}")


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
    return f"{'the first symbol' if reading.read == 0 else f'symbol {reading.read + 1}'}{source}, {symbol}"


def _layer_name(layer: int) -> str:
    return Part("layer", layer=layer).name


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _from_to(before: float, after: float) -> str:
    return f"{100 * before:.0f} → {_percent(after)}"
