"""The answer in a real browser: its marks open their stages in place, and nothing is wider than a phone."""

from __future__ import annotations

from typing import Any

import pytest

from engine.experiments.answer import ANSWER, statements
from engine.experiments.issues import ISSUES
from tests.browser.conftest import PHONE, Open, has_count
from tests.browser.test_axe import settled

TITLE = "The question, answered"


def links_of(page: Any, slug: str) -> Any:
    return page.locator(f'.st-key-answer a[href$="issue={slug}"]')


def test_a_mark_opens_its_stage_and_the_browser_leads_back(open_page: Open) -> None:
    page = open_page("answer", TITLE)
    for slug in ("no-encoding", "overlapping-windows", "data-hunger"):
        links_of(page, slug).first.click()
        page.get_by_role("heading", name=ISSUES[slug].title, exact=True).wait_for()
        assert f"issues?issue={slug}" in page.url
        assert len(page.context.pages) == 1
        page.go_back()
        page.get_by_role("heading", name=TITLE, exact=True).wait_for()


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 720}, PHONE], ids=["projector", "phone"])
def test_the_short_answer_is_in_sight_and_leads_to_each_section(open_page: Open, viewport: dict[str, int]) -> None:
    page = open_page("answer", TITLE, viewport)
    short = page.locator(".st-key-answer ul").first.get_by_role("listitem")
    has_count(short, len(ANSWER))
    last = ANSWER.index(next(section for section in reversed(ANSWER) if section.lead is not None))
    shown = short.last if viewport["width"] > 1000 else short.nth(last - 1)
    box = shown.bounding_box()
    assert box["y"] + box["height"] <= viewport["height"]
    page.get_by_role("link", name=ANSWER[2].heading, exact=True).click()
    heading = page.get_by_role("heading", name=ANSWER[2].heading, exact=True)
    page.wait_for_function("(node) => node.getBoundingClientRect().top < 200", arg=heading.element_handle())
    assert len(page.context.pages) == 1


def test_with_a_key_held_down_a_mark_stays_a_link(open_page: Open) -> None:
    page = open_page("answer", TITLE)
    with page.context.expect_page() as new:
        links_of(page, "heads").first.click(modifiers=["ControlOrMeta"])
    new.value.get_by_role("heading", name=ISSUES["heads"].title, exact=True).wait_for()
    assert new.value.url.endswith("/issues?issue=heads")
    assert page.get_by_role("heading", name=TITLE, exact=True).is_visible()


def test_a_mark_that_was_followed_before_the_page_listens_leads_there_all_the_same(open_page: Open) -> None:
    page = open_page("answer#issue=heads")
    page.get_by_role("heading", name=ISSUES["heads"].title, exact=True).wait_for()
    page.go_back()
    page.get_by_role("heading", name=TITLE, exact=True).wait_for()
    assert "#" not in page.url, "the way back leads to the page, and not on from it again"


def test_the_keyboard_opens_a_mark_in_place_at_the_first_moment(open_page: Open) -> None:
    page = open_page("answer")
    mark = links_of(page, "no-encoding").first
    mark.focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=ISSUES["no-encoding"].title, exact=True).wait_for()
    assert len(page.context.pages) == 1


def test_every_issue_has_a_mark_and_nothing_is_wider_than_a_phone(open_page: Open) -> None:
    page = open_page("answer", TITLE, PHONE)
    page.get_by_role("heading", level=2).last.wait_for()
    for slug in {told.issue for told in statements(ANSWER)}:
        links_of(page, slug).first.wait_for()
    wide = page.evaluate(
        """() => [document.querySelector('[data-testid=stMain]'), ...document.querySelectorAll('.st-key-answer *')]
          .filter((node) => node.getBoundingClientRect().right > window.innerWidth + 1
            || node.scrollWidth > Math.max(node.clientWidth, window.innerWidth))
          .map((node) => node.outerHTML.slice(0, 120))"""
    )
    assert wide == []


def test_a_line_has_at_most_some_75_characters(open_page: Open) -> None:
    page = open_page("answer", TITLE)
    page.get_by_role("heading", level=2).last.wait_for()
    # The page's own style comes a moment after its words.
    page.wait_for_function("() => document.querySelector('.st-key-answer').clientWidth < 700")
    across = page.evaluate(
        """(text) => {
          const paragraph = [...document.querySelectorAll('.st-key-answer p')].at(-1)
          const probe = Object.assign(document.createElement('span'), { innerText: text })
          probe.style = 'position: absolute; visibility: hidden; white-space: pre'
          paragraph.append(probe)
          const width = probe.getBoundingClientRect().width / text.length
          probe.remove()
          return paragraph.clientWidth / width
        }""",
        " ".join(told.text for told in statements(ANSWER)),
    )
    assert 55 < across <= 76


@pytest.mark.parametrize("path", ["answer", "memory-and-time"])
def test_four_tabs_leave_the_glossary_in_sight_on_a_phone(open_page: Open, path: str) -> None:
    page = open_page(path, "", PHONE)
    button = page.get_by_role("button", name="Glossary", exact=True)
    button.wait_for()
    settled(page)
    box = button.bounding_box()
    assert box["x"] + box["width"] <= PHONE["width"]
    links = page.get_by_role("navigation", name="What goes wrong").get_by_role("link")
    boxes = [link.bounding_box() for link in links.all()]
    assert all(one["x"] + one["width"] <= two["x"] + 1 for one, two in zip(boxes, [*boxes[1:], box], strict=True))
