"""Presents the lessons with the keys of a remote, every run really trained. A quarter of an hour."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from engine.experiments.issues import ISSUES
from engine.experiments.lessons import LESSONS
from pages.parts.experiments.presenting import LAB_PHASES, PHASES
from tests.browser.conftest import PROJECTOR, console_watched
from tests.serving import start_server

pytestmark = pytest.mark.acceptance
TIMEOUT = 600_000  # for one experiment on a busy machine
# The picture is measured again when what is above it has its height.
FITS = "most => document.querySelector('[data-testid=stMain]').scrollHeight <= most"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with start_server("app.py", tmp_path_factory.mktemp("lessons")) as (_, address):
        yield address


@pytest.mark.parametrize(("name", "theme"), [(name, theme) for name in LESSONS for theme in ("light", "dark")])
def test_a_lesson_is_played_and_fits_a_projector(chromium: Any, address: str, name: str, theme: str) -> None:
    """A lesson trained in the light theme is not trained again in the dark one."""
    lesson = LESSONS[name]
    with console_watched(chromium) as new_page:
        page = new_page(viewport=PROJECTOR, color_scheme=theme)
        first = {**lesson.steps[0].query, "lesson": name, "at": "1", "present": "true"}
        page.goto(f"{address}{'questions' if lesson.steps[0].issue else 'lab'}?{urlencode(first)}")
        for index, step in enumerate(lesson.steps):
            question, figure = step.question, ISSUES[step.issue].key_figure if step.issue else None
            assert question is not None
            page.get_by_role("heading", name=question.words, exact=True).wait_for()
            page.locator(".lesson-clock").get_by_text(f"{index + 1} of {len(lesson.steps)}").wait_for()
            sentence = page.locator('article[data-id="key.figure"] .words' if figure else ".st-key-lab-taught h3")
            for phase in PHASES if figure else LAB_PHASES:
                if phase == "guess":
                    page.get_by_role("radio", name=question.answers[1], exact=True).wait_for()
                if phase == "run" and not figure:  # a question shows its stored answer
                    page.locator(".badge").get_by_text("Finished").wait_for(timeout=TIMEOUT)
                if phase in ("run", "figure", "picture"):
                    assert not "".join(sentence.all_inner_texts()).strip(), "the sentence waits for its phase"
                if phase == "sentence":
                    words = [figure.change] if figure else step.guide.teaches if step.guide else []
                    sentence.get_by_text(re.compile("|".join(map(re.escape, words)))).wait_for()
                if figure and phase == "remedy":
                    page.get_by_text(figure.remedy).wait_for()
                page.wait_for_timeout(400)
                page.wait_for_function(FITS, arg=PROJECTOR["height"] + 1)
                page.keyboard.press("PageDown")
        page.keyboard.press("Escape")
        page.locator(".lesson-clock").wait_for(state="detached")
