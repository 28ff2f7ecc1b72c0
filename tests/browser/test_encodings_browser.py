"""The encodings page in a real browser: figures that stay on their nodes, the link, the evidence behind a cell."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from engine.experiments.issues import ISSUES
from engine.experiments.properties import NEEDS
from pages.parts.encodings.settings import VIEWS
from tests.browser.conftest import PHONE

Open = Callable[..., Any]


def drawn(page: Any, panel: str, least: int = 1) -> Any:
    """The plot of a panel once it was drawn so many times."""
    plot = page.locator(f'[data-id="{panel}"] .plot')
    plot.scroll_into_view_if_needed()
    page.locator(f'[data-id="{panel}"] .plot[data-draws]').wait_for(timeout=60_000)
    handle = plot.element_handle()
    page.wait_for_function(
        "([plot, least]) => Number(plot.dataset.draws) >= least", arg=[handle, least], timeout=60_000
    )
    return plot


def test_a_control_redraws_what_it_changes_on_the_same_node_and_the_evidence_fits_a_phone(open_page: Open) -> None:
    page = open_page("encodings?a=learned&b=rope&seq_len=16", "Encodings")
    kept, changed = drawn(page, "matrix.a"), drawn(page, "matrix.b")
    assert "added value for each position and dimension" in kept.get_attribute("aria-label")
    before = kept.get_attribute("data-draws")
    changed.evaluate("(plot) => { plot.marked = true }")
    page.get_by_role("spinbutton", name="Base").fill("100")
    page.keyboard.press("Enter")
    drawn(page, "matrix.b", least=int(changed.get_attribute("data-draws")) + 1)
    page.wait_for_url(re.compile(r"base=100"), timeout=60_000)
    assert changed.evaluate("(plot) => plot.marked")
    assert kept.get_attribute("data-draws") == before, "a learned table has no base: nothing of it changed"
    page.get_by_text("Position 16 has no row").wait_for()
    drawn(page, "trajectory.b")

    page.set_viewport_size(PHONE)
    page.get_by_role("radio", name=VIEWS["choose"]).click()
    page.get_by_role("button", name=NEEDS["longer"], exact=True).click()
    page.get_by_text("The evidence supports").wait_for(timeout=60_000)
    cell = page.get_by_role("row", name=re.compile("^RoPE")).get_by_role("link").first
    assert "seeds" in cell.get_attribute("title")
    assert cell.get_attribute("href").removeprefix("issues?issue=").partition("&")[0] in ISSUES
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_layers_own_encoding_is_chosen_in_the_lab_and_looked_at_along_its_training(open_page: Open) -> None:
    page = open_page("lab?pos_encoding=cope&n_layers=2&steps=40")
    page.get_by_role("button", name="Train", exact=True).click()
    layer = page.get_by_label("Layer of the encoding")
    matrix = page.get_by_role("img", name=re.compile("^The encoding, layer 1"))
    matrix.wait_for(timeout=60_000)
    layer.select_option("Layer 2")
    for title in ("The encoding", "How alike positions are"):
        page.get_by_role("img", name=re.compile(f"^{title}, layer 2")).wait_for(timeout=60_000)
    page.wait_for_url(re.compile("run="), timeout=60_000)
    run = re.search("run=([^&]+)", page.url)
    assert run
    page = open_page(f"encodings?view=training&layer=2&run={run[1]}", "Encodings")
    page.get_by_text("shown is that of layer 2").wait_for(timeout=60_000)
    drawn(page, "matrix.then")
