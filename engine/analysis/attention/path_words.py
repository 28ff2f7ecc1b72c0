"""The sentences on the path of an answer (:mod:`engine.analysis.attention.path`): its layer, and the heads that bring it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.analysis.attention.parts import Part
from engine.analysis.attention.path import GAIN, HeadReading, Path, heads_in_words, links_in, naming
from engine.foundation.formatting import listed, percent, quoted_with_article
from engine.runs.events import Sample

MAX_LINKS_IN_WORDS = 3  # readings in the sentence; a path can have more
MIN_SURE_WEIGHT = 0.5  # below it a head reads a symbol “mostly”


@dataclass(frozen=True)
class Symbols:
    """The symbols by position."""

    tokens: Sequence[str]  # of the stack that answers
    source: Sequence[str]  # of the encoder, in an encoder-decoder; else empty

    def of(self, reading: HeadReading) -> Sequence[str]:
        return self.tokens if reading.which == "self" else self.source

    def follows_same_symbol(self, reading: HeadReading) -> bool:
        """True if the key is the symbol right after an earlier occurrence of the query's symbol."""
        names, read = self.of(reading), reading.read
        return reading.which != "cross" and 0 < read <= reading.position and names[read - 1] == names[reading.position]


def reads_previous(reading: HeadReading) -> bool:
    # a previous-token head: each position then also holds the symbol that it follows
    return reading.which != "cross" and reading.read == reading.position - 1


def answer_layer_words(path: Path, right: Sequence[float], sample: Sample) -> str:
    """``right``: the probability of the right symbol at the path's position, before the first layer and after each."""
    here = f"position {path.position + 1}"
    first_nan = next((n for n, share in enumerate(right) if math.isnan(share)), None)
    if first_nan is not None:
        part = _layer(first_nan - 1) if first_nan else "the embedding"
        return f"The answer at {here} is lost, because the numbers of {part} are no longer finite."
    if not path.arrives:
        target, predicted = sample.targets[path.position], sample.predictions[path.position]
        if predicted == target:
            return f"At {here} the right answer “{target}” has the highest probability, {percent(right[-1])}, but less than half."
        return f"At {here} the model writes “{predicted}”, not “{target}” (probability {percent(right[-1])})."
    if path.after - path.before < GAIN:
        whole = _from_to(right[0], right[-1])
        return f"No single layer gives the answer at {here} ({whole} over all layers); {_layer(path.layer)} adds most."
    return f"The answer at {here} arrives in {_layer(path.layer)} ({_from_to(path.before, path.after)})."


def link_words(path: Path, symbols: Symbols) -> str:
    """The sentence on the heads or the MLP that bring the answer; empty without a contributor."""
    readings, mlp = path.readings, naming(Part("mlp", layer=path.layer), "MLP")
    if not path.contributor:
        return ""
    if path.contributor == "several":
        numbers = [naming(reading.part, str(reading.head + 1)) for reading in readings]
        return f" Heads {listed(numbers)} give it together." if numbers else " No single head gives it."
    if not readings:
        return f" The {mlp} computes it."
    links = links_in(readings)
    first, several = readings[0], len(links[0]) > 1
    mostly = "" if first.weight >= MIN_SURE_WEIGHT else " mostly"
    noun = f"{'Head' if path.contributor == 'head' else 'head'}{'s' if several else ''}"
    if several:
        heads = f"{noun} {listed([naming(reading.part, str(reading.head + 1)) for reading in links[0]])} read"
    else:
        heads = f"{naming(first.part, f'{noun} {first.head + 1}')} reads"
    reads = heads if path.contributor == "head" else f"The {mlp} computes it after {heads}"
    return f" {reads}{mostly} {_symbol_words(first, symbols, by_follower=reads_previous(readings[-1]))}{_below(links, symbols)}."


def _below(links: Sequence[Sequence[HeadReading]], symbols: Symbols) -> str:
    sentence, last = "", links[-1]
    for (above, *_), link in pairwise(links[:MAX_LINKS_IN_WORDS]):
        heads = heads_in_words(*(reading.part for reading in link))
        if link is last and reads_previous(last[0]) and symbols.follows_same_symbol(above):
            sentence += f", which {heads} had marked"
        else:
            by_follower = reads_previous(last[0]) and link is not last
            sentence += f". There {heads} had read {_symbol_words(link[0], symbols, by_follower=by_follower)}"
    return sentence + (f", and so on down to layer {last[0].layer + 1}" if len(links) > MAX_LINKS_IN_WORDS else "")


def _symbol_words(reading: HeadReading, symbols: Symbols, *, by_follower: bool) -> str:
    """``by_follower``: name the read symbol by the one that it follows, if this is how the head finds it."""
    names, source = symbols.of(reading), "" if reading.which == "self" else " of the source"
    symbol = quoted_with_article(names[reading.read])
    if reading.which != "cross" and reading.read == reading.position:
        return f"itself, {symbol}"
    if by_follower and symbols.follows_same_symbol(reading):
        return f"the symbol after the earlier “{names[reading.position]}”"
    if reads_previous(reading):
        return f"the symbol before it, {symbol}"
    return (
        f"{'the first symbol' if reading.read == 0 else f'the symbol at position {reading.read + 1}'}{source}, {symbol}"
    )


def _layer(layer: int) -> str:
    return naming(Part("layer", layer=layer), f"layer {layer + 1}")


def _from_to(before: float, after: float) -> str:
    return f"{100 * before:.0f} → {percent(after)}"
