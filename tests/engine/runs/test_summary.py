from dataclasses import replace
from typing import Any

import pytest

from engine.config.run_config import RunConfig, parse
from engine.estimate.warnings import warnings_of
from engine.runs.events import Ended, Event, Finished, Progress, Started
from engine.runs.summary import clearly_above, counting_comparisons, run_summary, unknown_tokens
from engine.settings.costs import Memory
from tests.tables import tables_beside

CASES = tables_beside(__file__)

STARTED = Started(1, Memory(1, 1, 1, 1, 1), None, {"second_half_accuracy": 0.1, "first_half_accuracy": 0.1}, 1.0, "cpu")


def row(step: int, second: float, first: float = 0.1, loss: float = 1.0, gap: float = 0.0) -> Progress:
    validation = {"loss": loss + gap, "second_half_accuracy": second, "first_half_accuracy": first}
    return Progress(step, loss, 1.0, 0.01, 1.0, validation=validation)


def words(*events: Event, end: Event | None = None, steps: int = 300) -> list[tuple[str, str]]:
    """The remarks on a run that came to its end, or to another ``end``."""
    config = RunConfig(steps=steps)
    return [(f.kind, f.sentence) for f in run_summary(config, [STARTED, *events, end or finished()])]


def finished(**metrics: float) -> Finished:
    return Finished(300, metrics, [], Memory(1, 1, 1, 1, 1), 1.0)


def sentences_on_text(share: float, **flat: Any) -> list[tuple[str, str]]:
    scores = {"loss": 0.1, "accuracy": 1.0, "unknown_share": share, "known_accuracy": 0.125, "known_perplexity": 987.6}
    started = replace(STARTED, chance={"accuracy": 0.1})
    last = Progress(10, 0.1, 1.0, 0.01, 1.0, validation=scores)
    return [(f.kind, f.sentence) for f in run_summary(parse(flat), [started, last, finished()])]


def test_of_a_text_the_share_of_unknown_tokens_is_said_and_with_many_of_them_nothing_is_learned() -> None:
    words = {"task": "shakespeare_words"}
    assert [kind for kind, _ in sentences_on_text(0.0, **words)] == ["success"]
    (learned, _), (kind, sentence) = sentences_on_text(0.149, **words)
    assert (learned, kind) == ("success", "note")
    assert sentence == (
        "14.9 % of the held-out tokens are unknown, that is, not in the vocabulary; over the others accuracy is 12.5 % and perplexity "
        "is 988."
    )
    for unit, better in (("words", "characters are the better unit"), ("chars", "take a larger vocab_size")):
        (kind, sentence), (learned, _) = sentences_on_text(0.5, task=f"shakespeare_{unit}")
        assert (kind, learned) == ("note", "note")
        assert "the loss over all says little" in sentence
        assert better in sentence
    assert "over the others" not in unknown_tokens(parse(words), {"unknown_share": 0.2})
    assert unknown_tokens(parse({}), {"unknown_share": 0.2}) == ""


def test_learned_names_the_step_and_chance_is_not_learning() -> None:
    ((kind, sentence),) = words(row(10, 0.5), row(20, 0.995), row(30, 1.0))
    assert kind == "success"
    assert "at step 20" in sentence
    ((kind, sentence),) = words(row(10, 0.12))
    assert kind == "note"
    assert sentence.startswith("Not learned")
    assert words(row(1, 0.12))[0][1].startswith("Not learned in 1 step:")
    assert words(row(1, 0.6))[0][1].endswith("after 1 step; chance is 0.1.")
    assert words(row(10, 0.6))[0][1].startswith("Learned in part")
    assert "fell back" in words(row(10, 1.0), row(20, 0.4))[0][1]


@pytest.mark.parametrize(
    ("events", "learned"),
    [
        ((row(10, 0.5), row(20, 0.995)), 1),
        ((row(10, 1.0), row(20, 0.4)), 0),
        ((row(10, 0.6),), 0),
        ((row(10, 0.12),), -1),
        ((row(10, 1.0, first=0.9),), None),
    ],
)
def test_whether_a_task_is_learned_is_told_as_an_answer_too_but_not_where_the_score_shows_a_leak(
    events: tuple[Event, ...], learned: int | None
) -> None:
    remarks = run_summary(RunConfig(steps=300), [STARTED, *events, finished()])
    assert [remark.learned for remark in remarks if remark.learned is not None] == (
        [] if learned is None else [learned]
    )
    unfinished = run_summary(RunConfig(steps=300), [STARTED, *events, Ended(20, "stopped")])
    assert not [remark for remark in unfinished if remark.learned is not None]


