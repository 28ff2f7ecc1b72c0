"""The steps of the story as data: their settings fit, and their words are few."""

from __future__ import annotations

import pytest

from engine.experiments.story import STEPS
from engine.experiments.story.step import Step
from engine.settings.fields import to_text
from engine.tasks import TASKS

MOST_WORDS = 60
BY_TITLE = pytest.mark.parametrize("step", STEPS, ids=lambda step: step.title)


def test_there_are_six_about_one_task_and_each_has_its_own_title() -> None:
    assert len({step.title for step in STEPS}) == len(STEPS) == 6
    assert {step.config(step.first).task for step in STEPS} == {"reverse"}


@BY_TITLE
def test_every_allowed_value_has_its_label_and_makes_a_run_that_differs_in_this_setting_alone(step: Step) -> None:
    assert 2 <= len(step.values) <= 4
    assert len(set(step.values)) == len(step.values)
    assert step.first in step.values
    first = step.config(step.first)
    for value in step.values:
        config = step.config(value, seed=3)
        assert config.value(step.setting) == value
        assert config.seed == 3
        assert config == first.replace(**{step.setting: value, "seed": 3})
    assert step.setting not in step.base
    assert "seed" not in step.base
    assert step.row.name == step.setting
    assert step.choices == {to_text(value): value for value in step.values}
    labels = [step.label_of(value) for value in step.values]
    assert all(labels)
    assert len(set(labels)) == len(labels)


@BY_TITLE
def test_a_step_is_short_and_asks_one_question_with_two_or_three_answers(step: Step) -> None:
    assert 2 <= len(step.sentences) <= 3
    assert len(" ".join(step.sentences).split()) <= MOST_WORDS
    assert step.question.text.endswith("?")
    assert 2 <= len(step.question.answers) <= 3
    assert len(set(step.question.answers.values())) == len(step.question.answers)


def test_the_sample_in_the_first_step_is_right() -> None:
    digits = [word.strip(".,:") for word in STEPS[0].sentences[0].split() if word.strip(".,:").isdigit()]
    length = STEPS[0].config(STEPS[0].first).seq_len
    assert digits[:length] == digits[length:][::-1]
    assert TASKS["reverse"].order_matters
