"""The path of two heads: who reads what of the other sequence, which sequences are compared, and what is said of it."""

import pytest
import torch
from torch import Tensor, nn

from engine.analysis.attention.asked import ModelAsked, SampleAsked
from engine.analysis.attention.exchanged import (
    Exchanged,
    ExchangedHere,
    Pairs,
    answers,
    exchanged,
    heads_given,
    pairs_of,
    path_answers,
    verdict,
)
from engine.analysis.attention.jobs import ExchangePath, FollowAnswer
from engine.analysis.attention.model import held_out, model_of, run_with_cache
from engine.analysis.attention.parts import Part
from engine.analysis.attention.without import without_parts
from engine.config.run_config import parse
from engine.model.block import Block
from engine.model.masks import causal_mask
from engine.model.transformer import Transformer

LOWER, UPPER, THIRD = Part("head", "self", 0, 1), Part("head", "self", 1, 0), Part("head", "self", 0, 0)
SHORT = {"task": "reverse", "vocab_size": 3, "seq_len": 8, "n_layers": 2, "n_heads": 2, "d_model": 16}


def wild(**settings: object) -> Transformer:
    """An untrained model with weights so large that each symbol counts for its answers."""
    model = without_parts(model_of(ModelAsked(parse({**SHORT, **settings}), step=0)), ())
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(3)
    return model


def unlike(model: Transformer) -> Pairs:
    """Sequences, each with a wholly other one; the last position is asked."""
    batch, other = (held_out(model.config).rows(rows) for rows in (slice(60), slice(60, 120)))
    at = torch.full((60,), batch.inputs.size(1) - 1)
    own, told = (run_with_cache(model, one)[0].argmax(-1)[:, -1] for one in (batch, other))
    return Pairs(batch, other, at, at, at, own, told)


def by_hand(model: Transformer, pairs: Pairs, *, everyone: bool) -> Tensor:
    """The answers where the upper head, or every part, reads the lower one on the other sequence: from the tensors of a pre-LN model of
    two layers without MLPs, which adds up what its heads write."""
    (_, own), (_, other) = (run_with_cache(model, batch) for batch in (pairs.batch, pairs.other))
    first, second = (block for block in model.stack.blocks if isinstance(block, Block))
    width = model.config.head_width

    def moved(out: nn.Linear, head: int, before: Tensor, after: Tensor) -> Tensor:
        return (after - before)[:, head] @ out.weight[:, head * width : (head + 1) * width].T

    read = own["decoder.0.out"] + moved(
        first.attention.out, 1, own["decoder.0.self.mixed"], other["decoder.0.self.mixed"]
    )
    cache: dict[str, Tensor] = {}
    mask = causal_mask(read.size(1), "none", None, read.device, read.dtype)
    normed, at = second.attention_residual.before(read), range(read.size(1))
    out = second.attention(normed, normed, mask, model.encoding, at, cache, "second")
    if everyone:
        last = read + out
    else:
        change = moved(second.attention.out, 0, own["decoder.1.self.mixed"], cache["second.mixed"])
        last = own["decoder.1.out"] + change
    return model.logits_of(last).argmax(-1)[torch.arange(len(pairs.at)), pairs.at]


@torch.no_grad()
def test_the_upper_head_alone_or_every_reader_reads_what_the_lower_one_writes_on_the_other_sequence() -> None:
    model = wild(mlp=False)
    pairs = unlike(model)
    alone = path_answers(model, pairs, [LOWER], UPPER)
    assert torch.equal(alone, by_hand(model, pairs, everyone=False))
    everyone = answers(model, pairs, heads_given(model, pairs, [LOWER]))
    assert torch.equal(everyone, by_hand(model, pairs, everyone=True))
    assert not torch.equal(alone, everyone)
    assert not torch.equal(alone, pairs.own)


@torch.no_grad()
@pytest.mark.parametrize(
    "more",
    [{"n_layers": 3}, {"n_layers": 3, "share_layers": True}, {"family": "encoder_decoder"}, {"norm": "post"}, {"family": "encoder"}],
)  # fmt: skip
def test_without_another_sequence_nothing_changes_in_any_architecture(more: dict[str, object]) -> None:
    model = wild(**more)
    pairs = unlike(model)
    upper = Part("head", "self", model.config.n_layers - 1, 0)
    same = Pairs(**{**vars(pairs), "other": pairs.batch})
    assert torch.equal(path_answers(model, same, [LOWER], upper), pairs.own)
    assert torch.equal(answers(model, same, heads_given(model, same, [LOWER])), pairs.own)
    both = [LOWER, THIRD]
    assert not torch.equal(path_answers(model, pairs, both, upper), pairs.own)


