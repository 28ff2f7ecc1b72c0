from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from engine.foundation.glossary import TERMS
from pages.parts.notebooks.notebook import NOTEBOOKS
from tests.browser.conftest import WIDE, Open, button, fits_the_width, go, settled

# The heading of each page by its address. No two in a row have the same one: it shows that the page has changed.
PAGES = {
    "": "Attention Lab",
    "story": "A bag of symbols",  # leads to the first step on the start page
    "story?step=4": "Only how far apart",
    "questions": "What goes wrong?",
    "depth": "What does depth alone do?",
    "teach": "Teach",
    "cost": "Cost",
    "encodings?a=designed&view=choose": "Encodings",
    "notebooks": "Notebooks",
    "classroom": "A class",
    "slide": "A slide of a lesson",
    "notebooks?notebook=mean-pooling": next(iter(NOTEBOOKS.values())).title,
}
# the headings of pages that axe judges in walks that open everything on them
BELOW = {"lab": "Lab", "questions?issue=missing-mask": "What if the mask is missing?"}
# a window of 1280 by 2560 as the page sees it when the browser enlarges everything to 400 %
ZOOMED = {"width": 320, "height": 640}
GROUND = {"light": "rgb(246, 247, 249)", "dark": "rgb(15, 19, 27)"}  # of the page, in each theme


# JavaScript: the titles that lie under something else
COVERED = """(titles) => titles.filter((title) => {
  title.scrollIntoView({ block: 'center' })
  const box = title.getBoundingClientRect()
  const top = title.getRootNode().elementFromPoint(box.left + 2, box.top + box.height / 2)
  const seen = box.width && !title.closest('.st-key-frame-unseen') && title.innerText.trim()
  return seen && top && !title.contains(top) && !top.contains(title)
}).map((title) => title.innerText)"""


def violations(page: Any, part: str = "html") -> list[str]:
    """The findings of axe in a part of the page, with the window as high as the page, since it does not judge letters that are out
    of sight.

    In the theme that the page is in, all rules; in the other one contrast: all that a theme changes.
    """
    settled(page)
    height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    if height > page.viewport_size["height"]:
        page.set_viewport_size({"width": page.viewport_size["width"], "height": height + 200})
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
        page.add_style_tag(
            content="html { min-height: 100vh }"
        )  # to axe nothing is in sight of a root without a height
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    found = judged(page, part, {})
    page.emulate_media(color_scheme="light" if dark else "dark")
    page.wait_for_function(
        "(ground) => getComputedStyle(document.querySelector('.stApp')).backgroundColor === ground",
        arg=GROUND["light" if dark else "dark"],
    )
    return found + judged(page, part, {"runOnly": ["color-contrast"]})


def judged(page: Any, part: str, rules: dict[str, Any]) -> list[str]:
    """The findings of axe by these rules while nothing of the page changes: if the script ran meanwhile, axe checks once more."""
    while True:
        settled(page)
        violations, still = page.evaluate(
            """async ([part, options]) => {
              let still = true
              const watcher = new MutationObserver(() => { still = false })
              watcher.observe(document.querySelector('.stApp'),
                { subtree: true, attributeFilter: ['data-test-script-state', 'data-stale'] })
              const { violations } = await axe.run(part, options)
              watcher.disconnect()
              return [violations, still]
            }""",
            [part, {"resultTypes": ["violations"], **rules}],
        )
        if still:
            return [
                f"{violation['id']} ({violation['impact']}) {node['html'][:150]} {node['failureSummary']}"
                for violation in violations
                for node in violation["nodes"]
            ]


@pytest.mark.thorough
def test_no_page_has_a_violation_or_at_a_zoom_of_400_percent_scrolls_sideways_or_hides_a_title(open_page: Open) -> None:
    page, found = open_page(viewport=ZOOMED, reduced_motion="reduce"), {}
    for path, heading in (PAGES | BELOW).items():
        go(page, path)
        page.get_by_role("heading", name=heading, exact=True).first.wait_for()
        settled(page)
        fits_the_width(page)
        found[path] = page.locator("h1, h2, h3").evaluate_all(COVERED)
        if path in PAGES:
            page.set_viewport_size(WIDE)
            found[path] += violations(page)
            page.set_viewport_size(ZOOMED)
    page.set_viewport_size(WIDE)
    button(page, "Glossary").click()
    page.get_by_role("heading", name=TERMS["accuracy"].name, exact=True).wait_for()
    found["the glossary"] = violations(page, "[role=dialog]")
    assert {path: of_page for path, of_page in found.items() if of_page} == {}