@pytest.mark.parametrize("second", [0.12, 0.6, 1.0])
@pytest.mark.parametrize(
    ("end", "what"),
    [
        (Ended(103, "stopped"), "was stopped at step 103 of 50,000"),
        (Ended(103, "lost", "Its worker was ended."), "was lost at step 103 of 50,000"),
        (row(103, 0.0), "is at step 103 of 50,000"),
    ],
)
def test_a_run_that_did_not_come_to_its_end_is_not_judged(second: float, end: Event, what: str) -> None:
    """The validation of so long a run is 500 steps apart: the last one was at step 1."""
    bare = replace(row(103, 0.0), validation=None)
    ((kind, sentence),) = words(row(1, second), bare, end=bare if isinstance(end, Progress) else end, steps=50_000)
    assert kind == "note"
    assert sentence == (
        f"This run {what}. Its last validation was at step 1: second-half accuracy was {second:.2f}, chance is 0.1."
    )


def test_a_first_half_above_chance_is_an_alarm_and_no_success() -> None:
    kinds = [kind for kind, _ in words(row(10, 1.0, first=0.9))]
    assert kinds == ["alarm"]
    assert clearly_above(0.3, 0.1)
    assert not clearly_above(0.15, 0.1), "a fluctuation"


QUERIES = {"softmax_axis": "query", "attention_impl": "materialised"}


def with_leak(read: float, written: float | None, first: float = 0.1, **flat: Any) -> list[tuple[str, str]]:
    """The remarks on a run whose main accuracy is ``read`` with the right answers in sight."""
    config, name = parse(flat), "second_half_accuracy"
    end = [] if written is None else [finished(written_accuracy=written)]
    if config.task == "markov":
        name = "accuracy"
    scores = {"loss": 1.0, name: read, **({"first_half_accuracy": first} if name != "accuracy" else {})}
    started = replace(STARTED, chance={**STARTED.chance, "accuracy": 0.1})
    last = Progress(10, 1.0, 1.0, 0.01, 1.0, validation=scores)
    return [(remark.kind, remark.sentence) for remark in run_summary(config, [started, last, *end])]


@pytest.mark.parametrize(
    ("flat", "why"),
    [
        ({"mask_fault": "missing"}, "the mask shows"),
        ({"mask_fault": "off_by_one"}, "the mask shows"),
        (QUERIES, "softmax over"),
    ],
)
def test_a_leak_is_an_alarm_with_both_numbers_and_never_learned(flat: dict[str, Any], why: str) -> None:
    ((kind, sentence),) = with_leak(1.0, 0.61, **flat)
    assert kind == "alarm"
    assert sentence.startswith("False success.")
    assert "With the right answers as input, second-half accuracy is 1.00. On its own output it is 0.61." in sentence
    assert "Only the second number counts" in sentence
    assert why in sentence
    ((kind, sentence),) = with_leak(1.0, None, **flat)
    assert kind == "alarm", "a run that goes on, or was stopped"
    assert "This score says nothing about learning" in sentence
    ((kind, sentence),) = with_leak(0.43, 0.11, task="markov", **flat)
    assert kind == "alarm"
    assert "With the later symbols in sight, accuracy is 0.43. Without them it is 0.11." in sentence


@pytest.mark.parametrize(("written", "harm"), [(1.0, "did no harm"), (0.97, "did little harm")])
def test_where_both_numbers_are_the_same_no_alarm_says_that_only_one_counts(written: float, harm: str) -> None:
    (kind, sentence), (second, why) = with_leak(1.0, written, first=1.0, mask_fault="missing")
    assert (kind, second) == ("note", "alarm")
    assert harm in sentence
    assert ("also 1.00" in sentence) == (written == 1)
    assert "counts" not in sentence
    assert "proves nothing" not in sentence
    assert why.startswith("First-half accuracy is 1.00, chance is 0.1")


def test_a_leak_is_recognised_by_its_effect_whatever_the_settings() -> None:
    ((kind, sentence),) = with_leak(1.0, 0.61)
    assert (kind, sentence[:14]) == ("alarm", "False success.")
    ((kind, sentence),) = with_leak(0.78, 0.6)
    assert kind == "note"
    assert sentence.startswith("Learned in part")
    assert "On its own output it is 0.60" in sentence
    assert [kind for kind, _ in with_leak(1.0, 0.97)] == ["success"]
    assert [sentence[:11] for _, sentence in with_leak(0.11, 0.1, **QUERIES)] == ["Not learned"]


