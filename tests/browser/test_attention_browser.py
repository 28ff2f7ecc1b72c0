"""The attention page in a real browser: keyboard and linked pictures, at one visit."""

import re
from typing import Any

import pytest

from tests.browser.conftest import PHONE, Open, drawn, expect, figure, fits_the_width


def bands(page: Any, panel: str) -> int:
    return int(figure(page, panel).locator(".band:visible").count())


@pytest.mark.thorough
def test_keys_move_the_query_pictures_are_linked_and_a_phone_holds_it(open_page: Open) -> None:
    page = open_page("attention", "Attention")
    page.get_by_text(re.compile(r"Query 8 .* looks most at key")).wait_for()
    strips, pattern = (drawn(page, panel) for panel in ("strips", "pattern.one"))
    pattern.evaluate("(node) => { node.marked = true }")
    pattern.focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert bands(page, "pattern.one") == 2
    assert bands(page, "strips") == 1, "the key, without a query"
    strips.focus()
    page.keyboard.press("ArrowRight")
    assert bands(page, "pattern.one") == 1, "a bar has a key and no query"
    pattern.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.get_by_text(re.compile(r"Query 4 .* looks most at key")).wait_for()
    expect(page.get_by_role("spinbutton", name="Query")).to_have_value("4")
    assert pattern.evaluate("(node) => node.marked"), "the same node, brought up to date"
    page.wait_for_url(re.compile("position=4"))

    page.get_by_role("radio", name="Heads").click()
    _, first = (drawn(page, panel) for panel in ("head.0.1", "head.0.0"))
    first.locator(".nsewdrag").hover()
    figure(page, "head.0.1").locator(".band:visible").first.wait_for()
    assert bands(page, "head.0.0") == bands(page, "head.0.1") == 2

    page.get_by_role("radio", name="Faults").click()
    page.set_viewport_size(PHONE)
    drawn(page, "fault.pattern")
    fits_the_width(page)
    page.get_by_role("radio", name="Steps").click()
    page.get_by_test_id("stDataFrame").scroll_into_view_if_needed()  # it is drawn where it is seen
    page.locator("[role=gridcell]").first.wait_for(state="attached")
    fits_the_width(page)
