"""Accessibility as axe-core checks it: no violation of any impact on any page, in light and in dark."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from engine.foundation.glossary import TERMS
from pages.parts.notebooks.notebook import NOTEBOOKS
from tests.browser.conftest import PHONE, WIDE, Open, button, fits_the_width, go, more, settled

PAGES = {
    "": "Attention Lab",
    "story": "A bag of symbols",  # leads to the first step on the start page
    "story?step=4": "Only how far apart",
    "questions": "What goes wrong?",
    "teach": "Teach",
    "cost": "Cost",
    "encodings?a=designed&view=choose": "Encodings",
    "notebooks": "Notebooks",
    "classroom": "A class",
    "slide": "A slide of a lesson",
    "notebooks?notebook=mean-pooling": next(iter(NOTEBOOKS.values())).title,
}
"""The heading of each page by its address. No two in a row have the same: by it the page is seen to have changed."""
SEEN_BELOW = {"lab": "Lab", "questions?issue=missing-mask": "The mask is missing"}
"""The headings of pages that axe judges in tests of their own."""
ZOOMED = {"width": 320, "height": 640}
"""A window of 1280 by 2560 as the page sees it when the browser enlarges everything to 400 %."""
GROUND = {"light": "rgb(246, 247, 249)", "dark": "rgb(15, 19, 27)"}
"""The colour of the page's ground in each theme."""


COVERED = """(titles) => titles.filter((title) => {
  title.scrollIntoView({ block: 'center' })
  const box = title.getBoundingClientRect()
  const top = title.getRootNode().elementFromPoint(box.left + 2, box.top + box.height / 2)
  const seen = box.width && !title.closest('.st-key-frame-unseen') && title.innerText.trim()
  return seen && top && !title.contains(top) && !top.contains(title)
}).map((title) => title.innerText)"""
"""JavaScript: the titles that lie under something else."""


def violations(page: Any, part: str = "html") -> list[str]:
    """The findings of axe in a part of the page, in both themes, with the window as high as the page.

    It does not judge letters that are out of sight.
    In the theme that the page is in, all rules; in the other one, in which the page stays, contrast: all that a theme changes.
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
    """The findings of axe by these rules while nothing of the page changes: if the script ran meanwhile, axe looks once more."""
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
    for path, heading in (PAGES | SEEN_BELOW).items():
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


@pytest.mark.thorough
def test_the_lab_has_none_with_the_list_of_all_tasks_or_after_a_run(open_page: Open) -> None:
    page = open_page("lab?steps=40", "Lab")
    more(page).get_by_role("button", name="All tasks").click()
    tasks = page.get_by_role("dialog", name="All tasks")
    tasks.get_by_role("heading", level=3).last.wait_for()
    found = violations(page)
    page.keyboard.press("Escape")
    tasks.wait_for(state="detached")
    button(page, "Train").click()
    page.locator(".board .badge").get_by_text("Finished").wait_for()
    page.get_by_role("button", name="Download", exact=True).wait_for()
    found += violations(page)
    page.get_by_text("Take it apart").click()
    page.get_by_text("The numbers, key by key").wait_for()
    assert found + violations(page, ".st-key-lab-apart") == []


@pytest.mark.thorough
def test_an_issue_has_none_before_the_guess_and_with_the_evidence_in_its_tabs(open_page: Open) -> None:
    page = open_page("questions?issue=missing-mask&seeds=1", "The mask is missing")
    page.get_by_role("radio", name="It falls").click()
    found = violations(page)
    button(page, "Show the answer").click()
    page.get_by_text("Because").wait_for()
    button(page, "Train it here, too").click()
    page.locator(".badge").get_by_text("Finished").wait_for()
    for tab in ("Why", "Evidence", "How measured", "Share"):
        control = page.get_by_role("radio", name=tab, exact=True)
        if control.get_attribute("aria-checked") != "true":
            control.click()
        settled(page)
        page.locator("details").evaluate_all("(all) => all.forEach((details) => (details.open = true))")
        found += violations(page, "html" if tab == "Why" else ".st-key-questions-tabs")
    assert found == []


@pytest.mark.thorough
def test_none_on_a_phone_after_a_measurement_while_an_issue_runs_and_after_a_run_on_words(open_page: Open) -> None:
    page = open_page("cost?longest=256&kinds=fused,cnn&d_model=8&n_heads=2&rounds=1", "Cost", PHONE)
    button(page, "Measure").click()
    page.get_by_role("button", name="Every visit (CSV)").wait_for()
    found = violations(page)
    page.set_viewport_size(PHONE)
    go(page, "text?steps=30&vocab_size=300")  # leads to the lab
    page.get_by_role("textbox", name="Prompt").wait_for()
    button(page, "Train").click()
    page.locator(".board .badge").get_by_text("Finished").wait_for()
    page.get_by_text("Better than counting?").click()
    page.get_by_text("Perplexity on all held-out text").wait_for()
    found += violations(page)
    page.set_viewport_size(PHONE)
    go(page, "questions?issue=missing-mask")
    page.get_by_role("radio", name="It falls").click()
    button(page, "Train it here, too").click()
    page.get_by_role("button", name="Stop").wait_for()
    assert found + violations(page, ".st-key-guess-missing-mask") == []
