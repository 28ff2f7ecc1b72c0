import math
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.analysis.attention.attribution import attribute_answers
from engine.analysis.attention.model import user_sequence_read
from engine.analysis.attention.parts import Part, parts_named
from engine.analysis.attention.path import AnswerLayer, HeadReading, Path, Words
from engine.analysis.attention.requests import ModelRequest
from engine.config.run_config import parse
from engine.runs.events import Sample, Snapshot
from engine.training.train import train

TOKENS = ["5", "9", "2", "4", "9"]  # one hop leads from the last position to the third: the answer is 2


def spread(length: int = 5) -> np.ndarray:
    """Attention that is even over all earlier positions, [query, key]."""
    pattern = np.tri(length)
    return pattern / pattern.sum(-1, keepdims=True)


def snapshot(
    right: list[float],
    heads: dict[tuple[int, int], float],
    reads: dict[tuple[int, int, int], int],
    *,
    n_heads: int = 2,
    mlp: dict[int, float] | None = None,
    **more: Any,
) -> Snapshot:
    """A snapshot whose last position is asked. ``right``: the probability of its right symbol before each layer and after the last;
    ``heads``: the additions of heads, by layer and head; ``reads``: the key that a head reads with .9, by layer, head and query."""
    layers = len(right) - 1
    patterns = np.tile(spread(), (layers, n_heads, 1, 1))
    for (layer, head, query), key in reads.items():
        patterns[layer, head, query] *= 0.1
        patterns[layer, head, query, key] += 0.9
    contributions = np.full((layers, n_heads, 5), np.nan)
    contributions[:, :, 4] = 0.0
    for (layer, head), added in heads.items():
        contributions[layer, head, 4] = added
    by_mlp, probabilities = np.full((layers, 5), np.nan), np.full((layers + 1, 5), np.nan)
    by_mlp[:, 4] = [(mlp or {}).get(layer, 0.0) for layer in range(layers)]
    probabilities[:, 4] = right
    targets = ["", "", "", "", "2"]
    facts: dict[str, Any] = {
        "patterns": {"self": patterns},
        "residual": {"right": probabilities},
        "contributions": {"self": contributions, "mlp": by_mlp},
        "samples": [Sample(TOKENS, targets, targets)],
    }
    return Snapshot(step=1, encoding={}, **(facts | more))


def path_in(step: Snapshot, needed: Collection[str] | None = None) -> Path:
    """``needed``: the only heads and MLPs without which the answer is lost, those that are a link together in one word."""

    def needs(position: int, *parts: Part) -> bool:
        return needed is None or "+".join(part.name for part in parts) in needed

    *others, path = attribute_answers(step, needs)[0]
    assert others == [None] * 4, "nothing is asked there"
    assert path is not None
    assert path.sentence == "".join(piece.text for piece in path.words)
    return path


INDUCTION = snapshot([0.1, 0.25, 0.76], {(1, 0): 4.0, (1, 1): 0.5}, {(1, 0, 4): 2, (0, 1, 2): 1})


def test_an_induction_head_is_told_with_the_layer_that_marked_what_it_reads() -> None:
    path = path_in(INDUCTION)
    assert (path.arrives, path.layer, path.before, path.after) == (True, 1, 0.25, 0.76)
    assert (path.contributor, path.induction) == ("head", True)
    assert [replace(one, weight=0) for one in path.readings] == [
        HeadReading("self", 1, 0, 4, 2, 0),
        HeadReading("self", 0, 1, 2, 1, 0),
    ]
    assert path.readings[0].weight == pytest.approx(0.9 + 0.1 / 5)
    assert path.sentence == (
        "The answer at position 5 arrives in layer 2 (25 → 76 %). "
        "Head 1 reads the symbol after the earlier “9”, which head 2 of layer 1 had marked."
    )
    named = [piece for piece in path.words if piece.part]
    assert named == [Words("layer 2", "layer.1"), Words("Head 1", "head.1.0"), Words("head 2 of layer 1", "head.0.1")]
    assert attribute_answers(INDUCTION)[1] == AnswerLayer(1, "head.1.0", "induction")


def test_hop_after_hop_is_told_from_the_layer_of_the_answer_downwards() -> None:
    reads = {(2, 1, 4): 3, (1, 0, 3): 2, (0, 0, 2): 1, (0, 1, 3): 1}
    path = path_in(snapshot([0.1, 0.1, 0.2, 0.9], {(2, 1): 3.0}, reads))
    assert [(one.layer, one.head, one.position, one.read) for one in path.readings] == [
        (2, 1, 4, 3),
        (1, 0, 3, 2),
        (0, 0, 2, 1),
    ]
    assert path.sentence == (
        "The answer at position 5 arrives in layer 3 (20 → 90 %). Head 2 reads the symbol before it, a “4”. "
        "There head 1 of layer 2 had read the symbol before it, a “2”. "
        "There head 1 of layer 1 had read the symbol before it, a “9”."
    )
    deep = snapshot([0.1, 0.1, 0.1, 0.2, 0.9], {(3, 0): 3.0}, {(3, 0, 4): 3, (2, 0, 3): 2, (1, 0, 2): 1, (0, 0, 1): 0})
    assert len(path_in(deep).readings) == 4
    assert path_in(deep).sentence.endswith("a “9”, and so on down to layer 1.")


