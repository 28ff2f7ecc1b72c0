import math
from collections.abc import Sequence

import numpy as np
import pytest

from engine.config.run_config import RunConfig
from engine.estimate.layout import metric_names
from engine.experiments.lessons import PREPARED
from engine.experiments.question import ANSWERS, Direction
from engine.experiments.run_readings import PICTURES, REACHED_ACCURACY, READINGS, equal_symbols, heads_of
from engine.foundation.formatting import percent
from engine.runs.events import Event, Finished, Progress, Sample, Snapshot, Started
from engine.runs.log import EventLog
from engine.settings.costs import Memory

MEMORY = Memory(parameters=1, gradients=1, optimizer=2, saved=1, scores=1)
CHANCE = 0.1
ENCODER = PREPARED["a-bag-of-symbols"].config
SPREAD = np.full((1, 1, 8, 8), 1 / 8, dtype=np.float32)


def sample(tokens: str, predictions: str, targets: str | None = None) -> Sample:
    """A sequence of one-letter symbols; a space in the targets: no answer is asked there."""
    question = [sign.strip() for sign in (targets or tokens[::-1])]
    return Sample(
        list(tokens), question, [guess if ask else "" for guess, ask in zip(predictions, question, strict=True)]
    )


SAMPLES = (sample("12134567", "33345678"), sample("99123456", "12345678"))
"""Two pairs of equal symbols; the first pair got the same answer."""


def mirrored(heads: Sequence[bool]) -> np.ndarray:
    """A pattern of one layer: heads that read the mirrored position, and heads that read the query's."""
    diagonal = np.eye(8, dtype=np.float32)
    return np.stack([diagonal[::-1] if mirror else diagonal for mirror in heads])[None]


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


@pytest.mark.parametrize("slug", PREPARED)
def test_whatever_a_run_did_exactly_one_answer_is_right_once_it_has_finished(slug: str) -> None:
    guide = PREPARED[slug].guide
    assert guide is not None
    for config in (PREPARED[slug].config.replace(**{guide.vary: value}) for value in guide.values):
        for accuracy in (0.0, CHANCE, 0.3, 0.985, 0.99, 1.0):
            for heads in ([False], [True, False], [True]):
                events = events_of(accuracy, samples=SAMPLES, pattern=mirrored(heads))
                observed = guide.question.observe(config, events)
                assert len(observed.right) == 1
                assert observed.sentence.endswith(".")
        assert guide.question.observe(config, EventLog()) is None
        unfinished = events_of(1.0, samples=SAMPLES, pattern=mirrored([True]), ended=False)
        assert guide.question.observe(config, unfinished) is None


@pytest.mark.parametrize(
    ("question", "events", "answer", "sentence"),
    [
        *(
            ("how-many-right", events_of(accuracy), answer, f"{percent(accuracy)} of the answers are right; guessing gives 10 %")
            for accuracy, answer in (
                (0.0, -1), (CHANCE, -1), (0.12, -1), (0.3, 0), (0.989, 0), (0.99, 1),
                (1.0, 1),
            )
        ),
        ("equal-symbols", events_of(0.3, samples=SAMPLES), 0, "1 of 2"),
        ("equal-symbols", events_of(0.3, samples=SAMPLES[:1]), 1, "1 of 1"),
        *(
            ("heads-at-the-mirror", events_of(1.0, pattern=mirrored(heads)), answer, sentence)
            for heads, answer, sentence in (
                ([True], 1, "The head has"), ([False], -1, "The head has"),
                ([True, False, False, True], 0, "2 of 4 heads"), ([True] * 4, 1, "4 of 4 heads"),
            )
        ),
        *(
            (
                "layer-at-the-mirror",
                events_of(1.0, pattern=np.concatenate([mirrored([first, False]), mirrored([second, False])])),
                answer,
                f"layer 1 at {8 * first} of 8 positions; layer 2 at {8 * second} of 8 positions",
            )
            for first, second, answer in (
                (False, False, -1), (False, True, 1), (True, False, 0), (True, True, 0),
            )
        ),
        ("picture-of-the-weights", events_of(0.3, pattern=mirrored([True, False])), -1, "30 % of the answers"),
        ("picture-of-the-weights", events_of(0.3, pattern=mirrored([False])), 0, ""),
        ("picture-of-the-weights", events_of(0.3, pattern=np.roll(mirrored([False]), 2, axis=-1)), 0, ""),
        ("picture-of-the-weights", events_of(0.3, pattern=SPREAD), 1, ""),
        *(  # each picture that is shown would be answered by itself
            ("picture-of-the-weights", events_of(0.3, pattern=weights[None, None]), answer, "")
            for answer, weights in zip(ANSWERS, PICTURES, strict=True)
        ),
        ("when-most-are-right", events_of(1.0, measured=[(50, 0.89), (100, 0.9)]), 1, "step 100 of 200"),
        ("when-most-are-right", events_of(0.5, measured=[(50, 0.1), (101, 0.95)]), 0, "step 101 of 200"),
        ("when-most-are-right", events_of(0.9), 0, ""),
        ("when-most-are-right", events_of(0.899, measured=[(100, 0.89)]), -1, ""),
    ],
)  # fmt: skip
def test_the_answer_is_read_from_the_run(question: str, events: EventLog, answer: Direction, sentence: str) -> None:
    observed = READINGS[question].observe(ENCODER, events)
    assert observed.right == (answer,)
    assert sentence in observed.sentence


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
    assert percent(REACHED_ACCURACY) in next(
        step.guide.asks for step in PREPARED.values() if step.guide.reads == "when-most-are-right"
    )
    rounded = float(percent(share).removesuffix(" %")) / 100
    assert math.isclose(rounded, share, abs_tol=0.005)
    assert (rounded == 1.0) == (share == 1.0)


@pytest.mark.parametrize(
    ("accuracy", "ended", "right"), [(1.0, True, (1,)), (0.5, True, (0,)), (CHANCE, True, (-1,)), (1.0, False, None)]
)
def test_whether_a_task_is_learned_is_what_the_summary_says_of_a_run_that_has_ended(
    accuracy: float, ended: bool, right: tuple[Direction, ...] | None
) -> None:
    observed = READINGS["learned"].observe(ENCODER, events_of(accuracy, ended=ended, measured=[(100, accuracy)]))
    assert (observed.right if observed else None) == right


def test_without_equal_symbols_a_run_decides_nothing_about_them() -> None:
    observed = READINGS["equal-symbols"].observe(ENCODER, events_of(0.3, samples=[sample("12345678", "87654321")]))
    assert observed is not None
    assert observed.right == ()


def test_mirrored_positions_are_looked_for_only_where_a_model_reverses_all_at_once() -> None:
    fit = {name for name, one in READINGS.items() if one.fits(RunConfig(task="reverse"))}
    assert fit == {"learned", "how-many-right", "when-most-are-right"}
    assert all(one.fits(ENCODER) for one in READINGS.values())
