"""What the sentences of the story speak of comes out in eight of eight seeds, by training every step with every value."""

from __future__ import annotations

import pytest

from engine.experiments.story import STEPS
from engine.runs.events import Measuring
from engine.runs.log import EventLog
from engine.settings.fields import Value
from engine.training.train import train

pytestmark = pytest.mark.acceptance

EXPECTED: dict[tuple[int, Value], set[str]] = {
    **{(1, depth): {"always"} for depth in (1, 2, 4)},
    (2, "nope"): {"some"}, (2, "learned"): {"nearly all"}, (2, "sinusoidal"): {"nearly all"},
    (3, 1): {"every"}, (3, 2): {"part", "every"}, (3, 4): {"part", "every"},
    **{(4, encoding): {"spread"} for encoding in ("rope", "t5_bias", "alibi", "shaw")},
    (5, 1): {"none"}, (5, 2): {"later"}, (5, 3): {"later"},
    (6, True): {"early", "late"}, (6, False): {"never"},
}  # fmt: skip
"""The answers that may be right, by step and value. The page knows nothing of them: it reads each from the run."""


def test_every_value_of_every_step_is_expected() -> None:
    assert EXPECTED.keys() == {(number, value) for number, step in enumerate(STEPS, 1) for value in step.values}


@pytest.mark.parametrize(("number", "value"), EXPECTED)
def test_a_step_shows_what_it_speaks_of_in_every_seed(number: int, value: Value) -> None:
    step = STEPS[number - 1]
    for seed in range(8):
        config = step.config(value, seed)
        events = EventLog(event for event in train(config) if not isinstance(event, Measuring))
        observed = step.question.observe(config, events)
        assert observed is not None
        assert observed.answer in EXPECTED[number, value], (seed, observed)
