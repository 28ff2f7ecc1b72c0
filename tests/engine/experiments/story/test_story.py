"""The story: its settings fit, and its words are few."""

import pytest

from engine.experiments.question import ANSWERS
from engine.experiments.run_readings import READINGS
from engine.experiments.story import STEPS
from engine.experiments.story.steps import StoryStep
from engine.settings.fields import to_text
from engine.tasks import TASKS

MOST_WORDS = 60


def test_there_are_six_about_one_task_and_each_has_a_title_and_a_question_of_its_own_and_the_sample_is_right() -> None:
    assert len({step.title for step in STEPS}) == len(STEPS) == 6
    assert len({step.reads for step in STEPS}) == len(STEPS)
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
    assert step.asks.endswith("?")
    assert len(set(step.answers)) == len(set(step.lessons)) == len(ANSWERS)
    assert [step.lesson_of(answer) for answer in ANSWERS] == list(step.lessons)
    assert not any(sign.isdigit() for lesson in step.lessons for sign in lesson), "a lesson is no measurement"
    assert len(step.pictures) in (0, len(ANSWERS))
    assert READINGS[step.reads].fits(first)
