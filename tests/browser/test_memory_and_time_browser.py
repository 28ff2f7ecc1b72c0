"""A measurement in a real browser: points come on the same nodes, a reload finds it, nothing is cut off."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import PHONE

Open = Callable[..., Any]
SLOW = 120_000
"""Milliseconds that it may take on a busy machine."""
SMALL = "memory-and-time?longest=256&kinds=fused,cnn&d_model=8&n_heads=2&rounds=1"
ENOUGH = """([id, enough]) => {
  const hosts = [...document.querySelectorAll('*')].filter((node) => node.shadowRoot)
  const plot = hosts.map((host) => host.shadowRoot.querySelector(`article[data-id="${id}"] .plot`)).find(Boolean)
  const measured = plot?.data?.filter((trace) => trace.uid.endsWith('-measured')) ?? []
  return measured.length === 2 && measured.every((trace) => trace.x.length >= enough)
}"""
"""Whether both lines of a panel have so many points."""


def test_points_come_on_the_same_nodes_and_a_reload_finds_them(open_page: Open) -> None:
    page = open_page(SMALL, "Memory and time")
    plot = page.locator('article[data-id="costs.train"] .plot')
    plot.locator(".main-svg").first.wait_for(timeout=SLOW)
    plot.evaluate("(plot) => { plot.marked = true }")
    page.get_by_role("button", name="Measure", exact=True).click()
    page.get_by_role("button", name="Every visit (CSV)").wait_for(timeout=SLOW)
    page.wait_for_function(ENOUGH, arg=["costs.train", 3], timeout=SLOW)
    assert plot.evaluate("(plot) => plot.marked"), "the same node before the first point and after the last"
    page.get_by_text("the exponent and its 95 % interval").wait_for()
    page.wait_for_url(re.compile("sweep="))
    page.reload()
    page.get_by_text(re.compile("Measured on")).wait_for()
    page.wait_for_function(ENOUGH, arg=["costs.saved", 3], timeout=SLOW)


def test_stop_keeps_what_was_measured(open_page: Open) -> None:
    page = open_page("memory-and-time?kinds=fused,gru&rounds=15", "Memory and time")
    page.get_by_role("button", name="Measure", exact=True).click()
    page.wait_for_function(ENOUGH, arg=["costs.train", 1], timeout=SLOW)
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("button", name="Measurement (JSON)").wait_for(timeout=SLOW)


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1366, "height": 900}], ids=["phone", "laptop"])
def test_the_page_is_never_wider_than_the_screen(open_page: Open, viewport: dict[str, int]) -> None:
    page = open_page("memory-and-time", "Memory and time", viewport)
    page.get_by_text("Writing with keys and values kept").wait_for()
    wide = page.get_by_test_id("stMain").evaluate("(main) => main.scrollWidth - main.clientWidth")
    assert wide <= 0
