import numpy as np
import pytest
import torch

from engine.analysis.attention.head_ablation import LostAnswers, in_words, lost_answers
from engine.analysis.attention.jobs import AblateHead
from engine.analysis.attention.model import attention_at, held_out, model_of
from engine.analysis.attention.parts import Part
from engine.analysis.attention.path import Words
from engine.analysis.attention.requests import ModelRequest
from engine.analysis.measurements.head_pruning import attentions, gated
from engine.config.run_config import RunConfig, parse
from engine.tasks.base.data import IGNORE
from engine.training.evaluation import forward

HEAD, NEXT = Part("head", "self", 1, 0), Part("head", "self", 1, 2)
ABLATED = "Removed: head 1 of layer 2."
SHORT = {"n_layers": 2, "n_heads": 4, "seq_len": 6}


def answers(config: RunConfig, off: list[Part], rows: slice) -> np.ndarray:
    """True for answers that are right with some heads' outputs multiplied by zero, [sequence, asked]."""
    model, batch = model_of(ModelRequest(config)), held_out(config).rows(rows)
    region = next(iter(batch.regions.values()))
    gates = torch.ones(len(attentions(model)), config.n_heads)
    for part in off:
        gates[attentions(model).index(attention_at(model, part)), part.head] = 0.0
    with gated(model, gates), torch.no_grad():
        logits = forward(model, batch)
    assert (batch.targets[:, region] != IGNORE).all()
    right: np.ndarray = (logits.argmax(-1) == batch.targets)[:, region].numpy()
    return right


@pytest.mark.parametrize("family", ["decoder", "encoder_decoder"])
def test_the_answers_lost_are_those_that_switching_the_heads_off_loses(family: str) -> None:
    config = parse({**SHORT, "family": family, "task": "reverse", "vocab_size": 3})
    request = ModelRequest(config)
    next_head, here, others = lost_answers(request, "", HEAD)
    assert next_head is not None
    assert next_head != HEAD
    for rows, found in ((slice(1), here), (slice(1, 101), others)):
        whole = answers(config, [], rows)
        lost = [(whole & ~answers(config, off, rows)).sum() for off in ([HEAD], [next_head], [HEAD, next_head])]
        assert list(found) == [len(whole), whole.sum(), *lost]
    assert 0 < others.lost < others.right, "the example tells something"
    assert AblateHead(request, "", HEAD).do() == in_words(HEAD, next_head, here, others)


def test_it_reads_a_sequence_of_the_readers_own_and_says_what_is_wrong_with_it() -> None:
    request = ModelRequest(parse({**SHORT, "task": "reverse", "vocab_size": 3}))
    assert lost_answers(request, "0 1 2 0 1 2", HEAD)[1].sequences == 1
    with pytest.raises(ValueError, match="Your token “7” is not known"):
        AblateHead(request, "7 1 2 0 1 2", HEAD).do()


def test_a_model_with_one_head_has_no_other_that_could_take_over() -> None:
    request = ModelRequest(parse({"task": "reverse", "n_layers": 1, "n_heads": 1}))
    next_head, _, others = lost_answers(request, "", Part("head"))
    assert next_head is None
    assert others.lost == others.lost_by_both
    assert others.lost_by_next == 0


def sentence(here: LostAnswers, others: LostAnswers, next_head: Part | None = NEXT) -> tuple[str, str]:
    found = in_words(HEAD, next_head, here, others)
    return "".join(piece.text for piece in found["words"]), found["details"]


def lost(right: int, without: int, by_next: int, both: int, sequences: int = 100) -> LostAnswers:
    return LostAnswers(sequences, right, without, by_next, both)


@pytest.mark.parametrize(
    ("others", "words", "details"),
    [
        (lost(2000, 900, 300, 1250), "900 of 2,000 answers lost (45 %).", "300 are lost; if both are, 1,250."),
        (lost(2000, 900, 300, 1400), "900 of 2,000 answers lost (45 %). Head 3 takes over part of its work.",
         "300 are lost; if both are, 1,400."),
        (lost(2000, 50, 60, 1400), "50 of 2,000 answers lost (2 %). Head 3 takes over its work.", "60 are lost; if both are, 1,400."),
        (lost(2000, 50, 900, 1000), "50 of 2,000 answers lost (2 %). The model hardly needs this head.", ""),
    ],
)  # fmt: skip
def test_the_verdict_is_short_and_the_numbers_behind_it_are_apart(
    others: LostAnswers, words: str, details: str
) -> None:
    here = "Counted in 100 other sequences (in this one: 5 of 6)."
    behind = f"{here} If only head 3 of layer 2 is removed, {details}" if details else here
    assert sentence(lost(6, 5, 0, 5, 1), others) == (f"{ABLATED} {words}", behind)


def test_the_verdict_without_another_head_or_without_right_answers() -> None:
    alone = sentence(lost(6, 5, 0, 5, 1), lost(2000, 900, 0, 900), None)
    assert alone == (
        f"{ABLATED} 900 of 2,000 answers lost (45 %).",
        "Counted in 100 other sequences (in this one: 5 of 6).",
    )
    assert sentence(lost(0, 0, 0, 0, 1), lost(0, 0, 0, 0)) == ("The model has no right answer that could be lost.", "")
    below = in_words(Part("head", "cross", 0, 1), NEXT, lost(6, 5, 0, 5, 1), lost(2000, 900, 300, 1400))
    assert Words("Head 3 of layer 2", "head.1.2") in below["words"], "named with its layer where that is another one"
