"""What a teacher prints, as a browser lays it out on paper, and what a student hands in, as a file."""

from pathlib import Path
from typing import Any

import pytest

from engine.experiments.lessons import LESSONS, Lesson
from pages.parts.stage.hand_in import NAME, OWN, Note, hand_in
from pages.parts.stage.sheet import hand_out, teachers_sheet

LINK = "https://attention-lab.university.example/issues?issue=missing-skips&lesson=what-can-go-wrong&at=1"
PAPER = {"width": 688, "height": 1032}
"""The room for words on a sheet of A4, in pixels."""


def on_paper(chromium: Any, document: str) -> tuple[int, bool]:
    """How many sheets a document takes, and whether its words fit their width."""
    page = chromium.new_page(viewport=PAPER)
    page.emulate_media(media="print")
    page.set_content(document)
    fits = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    printed = page.pdf(prefer_css_page_size=True)
    page.close()
    return printed.count(b"/Type /Page") - printed.count(b"/Type /Pages"), fits


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
def test_a_hand_out_takes_two_sheets_of_paper_and_the_teacher_s_own_a_few(chromium: Any, lesson: Lesson) -> None:
    assert on_paper(chromium, hand_out(lesson, LINK)) == (2, True)
    sheets, fits = on_paper(chromium, teachers_sheet(lesson))
    assert fits
    assert 1 <= sheets <= len(lesson.steps)


def test_a_hand_in_opens_as_a_file_asks_for_nothing_and_runs_nothing_that_was_typed(
    chromium: Any, tmp_path: Path
) -> None:
    typed = "<script>document.title = 'run'</script><img src=//elsewhere.example/x onerror=\"document.title = 'run'\">"
    file = tmp_path / "hand-in.html"
    file.write_text(hand_in([Note(typed, typed, typed, typed, typed)], {NAME: "Ada", OWN: typed}), "utf-8")
    page, asked = chromium.new_page(), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri(), wait_until="networkidle")
    assert asked == [file.as_uri()]
    assert page.title() == "Hand-in Ada"
    assert page.inner_text("body").count(typed) == 6
    page.close()
