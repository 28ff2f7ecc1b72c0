"""The questions of the story: the right answer is the run's own, whatever the run did."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.config.run_config import RunConfig
from engine.experiments.story import STEPS
from engine.experiments.story.questions import (
    EQUAL_SYMBOLS,
    HEADS_AT_THE_MIRROR,
    HOW_MANY_RIGHT,
    LAYER_AT_THE_MIRROR,
    PICTURE_OF_THE_WEIGHTS,
    WHEN_MOST_ARE_RIGHT,
    percent,
)
from engine.experiments.story.readings import equal_symbols, heads_of
from engine.experiments.story.step import Observed, Question, Step
from engine.runs.log import EventLog
from tests.engine.experiments.story.synthetic import CHANCE, events_of, mirrored, sample

ENCODER = STEPS[0].config(STEPS[0].first)
SAMPLES = (sample("12134567", "33345678"), sample("99123456", "12345678"))
"""Two pairs of equal symbols; the first pair got the same answer."""


def seen(question: Question, config: RunConfig, events: EventLog) -> Observed:
    """What a run answers to a question that it can answer."""
    observed = question.observe(config, events)
    assert observed is not None
    return observed


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.title)
def test_whatever_a_run_did_exactly_one_answer_of_its_question_is_right(step: Step) -> None:
    for value in step.values:
        config = step.config(value)
        for accuracy in (0.0, CHANCE, 0.3, 0.985, 0.99, 1.0):
            for heads in ([False], [True, False], [True]):
                events = events_of(config, accuracy, samples=SAMPLES, pattern=mirrored(heads))
                observed = seen(step.question, config, events)
                assert observed.answer in step.question.answers
                assert observed.sentence.endswith(".")


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.title)
def test_a_run_that_has_not_finished_answers_nothing(step: Step) -> None:
    config = step.config(step.first)
    assert step.question.observe(config, EventLog()) is None
    unfinished = events_of(config, 1.0, samples=SAMPLES, pattern=mirrored([True]), ended=False)
    assert step.question.observe(config, unfinished) is None


@pytest.mark.parametrize(
    ("accuracy", "answer"),
    [
        (0.0, "chance"),
        (CHANCE, "chance"),
        (0.12, "chance"),
        (0.3, "some"),
        (0.989, "some"),
        (0.99, "nearly all"),
        (1.0, "nearly all"),
    ],
)
def test_accuracy_is_compared_with_chance_and_with_what_counts_as_learned(accuracy: float, answer: str) -> None:
    observed = seen(HOW_MANY_RIGHT, ENCODER, events_of(ENCODER, accuracy))
    assert observed.answer == answer
    assert f"{percent(accuracy)} of the answers are right" in observed.sentence
    assert f"guessing gives {percent(CHANCE)}" in observed.sentence


def test_equal_symbols_are_counted_pair_by_pair_and_within_one_sequence() -> None:
    found = equal_symbols(SAMPLES)
    assert (found.pairs, found.same) == (2, 1)
    three = equal_symbols([sample("555", "775")])
    assert (three.pairs, three.same) == (3, 1)
    assert equal_symbols([sample("12", "33"), sample("12", "33")]).pairs == 0


def test_only_positions_that_are_asked_count() -> None:
    assert equal_symbols([sample("1123", "9999", "  12")]).pairs == 0


def test_one_pair_with_different_answers_is_not_always() -> None:
    observed = seen(EQUAL_SYMBOLS, ENCODER, events_of(ENCODER, 0.3, samples=SAMPLES))
    assert observed.answer == "not always"
    assert "**1 of 2**" in observed.sentence
    same = seen(EQUAL_SYMBOLS, ENCODER, events_of(ENCODER, 0.3, samples=SAMPLES[:1]))
    assert same.answer == "always"


@pytest.mark.parametrize(
    ("heads", "answer"),
    [([True], "every"), ([False], "none"), ([True, False, False, True], "part"), ([True] * 4, "every")],
)
def test_heads_at_the_mirrored_position_are_counted(heads: list[bool], answer: str) -> None:
    observed = seen(HEADS_AT_THE_MIRROR, ENCODER, events_of(ENCODER, 1.0, pattern=mirrored(heads)))
    assert observed.answer == answer
    if len(heads) > 1:
        assert f"**{sum(heads)} of {len(heads)}** heads" in observed.sentence


def test_a_head_reads_the_mirrored_position_by_its_largest_weights() -> None:
    pattern = np.full((1, 2, 5, 5), 0.2, dtype=np.float32)
    pattern[..., 2] = 0.25
    for head, positions in enumerate((4, 3)):
        pattern[0, head, range(positions), [4 - at for at in range(positions)]] = 0.3
    most, some = heads_of(pattern)
    assert (most.head, most.hits, most.positions, most.at_mirror) == (0, 4, 5, True)
    assert (some.head, some.hits, some.positions, some.at_mirror) == (1, 3, 5, False)
    assert most.weight == pytest.approx((4 * 0.3 + 0.2) / 5)


@pytest.mark.parametrize(
    ("layers", "answer"), [([0, 0], "none"), ([0, 1], "later"), ([1, 0], "first"), ([1, 1], "first")]
)
def test_the_first_layer_that_reads_the_mirrored_position_is_named(layers: list[int], answer: str) -> None:
    pattern = np.concatenate([mirrored([bool(mirror), False]) for mirror in layers])
    observed = seen(LAYER_AT_THE_MIRROR, ENCODER, events_of(ENCODER, 1.0, pattern=pattern))
    assert observed.answer == answer
    for layer, mirror in enumerate(layers, 1):
        assert f"layer {layer} at **{8 if mirror else 0} of 8** positions" in observed.sentence


@pytest.mark.parametrize(
    ("pattern", "answer"),
    [
        (mirrored([True, False]), "mirrored"),
        (mirrored([False]), "one distance"),
        (np.roll(mirrored([False]), 2, axis=-1), "one distance"),
        (np.full((1, 1, 8, 8), 1 / 8, dtype=np.float32), "spread"),
    ],
)
def test_the_picture_is_that_of_the_heads_strongest_weights(pattern: np.ndarray, answer: str) -> None:
    observed = seen(PICTURE_OF_THE_WEIGHTS, ENCODER, events_of(ENCODER, 0.3, pattern=pattern))
    assert observed.answer == answer


def test_each_picture_that_is_shown_would_be_answered_by_its_own_name() -> None:
    assert PICTURE_OF_THE_WEIGHTS.pictures.keys() == PICTURE_OF_THE_WEIGHTS.answers.keys()
    for name, weights in PICTURE_OF_THE_WEIGHTS.pictures.items():
        observed = seen(PICTURE_OF_THE_WEIGHTS, ENCODER, events_of(ENCODER, 0.3, pattern=weights[None, None]))
        assert observed.answer == name


@pytest.mark.parametrize(
    ("measured", "last", "answer"),
    [
        ([(50, 0.89), (100, 0.9)], 1.0, "early"),
        ([(50, 0.1), (101, 0.95)], 0.5, "late"),
        ([], 0.9, "late"),
        ([(100, 0.89)], 0.899, "never"),
    ],
)
def test_the_first_step_at_which_most_answers_are_right_is_named(
    measured: list[tuple[int, float]], last: float, answer: str
) -> None:
    assert ENCODER.steps == 200
    observed = seen(WHEN_MOST_ARE_RIGHT, ENCODER, events_of(ENCODER, last, measured=measured))
    assert observed.answer == answer
    if measured and answer != "never":
        assert f"step **{measured[-1][0]} of 200**" in observed.sentence


def test_no_two_steps_ask_the_same() -> None:
    assert len({step.question.text for step in STEPS}) == len(STEPS)


@pytest.mark.parametrize("share", [0.0, 0.104, 0.5, 0.984, 0.99, 0.9996, 1.0])
def test_a_share_is_never_rounded_to_all(share: float) -> None:
    said = float(percent(share).removesuffix(" %")) / 100
    assert math.isclose(said, share, abs_tol=0.005)
    assert (said == 1.0) == (share == 1.0)
