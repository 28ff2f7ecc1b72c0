import re
from typing import Any

import pytest

from tests.browser.conftest import PHONE, WIDE, Open, button, figure, fits_the_width, more, settled, wait_for_plot
from tests.browser.test_axe import violations


def bands(page: Any, panel: str) -> int:
    return int(figure(page, panel).locator(".highlight:visible").count())


@pytest.mark.thorough
def test_the_picture_chooses_what_is_taken_apart_and_shows_what_is_chosen_there(open_page: Open) -> None:
    page = open_page("lab?n_layers=2&n_heads=2&d_model=16&steps=40", "Lab")
    button(page, "Train").click()
    page.locator(".board .badge").get_by_text("Finished").wait_for()
    symbols = page.locator("[data-reads]")
    symbols.nth(7).click()
    page.locator('.tile[data-name="head.1.0"]').click()
    page.get_by_role("dialog").get_by_role("button", name="Take it apart").click()
    page.get_by_text(re.compile(r"L2 H1: query 8 .* looks most at key")).wait_for()
    page.wait_for_url(re.compile(r"apart=steps&apart\.layer=2&apart\.head=1&apart\.position=8"))
    settled(page)
    assert page.locator(".st-key-lab-apart").first.bounding_box()["y"] < page.viewport_size["height"], "it is in sight"

    strips, pattern = (wait_for_plot(page, panel) for panel in ("strips", "pattern.one"))
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
    page.get_by_text(re.compile(r"L2 H1: query 4 .* looks most at key")).wait_for()
    page.wait_for_url(re.compile("position=4"))
    assert pattern.evaluate("(node) => node.marked"), "the same node, brought up to date"
    symbols.first.scroll_into_view_if_needed()  # the picture is drawn where it is seen
    page.locator("[data-reads='3'].pointed").wait_for()
    symbols.nth(5).click()
    page.get_by_text(re.compile(r"L2 H1: query 6 .* looks most at key")).wait_for()
    page.get_by_role("textbox", name="Your own sequence").fill("1 2 3 4 5 6")
    page.keyboard.press("Enter")
    page.get_by_text(re.compile(r"query 6 \(token 6\) looks most at key")).wait_for()

    page.reload()
    page.get_by_text(re.compile(r"L2 H1: query 6 \(token 6\) looks most at key")).wait_for()
    page.locator("[data-reads='5'].pointed").get_by_text("6").wait_for(state="attached")

    page.get_by_role("radio", name="Heads", exact=True).click()
    _, first = (wait_for_plot(page, panel) for panel in ("head.0.1", "head.0.0"))
    first.locator(".nsewdrag").hover()
    figure(page, "head.0.1").locator(".highlight:visible").first.wait_for()
    assert bands(page, "head.0.0") == bands(page, "head.0.1") == 2

    page.get_by_role("radio", name="Faults", exact=True).click()
    page.set_viewport_size(PHONE)
    wait_for_plot(page, "fault.pattern")
    fits_the_width(page)
    page.get_by_role("radio", name="Steps", exact=True).click()
    page.get_by_test_id("stDataFrame").scroll_into_view_if_needed()  # it is drawn where it is seen
    page.locator("[role=gridcell]").first.wait_for(state="attached")
    fits_the_width(page)

    # Axe, with all that is open, and with the list of all tasks.
    page.set_viewport_size(WIDE)
    more(page).get_by_role("button", name="Download", exact=True).wait_for()
    found = violations(page)
    page.get_by_role("button", name="All tasks").click()
    tasks = page.get_by_role("dialog", name="All tasks")
    tasks.get_by_role("heading", level=3).last.wait_for()
    assert found + violations(page) == []