def test_of_a_text_the_perplexities_stand_beside_the_accuracies() -> None:
    config = parse({"task": "shakespeare_chars", **QUERIES})
    scores = {"loss": 1.949, "accuracy": 0.43, "perplexity": 7.02, "unknown_share": 0.0}
    started = replace(STARTED, chance={"accuracy": 0.15})
    last = Progress(10, 2.0, 1.0, 0.01, 1.0, validation=scores)
    end = finished(written_accuracy=0.26, written_loss=3.777)
    ((_, sentence),) = ((row.kind, row.sentence) for row in run_summary(config, [started, last, end]))
    assert "accuracy is 0.43 (perplexity 7.02). Without them it is 0.26 (perplexity 43.7)." in sentence
    (row,) = counting_comparisons(config, [started, last, end], {"the trigram": 2.128})
    assert row.sentence == (
        "The score leaks, so perplexity 7.02 against 8.4 is no fair comparison with the trigram. With the later symbols hidden it is 43.7."
    )
    assert not row.better


def test_a_gap_is_named_only_where_there_is_one_and_nothing_before_anything_is_measured() -> None:
    assert len(words(row(10, 0.5, gap=0.05))) == 1
    assert "nats above" in words(row(10, 0.5, gap=0.5))[1][1]
    assert run_summary(RunConfig(), []) == run_summary(RunConfig(), [STARTED]) == []


@pytest.mark.parametrize(("flat", "word"), CASES["cautions"])
def test_a_caution_has_a_cause(flat: dict[str, Any], word: str) -> None:
    assert any(word in sentence for sentence in warnings_of(parse(flat)))


def test_the_default_needs_no_caution() -> None:
    assert warnings_of(RunConfig()) == []
    assert warnings_of(parse({"dtype": "bfloat16_mixed"})) == [], "its weights are float32"
    assert warnings_of(parse({"qk_norm": True, "d_head": 2, "norm_kind": "rms"})) == [], "the angle is left"
    assert not any("fault" in caution for caution in warnings_of(parse({"mask_fault": "missing", "task": "k_back"})))
    apart = {"task": "shakespeare_chars", "split": "windows", "windows": "non_overlapping"}
    assert warnings_of(parse(apart)) == []


CONFIG = parse({"task": "shakespeare_words", "seq_len": 16, "batch_size": 32})
TOKENS = 16 * 32


def check(step: int, loss: float, tokens_per_second: float = 100 * TOKENS) -> Progress:
    return Progress(step, loss, 1.0, 0.01, tokens_per_second, validation={"loss": loss})


def test_the_first_look_below_is_the_moment_and_seconds_follow_from_the_tokens() -> None:
    events = [check(100, 5.0), Progress(150, 3.0, 1.0, 0.01, 1.0), check(1400, 4.4), check(2000, 4.3)]
    bigram, trigram = counting_comparisons(CONFIG, events, {"counting pairs": 4.5, "the trigram": 4.2})
    assert (bigram.step, bigram.seconds) == (1400, 14.0)
    assert (
        bigram.sentence
        == "After 1,400 steps (14 s) it guessed better than counting pairs (now perplexity 73.7 against 90)."
    )
    assert trigram.step is None
    assert trigram.sentence == "After 2,000 steps it guesses worse than the trigram (perplexity 73.7 against 66.7)."
    (early,) = counting_comparisons(CONFIG, [check(16, 7.5)], {"bigram": 4.5})
    assert "(perplexity 1,808 against 90)" in early.sentence


def test_one_that_falls_back_says_so_and_nothing_is_said_before_the_first_look() -> None:
    (row,) = counting_comparisons(CONFIG, [check(100, 4.4), check(200, 4.6)], {"bigram": 4.5})
    assert row.sentence.endswith("it guessed better than bigram (but now worse again: perplexity 99.5 against 90).")
    assert counting_comparisons(CONFIG, [Progress(1, 8.0, 1.0, 0.01, 1.0)], {"bigram": 4.5}) == []


def test_two_numbers_that_look_the_same_are_not_called_better_or_worse() -> None:
    for loss in (4.4999, 4.5001):
        (row,) = counting_comparisons(CONFIG, [check(100, 5.0), check(200, loss)], {"the trigram": 4.5})
        assert row.sentence == "After 200 steps it guesses as well as the trigram (perplexity 90 against 90)."
        assert not row.better
    (row,) = counting_comparisons(CONFIG, [check(100, 4.48)], {"the trigram": 4.5})
    assert row.better