def test_only_the_links_that_the_answer_needs_are_named() -> None:
    """As in a model of one hop whose layers 4 and 6 both read the symbol after an earlier occurrence of theirs."""
    reads = {(2, 0, 4): 2, (1, 0, 2): 0, (0, 1, 2): 1, (0, 1, 0): 0}
    step = snapshot([0.1, 0.1, 0.25, 0.9], {(2, 0): 4.0, (2, 1): 0.5}, reads, mlp={2: 9.5})
    assert "There head 1 of layer 2 had read the first symbol" in path_in(step).sentence, "by what is read alone"
    path = path_in(step, {"head.2.0", "head.0.1"})
    assert path.sentence == (
        "The answer at position 5 arrives in layer 3 (25 → 90 %). "
        "Head 1 reads the symbol after the earlier “9”, which head 2 of layer 1 had marked."
    )
    assert path.induction
    assert path_in(step, {"head.2.0", "mlp.2"}).sentence.endswith(
        "The MLP computes it after head 1 reads the symbol at position 3, a “2”."
    )
    assert path_in(step, {"mlp.2", "head.0.1"}).sentence.endswith("The MLP computes it.")
    none = path_in(step, set())
    assert (none.sentence, none.readings) == (
        "The answer at position 5 arrives in layer 3 (25 → 90 %). No single head gives it.",
        (),
    )


def test_heads_that_do_the_same_are_one_link_where_the_answer_needs_one_of_them() -> None:
    reads = {(1, 0, 4): 2, (1, 2, 4): 2, (0, 1, 2): 1, (0, 2, 2): 1}
    step = snapshot([0.1, 0.25, 0.9], {(1, 0): 2.0, (1, 2): 2.0, (1, 1): 1.5}, reads, n_heads=4)
    path = path_in(step, {"head.1.0+head.1.2", "head.0.1+head.0.2"})
    assert path.sentence.endswith(
        ". Heads 1 and 3 read the symbol after the earlier “9”, which heads 2 and 3 of layer 1 had marked."
    )
    assert {piece.part for piece in path.links if piece.part} == {"head.1.0", "head.1.2", "head.0.1", "head.0.2"}
    alone = path_in(step, {"head.1.0+head.1.2", "head.0.2"})
    assert alone.sentence.endswith("which head 3 of layer 1 had marked.")
    assert not path_in(step, {"head.1.0+head.1.2"}).induction


def test_a_layer_that_only_guesses_does_not_bring_the_answer() -> None:
    path = path_in(snapshot([0.1, 0.7, 0.9], {(0, 0): 0.5, (1, 0): 4.0}, {(1, 0, 4): 2}))
    assert path.layer == 1
    assert path.sentence == (
        "The answer at position 5 arrives in layer 2 (70 → 90 %). Head 1 reads the symbol at position 3, a “2”."
    )
    sure = path_in(snapshot([0.95, 0.97, 0.99], {(1, 1): 4.0}, {(1, 1, 4): 0}))
    assert sure.sentence == (
        "No single layer gives the answer at position 5 (95 → 99.0 % over all layers); layer 2 adds most. "
        "Head 2 reads the first symbol, a “5”."
    )


def test_where_nothing_arrives_and_where_no_head_stands_out_it_says_so() -> None:
    path = path_in(snapshot([0.3, 0.2, 0.6, 0.25], {(1, 0): 1.0}, {}))
    assert (path.arrives, path.contributor, path.readings) == (False, "", ())
    assert path.sentence == "At position 5 the right answer “2” has the highest probability, 25 %, but less than half."
    wrong = [Sample(TOKENS, ["", "", "", "", "2"], ["", "", "", "", "3"])]
    assert path_in(snapshot([0.3, 0.2, 0.6, 0.25], {(1, 0): 1.0}, {}, samples=wrong)).sentence == (
        "At position 5 the model writes “3”, not “2” (probability 25 %)."
    )
    nothing = path_in(snapshot([0.3, 0.2, math.nan, math.nan], {(1, 0): 1.0}, {}))
    assert nothing.sentence == "The answer at position 5 is lost, because the numbers of layer 2 are no longer finite."
    assert attribute_answers(snapshot([0.3, 0.2, 0.25], {}, {}))[1] is None

    step = snapshot([0.1, 0.2, 0.9], {(1, 0): 1.2, (1, 1): -1, (1, 2): 1.1, (1, 3): 1.0}, {(1, 2, 4): 2}, n_heads=4)
    path = path_in(step)
    assert path.contributor == "several"
    assert [(one.layer, one.head) for one in path.readings] == [(1, 0), (1, 2), (1, 3)]
    assert path.sentence == (
        "The answer at position 5 arrives in layer 2 (20 → 90 %). Heads 1, 3 and 4 give it together."
    )
    assert attribute_answers(step)[1] == AnswerLayer(1, "head.1.0", "most answers in layer 2"), (
        "the one that adds most, over all positions"
    )


