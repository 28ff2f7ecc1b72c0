"""A measurement in a real browser: points come on the same nodes, a reload finds it, nothing is cut off."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.browser.conftest import PHONE, no_wider_than_the_window

Open = Callable[..., Any]
SMALL = "memory-and-time?longest=256&kinds=fused,cnn&d_model=8&n_heads=2&rounds=1"
ENOUGH = """([id, enough]) => {
  const hosts = [...document.querySelectorAll('*')].filter((node) => node.shadowRoot)
  const plot = hosts.map((host) => host.shadowRoot.querySelector(`article[data-id="${id}"] .plot`)).find(Boolean)
  const measured = plot?.data?.filter((trace) => trace.uid.endsWith('-measured')) ?? []
  return measured.length === 2 && measured.every((trace) => trace.x.length >= enough)
}"""
"""Whether both lines of a panel have so many points."""


def test_points_come_on_the_same_nodes_and_a_reload_on_a_phone_finds_them(open_page: Open) -> None:
    page = open_page(SMALL, "Memory and time")
    plot = page.locator('article[data-id="costs.train"] .plot')
    plot.locator(".main-svg").first.wait_for()
    plot.evaluate("(plot) => { plot.marked = true }")
    page.get_by_text("Writing with keys and values kept").wait_for()
    no_wider_than_the_window(page)
    page.get_by_role("button", name="Measure", exact=True).click()
    page.get_by_role("button", name="Every visit (CSV)").wait_for()
    page.wait_for_function(ENOUGH, arg=["costs.train", 3])
    assert plot.evaluate("(plot) => plot.marked"), "the same node before the first point and after the last"
    page.get_by_text("the exponent and its 95 % interval").wait_for()
    page.wait_for_url(re.compile("sweep="))
    page.set_viewport_size(PHONE)
    page.reload()
    page.get_by_text(re.compile("Measured on")).wait_for()
    page.locator('article[data-id="costs.saved"]').scroll_into_view_if_needed()  # it is drawn when it comes into sight
    page.wait_for_function(ENOUGH, arg=["costs.saved", 3])
    no_wider_than_the_window(page)