@torch.no_grad()
def test_the_other_sequence_has_the_read_symbol_in_another_place_and_another_answer() -> None:
    model = wild()
    batch = held_out(model.config)
    pairs = pairs_of(model, batch, LOWER, UPPER)
    assert len(pairs.at) > 20
    row = torch.arange(len(pairs.at))
    for own, sequences in ((pairs.own, pairs.batch), (pairs.told, pairs.other)):
        logits, _ = run_with_cache(model, sequences)
        assert torch.equal(logits.argmax(-1)[row, pairs.at], own)
    assert torch.equal(pairs.own, pairs.batch.targets[row, pairs.at]), "right"
    assert (pairs.own != pairs.told).all()
    region = next(iter(batch.regions.values()))
    assert (pairs.at >= region.start).all()
    moved = pairs.batch.inputs != pairs.other.inputs
    assert moved.sum(-1).tolist() == [2] * len(pairs.at)
    assert moved[row, pairs.read].all()
    assert moved[row, pairs.partner].all()
    _, cache = run_with_cache(model, pairs.batch)
    key = cache["decoder.1.self.pattern"][row, UPPER.head, pairs.at].argmax(-1)
    assert torch.equal(pairs.read, cache["decoder.0.self.pattern"][row, LOWER.head, key].argmax(-1))
    for place in (pairs.at, key):
        assert not moved[row, place].any(), "what answers and what is read stay"


def test_a_question_has_the_counts_and_the_words_of_its_pairs() -> None:
    asked = ModelAsked(parse(SHORT), step=0)
    follows, _, others = exchanged(asked, SampleAsked(), 14, LOWER, UPPER)
    words = ExchangePath(asked, SampleAsked(), 14, LOWER, UPPER).do()
    assert follows == THIRD
    assert 0 < others.answers <= others.sequences == 100
    assert others.alone + others.wrong <= others.answers
    names = [piece.part for piece in words if piece.part]
    assert set(names) == {LOWER.name, UPPER.name, THIRD.name}
    sentence = "".join(piece.text for piece in words)
    assert f", {others.alone} of {others.answers} right answers in 100 other sequences become" in sentence
    assert FollowAnswer(asked, SampleAsked(), 2).do() is None, "nothing is asked there"
    path = FollowAnswer(asked, SampleAsked(), 14).do()
    assert path is not None
    assert path.position == 14


def counts(alone: int, wrong: int, by_next: int, all_senders: int, all_readers: int, answers: int = 90) -> Exchanged:
    return Exchanged(100, answers, alone, wrong, by_next, all_senders, all_readers)


HERE = ExchangedHere(places=(3, 9), symbols=("2", "0"), own="1", told="3", alone="3")


def said(others: Exchanged, here: ExchangedHere | None = HERE, follows: Part | None = THIRD) -> str:
    return "".join(piece.text for piece in verdict(LOWER, UPPER, follows, here, others))


def test_the_verdict_says_what_changes_with_this_path_with_other_heads_and_for_other_readers() -> None:
    first = (
        "Where head 1 of layer 2 alone reads what head 2 of layer 1 writes on a sequence with two symbols exchanged, "
        "70 of 90 right answers in 100 other sequences become the answer to that sequence, and 4 another wrong one."
    )
    here = (
        " Here, with the “2” and the “0” at positions 4 and 10 exchanged, the whole model answers “3” in place of “1”; with the exchange "
        "for this head alone it answers “3”."
    )
    heads = (
        " With head 1 of layer 1 in place of head 2 of layer 1, the most of any other head of that layer, 3 change, and with all of its "
        "heads together "
    )
    readers = " Where all that reads head 2 of layer 1 reads the exchange, "
    assert said(counts(70, 4, 3, 78, 78)) == (
        f"{first}{here}{heads}78: no other one is needed.{readers}78 change: no other reader takes over."
    )
    assert said(counts(70, 4, 3, 79, 79), None) == (
        f"{first}{heads}79: others write a part of it.{readers}79 change: other readers take over."
    )
    assert said(counts(70, 4, 0, 70, 70), None, None) == f"{first}{readers}70 change: no other reader takes over."
    assert said(counts(0, 0, 0, 0, 0, answers=0)) == (
        "In 100 other sequences no right answer changes when two symbols are exchanged in this way."
    )
