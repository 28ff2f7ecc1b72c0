"""What a teacher prints, as a browser lays it out on paper."""

from collections.abc import Iterator
from typing import Any

import pytest

from engine.experiments.lessons import LESSONS, Lesson
from pages.parts.experiments.handouts import hand_out, teachers_sheet

LINK = "https://attention-lab.university.example/issues?issue=missing-skips&lesson=what-can-go-wrong&at=1"
PAPER = {"width": 688, "height": 1032}
"""The room for words on a sheet of A4, in pixels."""


@pytest.fixture(scope="module")
def page(chromium: Any) -> Iterator[Any]:
    page = chromium.new_page(viewport=PAPER)
    page.emulate_media(media="print")
    yield page
    page.close()


def on_paper(page: Any, document: str) -> tuple[int, bool]:
    """How many sheets a document takes, and whether its words fit their width."""
    page.set_content(document)
    fits = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    printed = page.pdf(prefer_css_page_size=True)
    return printed.count(b"/Type /Page") - printed.count(b"/Type /Pages"), fits


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
def test_a_hand_out_takes_two_sheets_of_paper_and_the_teacher_s_own_a_few(page: Any, lesson: Lesson) -> None:
    assert on_paper(page, hand_out(lesson, LINK)) == (2, True)
    sheets, fits = on_paper(page, teachers_sheet(lesson))
    assert fits
    assert 1 <= sheets <= len(lesson.steps)
