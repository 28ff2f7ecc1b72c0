import re
from dataclasses import replace
from functools import partial

import pytest
from markupsafe import escape
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from engine.config.presets import PRESETS
from engine.config.run_config import RunConfig
from engine.estimate.matching import n_parameters
from engine.experiments.classroom import MAX_STUDENTS
from engine.experiments.evidence.shipped import shipped_claims, shipped_result
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.lessons import LESSONS, TUTORIAL, Lesson, LessonStep, Slide, from_code, lab_step
from engine.experiments.long_findings import shipped_long_finding
from engine.experiments.question import ANSWERS
from engine.foundation.visitor import Visitor
from engine.tasks import TASKS
from pages.parts.app.visitor import COOKIE, id_in
from pages.parts.experiments.handouts import (
    MAX_REPORTS,
    NAME,
    NOTHING_YET,
    USER_TEXT,
    Note,
    hand_out,
    report_html,
    student_report_of,
    teachers_sheet,
    write_down,
)
from tests.pages.looking import notes_of, press

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> $title {} & “quotes”"
NOTE = Note("Heads?", "How many?", "It falls", "Trained here: 8 seeds (0 to 7).", "It falls from 1 to 0.5.")


def test_whatever_a_reader_types_is_text_in_the_file() -> None:
    notes = [Note(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)]
    written = report_html(notes, {NAME: f"  {HOSTILE} ", USER_TEXT: HOSTILE})
    tags = set(re.findall(r"<(\w+)", written))
    assert tags == {"html", "meta", "title", "style", "h1", "h2", "p", "section", "b"}
    assert written.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 8
    assert "$title" in written
    assert "<title>Report Ada</title>" in report_html([], {NAME: " Ada "})


def test_the_file_needs_no_other() -> None:
    written = report_html([NOTE], {})
    assert not re.search(r"https?:|\bsrc=|\bhref=|url\(|@import|<script|<link", written)


def test_guess_run_and_result_stand_together_and_what_is_missing_is_said() -> None:
    rows = (
        NOTE,
        Note("Skips?", "Needed?", "No change"),
        Note("Mask?", "Why?", "", "Trained here: 2 seeds."),
        Note("Lab: Sort", run="x"),
    )
    written = report_html(rows, {})
    first, guessed, running, lab = written.split("<section>")[1:]
    assert all(words in first for words in (NOTE.question, NOTE.guess, NOTE.run, NOTE.finding))
    assert "nothing yet" in guessed
    assert "Found" not in guessed
    assert "no guess before the result" in running
    assert "had not ended" in running
    assert "Guessed" not in lab


def noting() -> None:
    from pages.parts.experiments.handouts import Note, write_down

    write_down("one", Note("A", "Q", "first", "run 1", "result 1"))
    write_down("two", Note("B", "Q", "only a guess"))
    write_down("one", Note("A", "Q", "second", "run 2"))
    write_down("one", Note("A", "Q", "third", "run 3", "result 3"))
    write_down("two", Note("B", "Q", "another guess", "run", "result"))


def test_the_guess_is_the_one_that_stood_before_the_first_result() -> None:
    app = AppTest.from_function(noting, default_timeout=300).run()
    notes = notes_of(app)
    assert list(notes) == ["one", "two"]
    assert (notes["one"].guess, notes["one"].run, notes["one"].finding) == ("first", "run 3", "result 3")
    assert (notes["two"].guess, notes["two"].finding) == ("another guess", "result")


def noting_again() -> None:
    from pages.parts.experiments.handouts import Note, write_down

    write_down("two", Note("B", "Q", "another guess", "run", "result"))


def offering() -> None:
    from pages.parts.experiments.handouts import offer_report

    offer_report()


