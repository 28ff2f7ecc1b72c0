"""The teacher's sheet and the hand-out of a lesson: made from its issues and from the evidence, and nothing else."""

import re
from dataclasses import replace

import pytest
from markupsafe import escape

from engine.config.presets import PRESETS
from engine.config.run_config import RunConfig
from engine.estimate.matching import n_parameters
from engine.experiments.evidence.shipped import shipped_claims, shipped_result
from engine.experiments.issues import ISSUES
from engine.experiments.lessons import LESSONS, Lesson, LessonStep, Slide, from_code, lab_step
from engine.experiments.question import ANSWERS
from engine.tasks import TASKS
from pages.parts.stage.handouts import hand_out, teachers_sheet

LINK = "https://lab.example/issues?issue=heads&lesson=depth"


def sections(document: str) -> list[str]:
    return document.split("<section>")[1:]


def right(section: str) -> list[str]:
    return re.findall(r"<li class=right>(.*?)</li>", section)


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
def test_a_sheet_has_goal_minutes_what_to_say_the_answers_and_what_comes_out(lesson: Lesson) -> None:
    sheet = teachers_sheet(lesson)
    assert lesson.goal
    assert escape(lesson.goal) in sheet
    assert f"{lesson.minutes} minutes" in sheet
    assert len(sections(sheet)) == len(lesson.steps)
    for step, section in zip(lesson.steps, sections(sheet), strict=True):
        issue = ISSUES[step.issue]
        figure = issue.key_figure
        for words in (issue.title, issue.summary, figure.sample, figure.question, figure.remedy, *figure.answers):
            assert escape(words) in section
        assert f"{step.minutes} minutes" in section
        found = shipped_result(issue, figure)
        assert found is not None
        assert escape(found.outcome.sentence) in section
        assert found.report.seeds_in_words in section
        allowed = (found.outcome.answer, found.outcome.also_right)
        assert right(section) == [escape(figure.answers[ANSWERS.index(one)]) for one in ANSWERS if one in allowed]
        findings = {one.claim.sentence: one.finding for one in shipped_claims(issue)}
        told = {words: finding for words, finding in findings.items() if f"<li>{escape(words)} " in section}
        assert len(told) == min(3, len(findings) - 1)
        assert all(finding.words in section for finding in told.values())


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
def test_a_hand_out_asks_on_its_first_page_and_tells_on_its_second(lesson: Lesson) -> None:
    before, after = hand_out(lesson, LINK).split('<div class="page dense">')[1:]
    for step in lesson.steps:
        figure = ISSUES[step.issue].key_figure
        found = shipped_result(ISSUES[step.issue], figure)
        assert found is not None
        assert escape(figure.question) in before
        for result in (found.outcome.sentence, figure.remedy):
            assert escape(result) not in before
            assert escape(result) in after
    assert not right(before)
    assert before.count("<svg") == 1
    assert escape(LINK) in before
    assert "<svg" not in hand_out(lesson, "")


def test_a_lesson_of_ones_own_has_its_lab_steps_and_no_result_that_was_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unmeasured = replace(ISSUES["heads"], slug="never-measured", title="<b>Heads</b> & more")
    monkeypatch.setitem(ISSUES, "heads", unmeasured)
    lesson = Lesson("Mine", (lab_step(5, RunConfig(task="sort")), LessonStep(7, "heads")))
    lab, issue = sections(teachers_sheet(lesson))
    assert escape(TASKS["sort"].summary) in lab
    assert f"Task {TASKS['sort'].label}, {n_parameters(RunConfig(task='sort')):,} parameters, 300 steps." in lab
    assert "Train it in the lab before the class" in lab
    assert "not measured" in issue
    assert not right(lab + issue)
    assert "&lt;b&gt;Heads&lt;/b&gt; &amp; more" in issue
    assert "<b>Heads" not in issue
    assert hand_out(lesson, "").count("Our run") == 2


def test_a_prepared_lab_step_says_what_to_look_at_and_what_to_expect() -> None:
    for preset in PRESETS.values():
        (lab,) = sections(teachers_sheet(Lesson("Mine", (lab_step(5, preset.config),))))
        assert escape(preset.look_at) in lab
        assert f"We expect that it {preset.expects}." in lab


def test_the_reason_stands_on_the_sheet_and_after_the_answer_on_the_hand_out_where_the_claim_holds() -> None:
    given = 0
    for lesson in LESSONS.values():
        before, after = hand_out(lesson, "").split('<div class="page dense">')[1:]
        for step, told, kept in zip(lesson.steps, sections(teachers_sheet(lesson)), sections(after), strict=True):
            found = shipped_result(ISSUES[step.issue], ISSUES[step.issue].key_figure)
            assert found is not None
            reason = escape(found.outcome.because)
            assert ("<b>Because</b>" in told, "<b>Because</b>" in kept) == (bool(reason), bool(reason))
            assert f"<b>Because</b> {reason} " in told or not reason
            assert f"<b>Because</b> {reason} " in kept or not reason
            assert str(reason) not in before or not reason
            given += bool(reason)
    assert given > 5


def test_a_slide_is_told_and_asks_nothing() -> None:
    lesson = Lesson("", (LessonStep(1, slide=Slide("Welcome", "<b>Depth</b>")), lab_step(3, RunConfig())))
    told, lab = sections(teachers_sheet(lesson))
    assert "Welcome" in told
    assert escape("<b>Depth</b>") in told
    assert "Ask." not in told
    assert "Ask." in lab
    assert all("Welcome" in page for page in hand_out(lesson, LINK).split('<div class="page dense">')[1:])


def test_a_sheet_asks_a_teachers_own_question_and_marks_the_answer_that_the_teacher_gave_on_a_slide() -> None:
    lesson = from_code("text~Now~ask~Who?~Ann~Bob~Cy~0.2~~lab~ask~Enough?~Little~Half~All~learned.5")
    slide, lab = sections(teachers_sheet(lesson))
    assert ("Who?" in slide, right(slide)) == (True, ["Bob"])
    assert ("Enough?" in lab, right(lab)) == (True, [])
    before, _ = hand_out(lesson, LINK).split('<div class="page dense">')[1:]
    assert ("Who?" in before, right(before)) == (True, [])
