"""A design in a real browser: change its parts, see it, let it compete, come back by the link, read it on a phone."""

from __future__ import annotations

import re
from typing import Any

from tests.browser.conftest import PHONE, Open, no_wider_than_the_window


def plot(page: Any, panel: str) -> Any:
    return page.locator(f'article[data-id="{panel}"] .plot')


def choose(page: Any, label: str, option: str) -> None:
    page.get_by_role("combobox", name=re.compile(label)).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_from_parts_to_a_verdict_and_back_by_the_link(open_page: Open, app: str) -> None:
    page: Any = open_page("design?against=nope&tasks=permutation&seeds=1", "Design")
    plot(page, "similarity.own").locator(".main-svg").first.wait_for()
    plot(page, "similarity.own").evaluate("(plot) => { plot.marked = true }")
    choose(page, "Features", "Table, a row for each")
    page.get_by_text(
        "A table with a row for each position, read out by a linear map, added to the embedding."
    ).first.wait_for()
    page.get_by_text("A table ends at the trained length, 16.").wait_for()
    assert plot(page, "similarity.own").evaluate("(plot) => plot.marked"), "the same node"
    page.get_by_text("class MyEncoding").first.wait_for()
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url(re.compile("design_features=table.*experiment="))
    page.locator(".badge").get_by_text("Finished").wait_for()
    page.get_by_role("button", name="Evidence (JSON)").wait_for()
    verdicts = page.locator('section[data-id="claims"] .chip').all_inner_texts()
    assert len(verdicts) == 2
    assert {verdict.lstrip("✓⇄=? ") for verdict in verdicts} == {"Undecided (needs at least six seeds)"}

    page.set_viewport_size(PHONE)
    page.goto(page.url)
    page.locator(".badge").get_by_text("Finished").wait_for()
    page.get_by_text("A table with a row for each position").first.wait_for()
    no_wider_than_the_window(page)