def test_nothing_is_offered_before_anything_was_done_and_what_was_done_survives_a_reload(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda self: {COOKIE: "h" * 43}))
    app = AppTest.from_function(offering, default_timeout=300).run()
    assert app.caption[0].value == NOTHING_YET
    assert not app.get("download_button")
    AppTest.from_function(noting, default_timeout=300).run()
    app.run()
    assert len(app.get("download_button")) == 1
    app.text_input[0].set_value("Ada").run()
    again = AppTest.from_function(offering, default_timeout=300).run()
    assert again.text_input[0].value == "Ada"
    record = student_report_of(id_in({COOKIE: "h" * 43}) or "")
    assert (list(record.notes), record.words) == (["one", "two"], {NAME: "Ada"})
    press(again, "Start over")
    assert again.caption[0].value == NOTHING_YET
    AppTest.from_function(noting_again, default_timeout=300).run()
    assert not student_report_of(id_in({COOKIE: "h" * 43}) or "").notes, (
        "a page that still shows what an earlier reader did"
    )
    assert not app.run().text_input


def test_every_student_of_a_full_class_keeps_its_report_whatever_comes_from_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def write(name: str, address: str) -> None:
        monkeypatch.setattr("pages.parts.experiments.handouts.visitor", partial(Visitor, name, address))
        write_down("one", NOTE)

    students = [f"student {number}" for number in range(MAX_STUDENTS)]
    for name in students:
        write(name, "10.0.0.1")
    for number in range(2 * MAX_REPORTS):
        write(f"cookie {number}", f"2001:db8:0:{number % 256:x}::/64")
    assert all(student_report_of(name).notes for name in students)
    monkeypatch.setattr("pages.parts.experiments.handouts.is_present", lambda name: name == students[0])
    write("one more", "10.0.0.1")
    assert [bool(student_report_of(name).notes) for name in (*students[:3], "one more")] == [True, False, True, True]


def test_the_reports_of_those_who_wrote_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for writer in ["first", *map(str, range(MAX_REPORTS - 1)), "first", "new"]:
        monkeypatch.setattr("pages.parts.experiments.handouts.visitor", partial(Visitor, writer))
        write_down("one", NOTE)
    assert [bool(student_report_of(name).notes) for name in ("first", "0", "1", "new")] == [True, False, True, True]


LINK = "https://lab.example/issues?issue=heads&lesson=depth"


def sections(document: str) -> list[str]:
    return document.split("<section>")[1:]


def right(section: str) -> list[str]:
    return re.findall(r"<li class=right>(.*?)</li>", section)


OF_ISSUES = {name: lesson for name, lesson in LESSONS.items() if all(step.issue for step in lesson.steps)}


@pytest.mark.parametrize("lesson", OF_ISSUES.values(), ids=OF_ISSUES)
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
        assert escape(found.finding.sentence) in section
        assert found.report.seeds_in_words in section
        allowed = (found.finding.answer, found.finding.also_right)
        assert right(section) == [escape(figure.answers[ANSWERS.index(one)]) for one in ANSWERS if one in allowed]
        findings = {one.claim.sentence: one.finding for one in shipped_claims(issue)}
        finding_by_sentence = {
            words: finding for words, finding in findings.items() if f"<li>{escape(words)} " in section
        }
        assert len(finding_by_sentence) == min(3, len(findings) - 1)
        assert all(finding.words in section for finding in finding_by_sentence.values())


def test_a_sheet_says_whether_it_is_a_limit_or_a_matter_of_speed(long_runs_of_mask: Issue) -> None:
    speed = shipped_long_finding(long_runs_of_mask)
    assert speed is not None
    of_mask = [
        (step.issue == long_runs_of_mask.slug, section)
        for lesson in OF_ISSUES.values()
        for step, section in zip(lesson.steps, sections(teachers_sheet(lesson)), strict=True)
    ]
    assert {asked for asked, _ in of_mask} == {True, False}
    assert all((escape(speed.sentence) in section) == asked for asked, section in of_mask)


@pytest.mark.parametrize("lesson", OF_ISSUES.values(), ids=OF_ISSUES)
def test_a_hand_out_asks_on_its_first_page_and_tells_on_its_second(lesson: Lesson) -> None:
    before, after = hand_out(lesson, LINK).split('<div class="page dense">')[1:]
    for step in lesson.steps:
        figure = ISSUES[step.issue].key_figure
        found = shipped_result(ISSUES[step.issue], figure)
        assert found is not None
        assert escape(figure.question) in before
        for result in (found.finding.sentence, figure.remedy):
            assert escape(result) not in before
            assert escape(result) in after
    assert not right(before)
    assert before.count("<svg") == 1
    assert escape(LINK) in before
    assert "<svg" not in hand_out(lesson, "")


