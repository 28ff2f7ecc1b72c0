from typing import Any

import pytest

from engine.experiments.lessons import LESSONS, Lesson
from pages.parts.experiments.handouts import hand_out, teachers_sheet

LINK = "https://attention-lab.university.example/issues?issue=missing-skips&lesson=what-can-go-wrong&at=1"
PAPER = {"width": 688, "height": 1032}  # the room for words on a sheet of A4, in pixels


def on_paper(chromium: Any, document: str) -> tuple[int, bool]:
    """The number of sheets of a document, and True if its words fit their width."""
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
