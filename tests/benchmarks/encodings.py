"""What a control of the encodings page costs, seen from a browser: ``python -m tests.benchmarks.encodings [--json]``.

change to figure      a control changed at length 512, shown to 1024, until the first picture is redrawn (s, median)
change to all         the same until the four pictures in sight are redrawn: both columns changed
beside runs           both while a run trains in every worker
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

from playwright.sync_api import Browser, Page

from tests.benchmarks.app import app_in_a_browser, open_lab, print_as_measured

QUERY = "a=sinusoidal&b=rope&seq_len=512"
CHANGES = 9
PLOTS = """() => [document, ...[...document.querySelectorAll("*")].map((n) => n.shadowRoot).filter(Boolean)]
  .flatMap((root) => [...root.querySelectorAll("article.panel .plot")])"""


def open_encodings(browser: Browser, address: str) -> Page:
    page = browser.new_context(viewport={"width": 1366, "height": 1500}).new_page()
    page.goto(f"{address}encodings?{QUERY}")
    page.get_by_role("spinbutton", name="Trained length").wait_for(timeout=60_000)
    page.get_by_text("How alike positions are: RoPE").wait_for(timeout=60_000)
    page.wait_for_function(f"() => ({PLOTS})().filter((plot) => plot.data).length >= 4", timeout=60_000)
    page.wait_for_timeout(1000)
    return page


def change_to_figures(page: Page) -> tuple[float, float]:
    """Seconds from the click on a step button of the base to the first and to the fourth picture, by the browser's clock."""
    page.evaluate(
        f"""() => {{
          const plots = ({PLOTS})().filter((plot) => plot.data)
          const draws = () => plots.map((plot) => Number(plot.dataset.draws))
          const before = draws()
          window.clicked = window.first = window.drawn = null
          addEventListener("click", () => {{ window.clicked = performance.now() }}, {{ capture: true, once: true }})
          const look = () => {{
            const now = draws()
            // Both have a base: what they are, and how alike they make positions, is drawn anew.
            const anew = plots.filter((plot, at) => /matrix|similarity/.test(plot.closest("article").dataset.id) && now[at] > before[at])
            if (window.clicked && anew.length >= 1) window.first ??= performance.now()
            if (window.clicked && anew.length >= 4) window.drawn = performance.now()
            else requestAnimationFrame(look)
          }}
          look()
        }}"""
    )
    page.get_by_test_id("stNumberInput").filter(has_text="Base").get_by_test_id("stNumberInputStepUp").click()
    page.wait_for_function("() => window.drawn", timeout=60_000)
    page.wait_for_timeout(600)
    first, last = page.evaluate("() => [window.first, window.drawn].map((at) => (at - window.clicked) / 1000)")
    return first, last


def medians(page: Page, words: str) -> Iterator[tuple[str, float]]:
    first, last = zip(*(change_to_figures(page) for _ in range(CHANGES)), strict=True)
    yield f"change to figure{words} (s)", statistics.median(first)
    yield f"change to all in sight{words} (s)", statistics.median(last)


def measure() -> Iterator[tuple[str, float]]:
    """Name and value, each as soon as it is known."""
    with app_in_a_browser() as (browser, _, address):
        page = open_encodings(browser, address)
        time.sleep(8)  # the workers warm up
        change_to_figures(page)
        yield from medians(page, "")
        for seed in range(2):
            lab = open_lab(browser, address, f"steps=50000&seed={seed}")
            lab.get_by_role("button", name="Train").click()
            lab.wait_for_url(lambda url: "run=" in url)
            lab.context.close()
        yield from medians(page, ", beside runs")


if __name__ == "__main__":
    print_as_measured(__doc__, measure())