def test_the_mlp_brings_what_it_adds_far_more_to_than_the_heads() -> None:
    path = path_in(snapshot([0.1, 0.2, 0.9], {(1, 0): 1.0}, {(1, 0, 4): 2, (0, 0, 2): 1}, mlp={1: 3.0}))
    assert path.contributor == "mlp"
    assert path.sentence == (
        "The answer at position 5 arrives in layer 2 (20 → 90 %). The MLP computes it after head 1 reads the symbol after the "
        "earlier “9”, which head 1 of layer 1 had marked."
    )
    alone = path_in(snapshot([0.1, 0.2, 0.9], {}, {}, mlp={1: 3.0}))
    assert (alone.contributor, alone.readings) == ("mlp", ())
    assert alone.sentence == "The answer at position 5 arrives in layer 2 (20 → 90 %). The MLP computes it."
    assert Words("MLP", "mlp.1") in alone.words
    assert attribute_answers(snapshot([0.1, 0.2, 0.9], {}, {}, mlp={1: 3.0}))[1] == AnswerLayer(
        1, "", "most answers in layer 2"
    )


def test_a_head_that_reads_many_symbols_is_said_to_read_one_mostly() -> None:
    path = path_in(snapshot([0.1, 0.2, 0.9], {(1, 0): 1.0}, {}))
    assert path.sentence.endswith("Head 1 reads mostly the first symbol, a “5”.")


def test_there_is_no_path_with_one_layer_in_an_old_recording_and_without_attention() -> None:
    nothing = [None] * 5
    assert attribute_answers(snapshot([0.1, 0.9], {(0, 0): 1.0}, {}))[0] == nothing
    assert attribute_answers(replace(INDUCTION, contributions={}))[0] == nothing
    assert attribute_answers(replace(INDUCTION, patterns={}, contributions={}, residual={}))[0] == nothing
    assert attribute_answers(replace(INDUCTION, samples=[]))[0] == []
    assert attribute_answers(replace(INDUCTION, contributions={}))[1] is None


@pytest.mark.parametrize("family", ["decoder", "encoder", "encoder_decoder"])
@pytest.mark.parametrize("without", [(), ("layer.0",), ("mlp.1", "skip.0")])
def test_every_family_has_paths_from_the_layer_of_the_answer_down(family: str, without: tuple[str, ...]) -> None:
    """Of an untrained model, as if each answer had arrived."""
    config = parse({"task": "reverse", "family": family, "n_layers": 3, "n_heads": 2, "seq_len": 6})
    reading = user_sequence_read(ModelRequest(config), "", parts_named(config, without))
    right = reading.residual["right"].copy()
    right[-1] = 1.0
    paths = attribute_answers(replace(reading, residual={**reading.residual, "right": right}))[0]
    has_answer = [target != "" for target in reading.samples[0].targets]
    assert [path is not None for path in paths] == has_answer
    found = [path for path in paths if path is not None]
    assert all(path.arrives and path.sentence.endswith(".") for path in found)
    for path in found:
        pairs = zip(path.readings, path.readings[1:], strict=False) if path.contributor != "several" else ()
        for above, below in pairs:
            assert below.position == above.read
            assert below.which == "encoder" if above.which in ("cross", "encoder") else below.which != "encoder"
            assert below.layer < above.layer or (above.which, below.which) == ("cross", "encoder")


@pytest.mark.thorough
def test_without_skip_connections_nothing_arrives_through_six_trained_layers() -> None:
    config = parse({
        "task": "hops", "vocab_size": 4, "seq_len": 16, "n_layers": 6, "n_heads": 2, "pos_encoding": "rope",
        "learning_rate": 0.006, "steps": 100, "skips": False,
    })  # fmt: skip
    last = [event for event in train(config) if isinstance(event, Snapshot)][-1]
    paths = [path for path in attribute_answers(last)[0] if path is not None]
    assert len(paths) > 4
    assert 4 * sum(path.arrives for path in paths) < len(paths), "a model that guesses is right now and then"
