"""The bar, the tabs and the glossary's drawer in a real browser, with mouse, keyboard and on a phone."""

from __future__ import annotations

import re
from typing import Any

from engine.foundation.glossary import TERMS
from pages.parts.app.places import PLACES
from tests.browser.conftest import PHONE, Open

MOST_HEIGHT = 40
"""Pixels that the row of tabs may take."""

PAINTED = """expected => {
  const links = [...document.querySelectorAll('[data-testid=stTopNavLink]')];
  const painted = links.map(link => !['transparent', 'rgba(0, 0, 0, 0)'].includes(getComputedStyle(link).backgroundColor));
  return JSON.stringify(painted) === JSON.stringify(expected);
}"""
"""JavaScript: whether exactly the expected entries of the bar have a background, one truth value for each entry."""


def tabs(page: Any) -> Any:
    return page.get_by_role("navigation", name="Lab")


def test_the_bar_has_the_places_and_marks_the_one_of_any_view(open_page: Open) -> None:
    page = open_page("attention", "Attention")
    tabs(page).wait_for()
    links = page.get_by_test_id("stTopNavLink")
    assert [link.strip() for link in links.locator("span[label]").all_inner_texts()] == [
        place.title for place in PLACES
    ]
    # The color fades in, and the element with its rule comes after the tabs: both are waited for.
    page.wait_for_function(PAINTED, arg=[False, True, False, False, False])
    assert tabs(page).locator("[aria-current=page]").all_inner_texts() == ["Attention"]


def test_tabs_are_links_for_mouse_and_keyboard_and_low_on_a_phone(open_page: Open) -> None:
    page = open_page("attention", "Attention", PHONE)
    tabs(page).get_by_role("link", name="Text").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Text", exact=True).wait_for()
    assert re.search(r"/text(\?|$)", page.url)
    page.wait_for_function("() => document.querySelector('.st-key-frame [aria-current]').innerText === 'Text'")
    box = tabs(page).bounding_box()
    assert box["height"] <= MOST_HEIGHT
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= PHONE["width"]


def test_the_sign_of_a_figure_opens_its_term_in_place(open_page: Open) -> None:
    page = open_page("lab")
    sign = page.get_by_role("link", name="What this means: Loss")
    sign.click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_text(TERMS["loss"].name, exact=True).first.wait_for()
    assert "/lab" in page.url
    drawer.get_by_role("textbox", name="Search").fill("copies the answer")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll(\"[role=dialog] [class*='st-key-term-']\").length === 1")
    page.keyboard.press("Escape")
    drawer.wait_for(state="detached")
    with page.context.expect_page() as new:
        sign.click(modifiers=["ControlOrMeta"])
    assert "glossary?term=" in new.value.url, "with a key held down it stays a link"
