"""The answer in a real browser: its marks open their issues in place, and nothing is wider than a phone."""

from typing import Any

import pytest

from engine.experiments.answer import ANSWER
from engine.experiments.issues import ISSUES
from tests.browser.conftest import PHONE, PROJECTOR, Open, expect, fits_the_width, in_view, settled

TITLE = "The question, answered"


def links_of(page: Any, slug: str) -> Any:
    return page.locator(f'.st-key-answer a[href$="issue={slug}"]')


def arrives(page: Any, title: str) -> None:
    page.get_by_role("heading", name=title, exact=True).wait_for()


def short_answer_is_in_sight_and_leads_on(page: Any) -> None:
    settled(page)  # a page that arrives goes to its top
    in_view(*(page.get_by_role("link", name=section.short, exact=True) for section in ANSWER))
    page.get_by_role("link", name=ANSWER[2].short, exact=True).click()
    heading = page.get_by_role("heading", name=ANSWER[2].heading, exact=True)
    page.wait_for_function("(node) => node.getBoundingClientRect().top < 200", arg=heading.element_handle())
    assert len(page.context.pages) == 1


@pytest.mark.thorough
def test_marks_open_their_stages_in_place_by_mouse_and_keyboard_and_the_browser_leads_back(open_page: Open) -> None:
    page = open_page("answer", "", PROJECTOR)
    links_of(page, "no-encoding").first.focus()
    page.keyboard.press("Enter")  # at the first moment, when the page does not listen yet
    arrives(page, ISSUES["no-encoding"].title)
    assert len(page.context.pages) == 1
    page.go_back()
    arrives(page, TITLE)

    page.get_by_role("heading", level=2).last.wait_for()
    short_answer_is_in_sight_and_leads_on(page)
    expect(links_of(page, "heads").first).to_be_hidden()
    page.get_by_text("more findings").nth(3).click()
    links_of(page, "heads").first.wait_for()

    links_of(page, "data-hunger").first.click()
    arrives(page, ISSUES["data-hunger"].title)
    assert "questions?issue=data-hunger" in page.url
    assert len(page.context.pages) == 1
    page.go_back()
    arrives(page, TITLE)

    with page.context.expect_page() as new:
        links_of(page, "missing-skips").first.click(modifiers=["ControlOrMeta"])
    new.value.wait_for_url("**/issues?issue=missing-skips")
    assert page.get_by_role("heading", name=TITLE, exact=True).is_visible(), "with a key held down a mark stays a link"


@pytest.mark.thorough
def test_on_a_phone_a_mark_followed_early_leads_on_and_nothing_is_wider(open_page: Open) -> None:
    page = open_page("answer#issue=heads", "", PHONE)  # so a mark is followed before the page listens
    arrives(page, ISSUES["heads"].title)
    page.go_back()
    arrives(page, TITLE)
    assert "#" not in page.url, "the way back leads to the page, and not on from it again"
    page.get_by_role("heading", level=2).last.wait_for()
    expect(page.get_by_role("link", name="Run the experiment")).to_have_count(len(ANSWER))
    fits_the_width(page)
    short_answer_is_in_sight_and_leads_on(page)
