"""The slide of a result in a real browser: offered once there is a result, 1600 x 900 pixels, and no word of it is cut off."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from engine.experiments.evidence.shipped import shipped_result
from engine.experiments.issues import ISSUES
from tests.browser.conftest import Open

ISSUE = ISSUES["quadratic-cost"]
OUTSIDE = """(svg) => {
  document.body.style.margin = 0
  document.body.innerHTML = svg
  const boxes = [...document.querySelectorAll("text")].map((node) => [node.textContent, node.getBoundingClientRect()])
  return boxes.filter(([_, box]) => box.left < 0 || box.top < 0 || box.right > 1600 || box.bottom > 900).map(([text]) => text)
}"""


def saved(page: Any, name: str) -> Path:
    page.get_by_label(f"Download {ISSUE.key_figure.quantity}").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=name).click()
    assert download.value.suggested_filename.startswith("quadratic-cost-slide.")
    return Path(download.value.path())


def test_a_result_is_saved_as_a_slide(open_page: Open) -> None:
    result = shipped_result(ISSUE, ISSUE.key_figure)
    assert result is not None
    page = open_page("issues?issue=quadratic-cost", ISSUE.title, color_scheme="dark")
    menu = page.get_by_label(f"Download {ISSUE.key_figure.quantity}")
    menu.click()
    page.get_by_role("menuitem", name="Picture (PNG)").wait_for()
    assert page.get_by_role("menuitem", name="Slide (PNG)").count() == 0, "nothing was found yet"
    menu.click()
    page.get_by_role("radio", name="Seeds 0-7").click()
    page.get_by_text("MiB, in 8 of 8 seeds.").first.wait_for()
    picture = saved(page, "Slide (PNG)").read_bytes()
    assert struct.unpack(">II", picture[16:24]) == (1600, 900)
    drawing = saved(page, "Slide (SVG)").read_text("utf-8")
    blank = page.context.new_page()
    assert blank.evaluate(OUTSIDE, drawing) == []
    words = blank.evaluate("[...document.querySelectorAll('text')].map((node) => node.textContent).join(' ')")
    assert ISSUE.title in words
    assert "8 seeds (0 to 7), Attention Lab, http" in words
    assert "issues?issue=quadratic-cost" in words
    ends = blank.evaluate(
        "(() => { const {width, height} = document.querySelector('svg').getBoundingClientRect(); return [width, height] })()"
    )
    assert ends == [1600, 900]
    assert blank.evaluate("getComputedStyle(document.querySelector('rect')).fill") == "rgb(255, 255, 255)"