def test_a_prepared_step_has_its_words_and_its_question_on_both_papers_and_no_result() -> None:
    lesson = LESSONS[TUTORIAL]
    sheet, (before, _) = teachers_sheet(lesson), hand_out(lesson, LINK).split('<div class="page dense">')[1:]
    for step, section in zip(lesson.steps, sections(sheet), strict=True):
        assert step.guide is not None
        for words in (step.guide.title, *step.guide.text, step.guide.asks, *step.guide.answers):
            assert escape(words) in section
        assert escape(step.guide.asks) in before
        assert not right(section)


def test_a_lesson_of_ones_own_has_its_lab_steps_and_no_result_that_was_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unmeasured = replace(ISSUES["heads"], slug="never-measured", title="<b>Heads</b> & more")
    monkeypatch.setitem(ISSUES, "heads", unmeasured)
    lesson = Lesson("Mine", (lab_step(5, RunConfig(task="sort")), LessonStep(7, "heads")))
    lab, issue = sections(teachers_sheet(lesson))
    assert escape(TASKS["sort"].summary) in lab
    assert f"Task {TASKS['sort'].label}, {n_parameters(RunConfig(task='sort')):,} parameters, 300 steps." in lab
    assert "Train this model before the class" in lab
    assert "Not measured" in issue
    assert not right(lab + issue)
    assert "&lt;b&gt;Heads&lt;/b&gt; &amp; more" in issue
    assert "<b>Heads" not in issue
    assert hand_out(lesson, "").count("Our run") == 2


def test_a_prepared_lab_step_says_what_to_look_at_and_what_to_expect() -> None:
    for preset in PRESETS.values():
        (lab,) = sections(teachers_sheet(Lesson("Mine", (lab_step(5, preset.config),))))
        assert escape(preset.look_at) in lab
        assert f"We expect that the model {preset.expects}." in lab


def test_the_reason_stands_on_the_sheet_and_after_the_answer_on_the_hand_out_where_the_claim_holds() -> None:
    given = 0
    for lesson in OF_ISSUES.values():
        before, after = hand_out(lesson, "").split('<div class="page dense">')[1:]
        for step, section, section_after in zip(
            lesson.steps, sections(teachers_sheet(lesson)), sections(after), strict=True
        ):
            found = shipped_result(ISSUES[step.issue], ISSUES[step.issue].key_figure)
            assert found is not None
            reason = escape(found.finding.because)
            assert ("<b>Because</b>" in section, "<b>Because</b>" in section_after) == (bool(reason), bool(reason))
            assert f"<b>Because</b> {reason} " in section or not reason
            assert f"<b>Because</b> {reason} " in section_after or not reason
            assert str(reason) not in before or not reason
            given += bool(reason)
    assert given > 5


def test_a_slide_is_told_and_asks_nothing() -> None:
    lesson = Lesson("", (LessonStep(1, slide=Slide("Welcome", "<b>Depth</b>")), lab_step(3, RunConfig())))
    slide, lab = sections(teachers_sheet(lesson))
    assert "Welcome" in slide
    assert escape("<b>Depth</b>") in slide
    assert "Ask." not in slide
    assert "Ask." in lab
    assert all("Welcome" in page for page in hand_out(lesson, LINK).split('<div class="page dense">')[1:])


def test_a_sheet_asks_a_teachers_own_question_and_marks_the_answer_that_the_teacher_gave_on_a_slide() -> None:
    lesson = from_code("text~Now~ask~Who?~Ann~Bob~Cy~0.2~~lab~ask~Enough?~Little~Half~All~learned.5")
    slide, lab = sections(teachers_sheet(lesson))
    assert ("Who?" in slide, right(slide)) == (True, ["Bob"])
    assert ("Enough?" in lab, right(lab)) == (True, [])
    before, _ = hand_out(lesson, LINK).split('<div class="page dense">')[1:]
    assert ("Who?" in before, right(before)) == (True, [])
