from dataclasses import replace
from urllib.parse import quote_plus

import pytest

from engine.config.presets import PRESETS
from engine.config.run_config import RunConfig, parse
from engine.experiments.evidence.shipped import shipped_reports
from engine.experiments.issues import COSTS, ISSUES, RENAMED
from engine.experiments.lessons import (
    LEARNS,
    LESSONS,
    MAX_SLIDE_LETTERS,
    MAX_STEPS,
    MAX_TITLE_LETTERS,
    PREPARED,
    TUTORIAL,
    Lesson,
    LessonStep,
    Slide,
    from_code,
    lab_step,
    teachers_question,
    teachers_words,
    to_code,
)
from engine.experiments.question import ANSWERS, Observed
from engine.experiments.run_readings import READINGS
from engine.settings.errors import ConfigError

MAX_WORDS = 60


def test_shipped_lessons_are_named_and_found_by_their_steps_and_each_issue_takes_a_third_of_its_minutes() -> None:
    for name, lesson in LESSONS.items():
        assert to_code(lesson) == name
        assert from_code(name) is lesson
        slugs = [step.guide.slug if step.guide else step.issue for step in lesson.steps]
        assert (
            from_code("~~".join(f"{slug}.{step.minutes}" for slug, step in zip(slugs, lesson.steps, strict=True))).steps
            == lesson.steps
        )
        for step in filter(lambda step: step.issue, lesson.steps):
            for found in shipped_reports(ISSUES[step.issue]):
                assert found.seconds * 8 / len(found.seeds) <= step.minutes * 60 / 3, "a class runs eight seeds"
    assert sorted(lesson.minutes for lesson in LESSONS.values()) == [10, 20, 30, 36, 50]


def test_the_lab_is_told_by_what_differs_from_the_defaults_and_named_by_its_preset() -> None:
    for preset in PRESETS.values():
        step = lab_step(5, preset.config)
        lesson = Lesson("", (step, LessonStep(7, "heads")))
        code = to_code(lesson)
        assert from_code(code).steps == lesson.steps
        assert quote_plus(code, safe=",") == code, "nothing in it is escaped in an address"
        assert len(step.settings) < len(preset.config.flat())
        assert step.title == f"Lab: {preset.title}"
    assert lab_step(3, RunConfig(n_layers=3)).title == "Lab: Depth 3"
    assert lab_step(3, RunConfig()).settings == ()


def test_own_words_come_back_from_a_link_as_far_as_they_are_allowed() -> None:
    slide = LessonStep(2, slide=Slide("1. Why?", "Line one.\nLine two: 3.5 ünïts."))
    for title in ("", "Tiefe & Breite, 2.5"):
        lesson = Lesson(title, (slide, LessonStep(7, "heads"), LessonStep(3, slide=Slide("Only a title"))))
        assert from_code(to_code(lesson)) == lesson
    assert teachers_words("  a ~~ b \n\n  c~ ", 80) == "a -- b\n\nc-"
    assert len(from_code(f"title~{'x' * 500}~~text~{'y' * 500}~{'z' * 5000}.5").title) == MAX_TITLE_LETTERS
    (long,) = from_code(f"text~{'y' * 500}~{'z' * 5000}.5").steps
    assert long.slide is not None
    assert (len(long.slide.title), len(long.slide.text)) == (MAX_TITLE_LETTERS, MAX_SLIDE_LETTERS)
    assert to_code(Lesson("Mine", LESSONS["depth"].steps)).startswith("title~Mine~~"), "an own title is kept"


def test_each_step_but_a_slide_asks_one_question_with_three_answers() -> None:
    issue, lab = LessonStep(5, "heads"), lab_step(5, RunConfig())
    assert issue.question is not None
    assert issue.question.words == ISSUES["heads"].key_figure.question
    assert lab.question is not None
    assert (lab.question.sample, lab.question.words) == (
        "3 1 4 → 4 1 3",
        "Write the sequence backwards. Will this model learn it?",
    )
    further = lab_step(5, parse({"task": "k_back", "k": 2})).question
    assert further is not None
    assert further.sample == "k = 2: 3 1 7 → · · 3"
    assert lab.question.answers == LEARNS
    assert LessonStep(5, slide=Slide("x")).question is None


def test_a_teachers_own_question_comes_back_from_a_link_and_a_reading_of_the_run_decides_it_or_on_a_slide_the_teacher() -> (
    None
):
    lab = lab_step(5, RunConfig(n_layers=3))
    question = replace(
        lab, teachers_question=teachers_question(lab, "Is 2.5 ~ enough?", ["No", "Half", "Yes"], "how-many-right")
    )
    slide = LessonStep(2, slide=Slide("Before we train", "Guess."))
    polled = replace(
        slide, teachers_question=teachers_question(slide, "How many weights?", ["10", "100", "1,000"], "1")
    )
    untold = replace(polled, slide=Slide("Before we train"))
    code = to_code(Lesson("", (question, polled, untold)))
    assert from_code(code).steps == (question, polled, untold)
    assert code.startswith(
        "lab~n_layers~3~ask~Is 2.5 - enough?~No~Half~Yes~how-many-right.5~~text~Before we train~Guess.~ask~"
    )
    assert question.question is not None
    assert (question.question.words, question.question.decided_by) == ("Is 2.5 - enough?", READINGS["how-many-right"])
    assert question.question.sample == lab.question.sample if lab.question else False
    assert polled.question is not None
    assert polled.question.decided_by == 1


