"""Attribution: the path of an answer through the stack, from the arrays of one snapshot.

An answer arises in a layer in which the right symbol gains, by the logit lens (nostalgebraist 2020, interpreting GPT). The lens alone
would often name a layer that only guesses. So of several such layers it is the one whose parts add most to the symbol's logit
directly (:mod:`engine.training.contributions`), and a head of it brings what it adds. Earlier readings at the position that the
head reads follow from the attention weights alone: in the nearest layer below, the head that gives another position most, if it
gives it half of its weight. A head that reads the symbol after an earlier occurrence of the query's symbol, marked in a layer below
by reading the position before, is an induction head (Olsson et al. 2022, In-context Learning and Induction Heads).

So far these are guesses: a head may read for another answer, and another head may do the same work. If the weights are given, a
part is a link only if ablating it loses the answer (:mod:`engine.analysis.attention.links`); several heads that do the same in one
layer are one link if ablating all of them does.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from engine.analysis.attention.parts import Part
from engine.analysis.attention.path import GAIN, AnswerLayer, Contributor, HeadReading, Path, in_pieces
from engine.analysis.attention.path_words import Symbols, answer_layer_words, link_words, reads_previous
from engine.analysis.attention.requests import AttentionKind
from engine.runs.events import Sample, Snapshot

KINDS: tuple[AttentionKind, ...] = ("self", "cross", "encoder")
# the probability after the last layer from which on an answer has arrived: the symbol is likelier than all others together
ARRIVED = 0.5
# the least share of a layer's additions with which one head stands out; and the least weight with which a head in a layer below
# reads a position
STANDS_OUT = 0.5
FAR_MORE = 2.0  # the MLP brings the answer if it adds more than so many times as much as the heads of its layer
Needs = Callable[..., bool]  # needs(position, *parts): true if the answer at a position is lost without these parts
IsLink = Callable[..., bool]  # the same for one position


@dataclass(frozen=True)
class StrongestReadings:
    read: list[list[list[int]]]  # the position that has the largest weight, [layer][head][query]
    weight: list[list[list[float]]]
    # the largest weight of another position than the query's, and that position, [layer, head, query] both
    elsewhere: np.ndarray
    other_position: np.ndarray


@dataclass(frozen=True)
class Contributions:
    """The first sample of a snapshot, of a model with at least two layers."""

    sample: Sample
    symbols: Symbols
    has_answer: list[bool]  # an answer at a position that the patterns have
    right: np.ndarray  # the probability of the right symbol, [layer + 1, position]
    # the heads of a layer: those of self-attention, then those of cross-attention
    parts: list[tuple[AttentionKind, int]]
    heads: np.ndarray  # the contribution of each head to the right symbol's logit, [layer, head, position]
    mlp: np.ndarray  # the contribution of each MLP, [layer, position]
    strongest: dict[AttentionKind, StrongestReadings]


def everything(position: int, *parts: Part) -> bool:
    """True for any parts: without ablations every reading is a link."""
    return True


def attribute_answers(snapshot: Snapshot, needs: Needs = everything) -> tuple[list[Path | None], AnswerLayer | None]:
    """The path to the answer at each position of the first sample, and the layer in which its answers arise. None at positions without
    an answer; and None everywhere with one layer, without attention, or in a snapshot that was stored before there were contributions."""
    contributions, tokens = contributions_in(snapshot), snapshot.samples[0].tokens if snapshot.samples else []
    paths = [
        _path(contributions, index, needs) if contributions and contributions.has_answer[index] else None
        for index in range(len(tokens))
    ]
    return paths, _answer_layer(contributions, [path for path in paths if path]) if contributions else None


def _answer_layer(contributions: Contributions, paths: Sequence[Path]) -> AnswerLayer | None:
    """None if at most half of the answers arrive."""
    arriving = [path for path in paths if path.arrives]
    if 2 * len(arriving) <= len(paths):
        return None
    layer, _ = Counter(path.layer for path in arriving).most_common(1)[0]
    here = [path for path in arriving if path.layer == layer]
    added = contributions.heads[layer][:, [path.position for path in here]].sum(axis=1)  # [head]
    head = _reading(contributions, here[0].position, layer, int(added.argmax())).part.name if added.max() > 0 else ""
    induction = 2 * sum(path.induction for path in here) > len(here)
    return AnswerLayer(layer, head, "induction" if induction else f"most answers in layer {layer + 1}")


def contributions_in(snapshot: Snapshot) -> Contributions | None:
    contributions, right = dict(snapshot.contributions), snapshot.residual.get("right")
    if "self" not in contributions or right is None or len(right) < 3 or not snapshot.samples:
        return None
    sample, patterns = snapshot.samples[0], dict(snapshot.patterns)
    kinds = [kind for kind in KINDS if kind in contributions]
    n_queries = patterns["self"].shape[-2]  # of a long sequence patterns are cut
    return Contributions(
        sample=sample,
        symbols=Symbols(sample.tokens, sample.source),
        has_answer=[index < n_queries and target != "" for index, target in enumerate(sample.targets)],
        right=right,
        parts=[(kind, head) for kind in kinds for head in range(contributions[kind].shape[1])],
        heads=np.concatenate([contributions[kind] for kind in kinds], axis=1),
        mlp=contributions.get("mlp", np.zeros_like(right[1:])),
        strongest={
            kind: _strongest_readings(patterns[kind], reads_itself=kind != "cross")
            for kind in KINDS
            if kind in patterns
        },
    )


def _strongest_readings(pattern: np.ndarray, *, reads_itself: bool) -> StrongestReadings:
    """Read ``pattern`` [layer, head, query, key]; ``reads_itself``: the keys are the positions of the queries."""
    elsewhere = pattern * (1 - np.eye(*pattern.shape[-2:], dtype=pattern.dtype)) if reads_itself else pattern
    read, weight = pattern.argmax(axis=-1).tolist(), pattern.max(axis=-1).tolist()
    return StrongestReadings(read, weight, elsewhere.max(axis=-1), elsewhere.argmax(axis=-1))


def answering_layer(right: np.ndarray, heads: np.ndarray, mlp: np.ndarray) -> int:
    """The layer that brings the answer: of those in which the right symbol gains at least :data:`GAIN`, or else of all, the one
    whose parts add most to its logit.

    ``right`` [layer + 1], ``heads`` [layer, head] and ``mlp`` [layer].
    """
    gains, added = np.diff(right), heads.sum(axis=1) + mlp
    return int(np.where((gains >= GAIN) | (gains.max() < GAIN), added, -np.inf).argmax())


def _path(contributions: Contributions, position: int, needs: Needs) -> Path:
    right, heads, mlp = (
        array[..., position] for array in (contributions.right, contributions.heads, contributions.mlp)
    )
    layer = answering_layer(right, heads, mlp)
    arrives = bool(right[-1] >= ARRIVED)
    contributor, readings = (
        _contributor_of(contributions, position, layer, partial(needs, position)) if arrives else ("", ())
    )
    induction = contributor in ("head", "mlp") and is_induction(readings, contributions.symbols)
    before, after = right[layer : layer + 2].tolist()
    path = Path(position, arrives, layer, before, after, contributor, readings, induction, (), ())
    answer_layer, links = (
        answer_layer_words(path, right.tolist(), contributions.sample),
        link_words(path, contributions.symbols),
    )
    return replace(path, answer_layer_words=in_pieces(answer_layer), links=in_pieces(links))


def _contributor_of(
    contributions: Contributions, position: int, layer: int, is_link: IsLink
) -> tuple[Contributor, tuple[HeadReading, ...]]:
    heads, mlp = contributions.heads[layer][:, position], float(contributions.mlp[layer][position])
    added, strongest = heads.clip(min=0), int(heads.argmax())
    total = float(added.sum())
    by_mlp = mlp > FAR_MORE * total and is_link(Part("mlp", layer=layer))
    alone = added[strongest] >= STANDS_OUT * total
    shares = [] if total == 0 else [strongest] if alone else np.flatnonzero(2 * added >= added[strongest]).tolist()
    readings = tuple(_reading(contributions, position, layer, index) for index in shares)
    links = tuple(reading for reading in readings if is_link(reading.part)) or _together(readings, is_link)
    if links and links == _readings_of_strongest(links):
        return "mlp" if by_mlp else "head", (*links, *_below(contributions, links[0], is_link))
    return ("mlp", ()) if by_mlp and not links else ("several", links)


def _together(readings: Sequence[HeadReading], is_link: IsLink) -> tuple[HeadReading, ...]:
    """The readings of one layer that are a link together: those of the same position as the strongest, else all, else none."""
    for group in (_readings_of_strongest(readings), tuple(readings)):
        if len(group) > 1 and is_link(*(reading.part for reading in group)):
            return group
    return ()


def _readings_of_strongest(readings: Sequence[HeadReading]) -> tuple[HeadReading, ...]:
    strongest = max(readings, key=lambda reading: reading.weight, default=None)
    return tuple(one for one in readings if strongest and (one.which, one.read) == (strongest.which, strongest.read))


def _reading(contributions: Contributions, position: int, layer: int, index: int) -> HeadReading:
    which, head = contributions.parts[index]
    of = contributions.strongest[which]
    return HeadReading(which, layer, head, position, of.read[layer][head][position], of.weight[layer][head][position])


def _below(contributions: Contributions, reading: HeadReading, is_link: IsLink) -> Iterator[HeadReading]:
    encodes = reading.which in ("cross", "encoder") and "encoder" in contributions.strongest
    kinds: Sequence[AttentionKind] = (
        ("encoder",) if encodes else [kind for kind in ("self", "cross") if kind in contributions.strongest]
    )
    top = len(contributions.strongest["encoder"].elsewhere) if reading.which == "cross" else reading.layer
    position = reading.read
    for layer in reversed(range(top)):
        options = [
            HeadReading(kind, layer, head, position, int(of.other_position[layer, head, position]), float(weight))
            for kind, of in ((kind, contributions.strongest[kind]) for kind in kinds)
            for head, weight in enumerate(of.elsewhere[layer, :, position])
            if weight >= STANDS_OUT
        ]
        strongest_first = sorted(options, key=lambda option: -option.weight)
        alone = next(((option,) for option in strongest_first if is_link(option.part)), ())
        if links := alone or _together(_readings_of_strongest(options), is_link):
            yield from links
            yield from _below(contributions, links[0], is_link)
            return


def is_induction(readings: Sequence[HeadReading], symbols: Symbols) -> bool:
    """True if the first reading is an induction head's: of the symbol after an earlier occurrence of the query's symbol, which the
    last reading had marked by reading the position before."""
    if not readings or readings[0].which != "self" or readings[-1].layer == readings[0].layer:
        return False
    return symbols.follows_same_symbol(readings[0]) and reads_previous(readings[-1])
