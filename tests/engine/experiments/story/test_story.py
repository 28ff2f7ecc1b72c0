"""The story: its settings fit, its words are few, and the right answer to each question is the run's own, whatever the run did."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from engine.estimate.layout import metric_names
from engine.experiments.story import STEPS
from engine.experiments.story.questions import MOST, PICTURES, QUESTIONS
from engine.experiments.story.readings import equal_symbols, heads_of
from engine.experiments.story.steps import StoryStep
from engine.foundation.formatting import percent
from engine.runs.events import Event, Finished, Progress, Sample, Snapshot, Started
from engine.runs.log import EventLog
from engine.settings.costs import Memory
from engine.settings.fields import to_text
from engine.tasks import TASKS

MOST_WORDS = 60


def test_there_are_six_about_one_task_and_each_has_a_title_and_a_question_of_its_own_and_the_sample_is_right() -> None:
    assert len({step.title for step in STEPS}) == len(STEPS) == 6
    assert sorted(step.asks for step in STEPS) == sorted(QUESTIONS)
    assert {step.config(step.first).task for step in STEPS} == {"reverse"}
    digits = [word.strip(".,:") for word in STEPS[0].sentences[0].split() if word.strip(".,:").isdigit()]
    length = STEPS[0].config(STEPS[0].first).seq_len
    assert digits[:length] == digits[length:][::-1]
    assert TASKS["reverse"].order_matters


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.title)
def test_every_allowed_value_makes_a_run_that_differs_in_this_setting_alone_and_the_words_are_few(
    step: StoryStep,
) -> None:
    assert 2 <= len(step.values) <= 4
    assert len(set(step.values)) == len(step.values)
    assert step.first in step.values
    first = step.config(step.first)
    for value in step.values:
        config = step.config(value, seed=3)
        assert (config.value(step.setting), config.seed) == (value, 3)
        assert config == first.replace(**{step.setting: value, "seed": 3})
    assert {step.setting, "seed"}.isdisjoint(step.base)
    assert step.row.name == step.setting
    assert step.choices == {to_text(value): value for value in step.values}
    labels = [step.label_of(value) for value in step.values]
    assert all(labels)
    assert len(set(labels)) == len(labels)
    assert 2 <= len(step.sentences) <= 3
    assert len(" ".join(step.sentences).split()) <= MOST_WORDS
    assert step.question.text.endswith("?")
    assert 2 <= len(step.question.answers) <= 3
    assert len(set(step.question.answers.values())) == len(step.question.answers)
    lessons = step.question.lessons
    assert lessons.keys() == step.question.answers.keys()
    assert len(set(lessons.values())) == len(lessons)
    assert not any(sign.isdigit() for lesson in lessons.values() for sign in lesson), "a lesson is no measurement"
    if step.question.pictures:
        assert step.question.pictures.keys() == step.question.answers.keys()


MEMORY = Memory(parameters=1, gradients=1, optimizer=2, saved=1, scores=1)
CHANCE = 0.1
ENCODER = STEPS[0].config(STEPS[0].first)
SPREAD = np.full((1, 1, 8, 8), 1 / 8, dtype=np.float32)


def sample(tokens: str, predictions: str, targets: str | None = None) -> Sample:
    """A sequence of one-letter symbols; a space in the targets: no answer is asked there."""
    asked = [sign.strip() for sign in (targets or tokens[::-1])]
    return Sample(list(tokens), asked, [guess if ask else "" for guess, ask in zip(predictions, asked, strict=True)])


SAMPLES = (sample("12134567", "33345678"), sample("99123456", "12345678"))
"""Two pairs of equal symbols; the first pair got the same answer."""


def mirrored(heads: Sequence[bool]) -> np.ndarray:
    """A pattern of one layer: heads that read the mirrored position, and heads that read their own."""
    own = np.eye(8, dtype=np.float32)
    return np.stack([own[::-1] if mirror else own for mirror in heads])[None]


def events_of(
    accuracy: float,
    *,
    samples: Sequence[Sample] = (),
    pattern: np.ndarray | None = None,
    ended: bool = True,
    measured: Sequence[tuple[int, float]] = (),
) -> EventLog:
    """A run that ends with this accuracy, and with these samples and this pattern in its last snapshot. ``measured``: steps before
    the last, each with its accuracy."""
    name = metric_names(ENCODER)[0]
    events: list[Event] = [Started(10, MEMORY, None, {"loss": 2.3, name: CHANCE}, None, "cpu")]
    events += [
        Progress(step, 1.0, 1.0, 0.01, 100.0, {name: share}, {"loss": 1.0, name: share}) for step, share in measured
    ]
    events.append(Snapshot(ENCODER.steps, {} if pattern is None else {"self": pattern}, {}, list(samples)))
    if ended:
        events.append(Finished(ENCODER.steps, {"loss": 1.0, name: accuracy}, [], MEMORY, 1.0))
    return EventLog(events)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.title)
def test_whatever_a_run_did_exactly_one_answer_is_right_once_it_has_finished(step: StoryStep) -> None:
    for config in map(step.config, step.values):
        for accuracy in (0.0, CHANCE, 0.3, 0.985, 0.99, 1.0):
            for heads in ([False], [True, False], [True]):
                events = events_of(accuracy, samples=SAMPLES, pattern=mirrored(heads))
                observed = step.question.observe(config, events)
                assert observed.answer in step.question.answers
                assert observed.sentence.endswith(".")
        assert step.question.observe(config, EventLog()) is None
        unfinished = events_of(1.0, samples=SAMPLES, pattern=mirrored([True]), ended=False)
        assert step.question.observe(config, unfinished) is None


@pytest.mark.parametrize(
    ("question", "events", "answer", "said"),
    [
        *(
            ("how-many-right", events_of(accuracy), answer, f"{percent(accuracy)} of the answers are right; guessing gives 10 %")
            for accuracy, answer in (
                (0.0, "chance"), (CHANCE, "chance"), (0.12, "chance"), (0.3, "some"), (0.989, "some"), (0.99, "nearly all"),
                (1.0, "nearly all"),
            )
        ),
        ("equal-symbols", events_of(0.3, samples=SAMPLES), "not always", "**1 of 2**"),
        ("equal-symbols", events_of(0.3, samples=SAMPLES[:1]), "always", "**1 of 1**"),
        *(
            ("heads-at-the-mirror", events_of(1.0, pattern=mirrored(heads)), answer, said)
            for heads, answer, said in (
                ([True], "every", "The head has"), ([False], "none", "The head has"),
                ([True, False, False, True], "part", "**2 of 4** heads"), ([True] * 4, "every", "**4 of 4** heads"),
            )
        ),
        *(
            (
                "layer-at-the-mirror",
                events_of(1.0, pattern=np.concatenate([mirrored([first, False]), mirrored([second, False])])),
                answer,
                f"layer 1 at **{8 * first} of 8** positions; layer 2 at **{8 * second} of 8** positions",
            )
            for first, second, answer in (
                (False, False, "none"), (False, True, "later"), (True, False, "first"), (True, True, "first"),
            )
        ),
        ("picture-of-the-weights", events_of(0.3, pattern=mirrored([True, False])), "mirrored", "30 % of the answers"),
        ("picture-of-the-weights", events_of(0.3, pattern=mirrored([False])), "one distance", ""),
        ("picture-of-the-weights", events_of(0.3, pattern=np.roll(mirrored([False]), 2, axis=-1)), "one distance", ""),
        ("picture-of-the-weights", events_of(0.3, pattern=SPREAD), "spread", ""),
        *(  # each picture that is shown would be answered by its own name
            ("picture-of-the-weights", events_of(0.3, pattern=weights[None, None]), name, "")
            for name, weights in PICTURES.items()
        ),
        ("when-most-are-right", events_of(1.0, measured=[(50, 0.89), (100, 0.9)]), "early", "step **100 of 200**"),
        ("when-most-are-right", events_of(0.5, measured=[(50, 0.1), (101, 0.95)]), "late", "step **101 of 200**"),
        ("when-most-are-right", events_of(0.9), "late", ""),
        ("when-most-are-right", events_of(0.899, measured=[(100, 0.89)]), "never", ""),
    ],
)  # fmt: skip
def test_the_answer_is_read_from_the_run(question: str, events: EventLog, answer: str, said: str) -> None:
    observed = QUESTIONS[question].observe(ENCODER, events)
    assert observed.answer == answer
    assert said in observed.sentence


def test_equal_symbols_are_counted_pair_by_pair_within_one_sequence_where_an_answer_is_asked() -> None:
    three, two_sequences = [sample("555", "775")], [sample("12", "33"), sample("12", "33")]
    counted = [equal_symbols(samples) for samples in (SAMPLES, three, two_sequences, [sample("1123", "9999", "  12")])]
    assert counted == [(2, 1), (3, 1), (0, 0), (0, 0)]


def test_a_head_reads_the_mirrored_position_by_its_largest_weights() -> None:
    pattern = np.full((1, 2, 5, 5), 0.2, dtype=np.float32)
    pattern[..., 2] = 0.25
    for head, positions in enumerate((4, 3)):
        pattern[0, head, range(positions), [4 - at for at in range(positions)]] = 0.3
    most, some = heads_of(pattern)
    assert (most.head, most.hits, most.positions, most.at_mirror) == (0, 4, 5, True)
    assert (some.head, some.hits, some.positions, some.at_mirror) == (1, 3, 5, False)
    assert most.weight == pytest.approx((4 * 0.3 + 0.2) / 5)


@pytest.mark.parametrize("share", [0.0, 0.104, 0.5, 0.984, 0.99, 0.9996, 1.0])
def test_a_share_is_never_rounded_to_all(share: float) -> None:
    assert percent(MOST) in QUESTIONS["when-most-are-right"].text
    said = float(percent(share).removesuffix(" %")) / 100
    assert math.isclose(said, share, abs_tol=0.005)
    assert (said == 1.0) == (share == 1.0)