def test_the_tutorial_has_six_steps_about_one_task_with_a_title_and_a_question_each_and_its_sample_is_right() -> None:
    guides = [step.guide for step in LESSONS[TUTORIAL].steps if step.guide]
    assert len({guide.title for guide in guides}) == len({guide.reads for guide in guides}) == len(guides) == 6
    configs = [step.config for step in LESSONS[TUTORIAL].steps]
    assert {config.task for config in configs} == {"reverse"}
    digits = [word.strip(".,:") for word in guides[0].text[0].split() if word.strip(".,:").isdigit()]
    length = configs[0].seq_len
    assert digits[:length] == digits[length:][::-1]


@pytest.mark.parametrize("slug", PREPARED)
def test_every_value_of_a_prepared_step_makes_a_run_of_it_that_differs_in_this_setting_alone_and_its_words_are_few(
    slug: str,
) -> None:
    step = PREPARED[slug]
    guide = step.guide
    assert guide is not None
    assert slug not in {*ISSUES, *RENAMED}
    assert len(set(guide.values)) == len(guide.values)
    assert 2 <= len(guide.values) <= 4
    assert step.config.value(guide.vary) in guide.values
    for value in guide.values:
        config = step.config.replace(**{guide.vary: value, "seed": 3})
        assert (config.value(guide.vary), config.seed) == (value, 3)
        assert step.covers(config)
        assert not step.covers(config.replace(steps=7))
        assert READINGS[guide.reads].fits(config)
    assert step.question is not None
    assert (step.question.words, step.question.sample) == (guide.asks, "3 1 4 → 4 1 3")
    assert len(step.question.pictures) in (0, len(ANSWERS))
    assert 2 <= len(guide.text) <= 3
    assert len(" ".join(guide.text).split()) <= MAX_WORDS
    assert guide.asks.endswith("?")
    assert len(set(guide.answers)) == len(set(guide.teaches)) == len(ANSWERS)
    assert [guide.taught_by(Observed((answer,), "")) for answer in ANSWERS] == list(guide.teaches)
    assert guide.taught_by(Observed((), "")) == ""
    assert not any(sign.isdigit() for lesson in guide.teaches for sign in lesson), "a lesson is no measurement"


def test_a_prepared_step_stands_in_any_lesson_by_its_name_with_minutes_of_its_own() -> None:
    code = "a-bag-of-symbols.9~~heads.5"
    (step, _) = from_code(code).steps
    assert step == replace(PREPARED["a-bag-of-symbols"], minutes=9)
    assert to_code(from_code(code)) == code


def test_a_lesson_with_an_earlier_slug_leads_on() -> None:
    for earlier, slug in RENAMED.items():
        assert from_code(f"{earlier}.8~~heads.5").steps == (LessonStep(8, slug), LessonStep(5, "heads"))
    for earlier in COSTS:
        counted, heads = from_code(f"{earlier}.8~~heads.5").steps
        assert (counted.minutes, heads) == (8, LessonStep(5, "heads"))
        assert counted.slide is not None
        assert "The page Cost" in counted.slide.text


def test_a_lesson_of_ten_stages_fits_a_small_qr_code() -> None:
    assert len(to_code(Lesson("", tuple(LessonStep(12, slug) for slug in list(ISSUES)[:10])))) < 240


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("", "lesson is empty"),
        ("zork.5", "lesson is zork; it must be lab, text with a title, or one of"),
        ("text.5", "lesson is text; it must be lab, text with a title"),
        ("text~ .5", "lesson is text"),
        ("text~a~b~c.5", "lesson is text"),
        ("title~Mine", "1 to 30 steps"),
        ("heads", "lesson is heads; it must be a step, a full stop and 1 to 90 minutes"),
        ("heads.0", "lesson is heads.0"),
        ("heads.91", "lesson is heads.91"),
        ("heads.٣", "1 to 90 minutes"),
        ("lab~n_layers~zork.5", "n_layers is zork"),
        ("lab~zork~1.5", "zork is not a setting here"),
        ("lab~ask~Why?~a~a~b~learned.5", "it must be a question with three different answers"),
        ("lab~ask~ ~a~b~c~learned.5", "it must be a question with three different answers"),
        ("lab~ask~Why?~a~b~c~zork.5", "lesson is zork; it must be one of learned"),
        ("lab~ask~Why?~a~b~c~heads-at-the-mirror.5", "lesson is heads-at-the-mirror; it must be one of learned"),
        ("text~Now~ask~Why?~a~b~c~learned.5", "lesson is learned; it must be one of -1, 0"),
        ("heads~ask~Why?~a~b~c~1.5", "lesson is heads"),
        ("~~".join(["heads.1"] * (MAX_STEPS + 1)), f"1 to {MAX_STEPS} steps"),
    ],
)
def test_what_is_no_lesson_is_named_in_a_sentence(code: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as raised:
        from_code(code)
    assert sentence in str(raised.value)
