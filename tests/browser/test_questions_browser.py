import random
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from engine.experiments.experiment import LIVE_SEED
from engine.experiments.issues import ISSUES
from engine.foundation.glossary import TERMS
from engine.foundation.provenance import stamp
from pages.parts.questions.map import START
from tests.browser.conftest import (
    PHONE,
    WIDE,
    Open,
    button,
    eventually,
    expect,
    figure,
    in_view,
    nothing_is_cut_off,
    saved,
    settled,
    wait_for_plot,
)
from tests.browser.test_axe import violations

MASK, LONGER, SKIPS = (ISSUES[slug] for slug in ("missing-mask", "longer-sequences", "missing-skips"))
SLIDE = ISSUES["heads"]
MAP, TRAIN = "What goes wrong?", "Train it here"
CLAIMS = list(MASK.claims_of(MASK.arms_of()))
# JavaScript: the words of a drawing that are cut off, once it is the page
CUT_OFF = """(svg) => {
  document.body.style.margin = 0
  document.body.innerHTML = svg
  const boxes = [...document.querySelectorAll("text")].map((node) => [node.textContent, node.getBoundingClientRect()])
  return boxes.filter(([_, box]) => box.left < 0 || box.top < 0 || box.right > 800 || box.bottom > 450).map(([text]) => text)
}"""


@pytest.mark.thorough
def test_from_the_map_to_an_experiment_that_is_stopped_a_term_and_from_a_guess_to_the_claims(
    open_page: Open, app: str
) -> None:
    page = open_page("questions", MAP, PHONE)
    nothing_is_cut_off(page)
    settled(page)  # a forced click lands where the tile was
    page.locator(f"[class*='-tile-{LONGER.slug}'] .thumbnail").click(
        force=True
    )  # the link in the title covers its tile
    page.get_by_role("heading", name=LONGER.title, exact=True).wait_for()
    page.wait_for_url(re.compile(f"issue={LONGER.slug}"))
    nothing_is_cut_off(page)
    page.get_by_role("radio", name="It falls", exact=True).click()
    button(page, TRAIN).click()
    page.wait_for_url(re.compile("experiment="))
    button(page, "Stop").wait_for()
    assert violations(page, f".st-key-guess-{LONGER.slug}") == []
    page.set_viewport_size(PHONE)
    page.reload()
    page.locator(".badge").get_by_text("Running").wait_for()
    button(page, "Stop").click()
    page.locator(".badge").get_by_text("Stopped").wait_for()
    page.goto(f"{app}questions?issue={LONGER.slug}")
    page.get_by_role("radio", name="Evidence").click()
    page.get_by_role("radio", name="Published numbers").click()
    page.get_by_test_id("stDataFrame").first.wait_for()
    nothing_is_cut_off(page)  # its published table is wider than a phone
    page.goto(f"{app}answer")  # the earlier address
    page.wait_for_url(f"{app}questions?found=true")
    page.get_by_role("heading", name=MAP, exact=True).wait_for()
    page.get_by_role("heading", name="The short answer").wait_for()
    nothing_is_cut_off(page)
    page.set_viewport_size(WIDE)
    nothing_is_cut_off(page)
    page.get_by_text("Show the answers").click()
    page.get_by_text("Guess first").first.wait_for()
    tiles = [page.locator(f"[class*='-tile-{slug}']") for slug in (*START, next(iter(ISSUES)))]
    settled(page)
    in_view(*tiles)
    assert len({round(tile.bounding_box()["height"]) for tile in tiles[:3]}) == 1

    # A word of an explanation opens its term in place.
    page.get_by_role("link", name=SKIPS.title, exact=True).first.click()
    page.get_by_role("heading", name=SKIPS.title, exact=True).wait_for()
    page.get_by_text("Why", exact=True).click()

    def tabs_come_up() -> None:
        assert page.get_by_role("radio", name="Why", exact=True).bounding_box()["y"] < 150

    eventually(page, tabs_come_up)  # although they stand at the lower end of the screen
    page.get_by_text("Remedies").wait_for()
    page.locator("a[href$='glossary?term=residual']").click()
    page.get_by_role("dialog").get_by_text(TERMS["residual"].text).wait_for()
    assert page.url.endswith(f"questions?issue={SKIPS.slug}")

    # From a guess to the curves of an experiment, its claims and its evidence.
    first_seed = LIVE_SEED + random.randrange(
        10_000
    )  # of its own: what another test has trained would be there at once
    page.goto(f"{app}questions?issue=missing-mask&seeds=2&first_seed={first_seed}")
    page.get_by_role("heading", name=MASK.title, exact=True).wait_for()
    nothing_is_cut_off(page)
    page.get_by_role("radio", name="It rises", exact=True).click()
    button(page, "Show the answer").click()
    page.get_by_text("Because each position").wait_for()
    button(page, TRAIN).click()
    page.locator(".badge").get_by_text("Running").wait_for()
    page.get_by_role("radio", name="Evidence").click()
    first = f"curves.{MASK.arms[0].name}"
    wait_for_plot(page, first)
    page.wait_for_url(re.compile("experiment="))
    page.locator(".badge").get_by_text("Finished").first.wait_for()
    chips = page.locator('section[data-id="claims"] .chip')
    expect(chips).to_have_count(len(CLAIMS))
    expect(chips.get_by_text("Undecided (needs at least six seeds)")).to_have_count(len(CLAIMS))
    page.get_by_role("button", name="Evidence (JSON)").wait_for()


def test_a_press_while_the_page_redraws_is_neither_lost_nor_counted_twice(open_page: Open) -> None:
    first_seed = LIVE_SEED + random.randrange(10_000)
    page = open_page(f"questions?issue={SKIPS.slug}&first_seed={first_seed}", SKIPS.title)
    run = button(page, TRAIN)
    run.wait_for()
    # the script below finds both by their words, which come after the elements
    page.locator("[role=radio]").get_by_text("It rises").wait_for()
    page.locator("[class*=st-key-run] button").get_by_text("Train it here").first.wait_for()
    box, address = run.bounding_box(), re.compile(r"experiment=[\w-]+")
    page.evaluate("""() => {
      const named = (role, name) => [...document.querySelectorAll(role)].find((node) => node.innerText.includes(name))
      named("[role=radio]", "It rises").click()
      named("[class*=st-key-run] button", "Train it here").click()
    }""")
    for _ in range(5):  # impatient, where it was
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_timeout(150)
    page.wait_for_url(address)
    expect(page.locator("[role=radio][aria-checked=true]").get_by_text("It rises")).to_be_visible()
    expect(page.locator(".badge").get_by_text("Running")).to_be_visible()
    began = address.search(page.url)
    assert began is not None

    stop = button(page, "Stop")
    box = stop.bounding_box()
    for _ in range(3):
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.locator(".badge").get_by_text("Stopped").wait_for()
    assert began[0] in page.url
    assert page.get_by_text("encountered an error").count() == 0


def parts_of(page: Any, tab: str) -> list[Any]:
    """The parts of a tab, of which the page shows one; the tab itself if it has none."""
    groups = {"Why": "explanation", "Evidence": "evidence", "Method": "measurement"}
    if tab not in groups:
        return [page.get_by_role("radio", name=tab, exact=True)]
    parts: list[Any] = page.get_by_role("radiogroup", name=f"Parts of the {groups[tab]}").get_by_role("radio").all()
    assert parts
    return parts


@pytest.mark.thorough
def test_a_result_is_saved_as_a_slide_and_axe_finds_nothing_before_the_guess_and_in_the_tabs_of_the_evidence(
    open_page: Open, tmp_path: Path
) -> None:
    page = open_page("questions?issue=heads&seeds=1", SLIDE.title, color_scheme="dark")
    result = figure(page, "key.figure")
    expect(result.locator("summary")).to_be_hidden()  # nothing was found yet
    page.get_by_role("radio", name="It falls").click()
    found = violations(page)
    button(page, "Show the answer").click()
    page.get_by_text("in 16 of 16 stored seeds.").first.wait_for()
    button(page, TRAIN).click()
    page.locator(".badge").get_by_text("Finished").wait_for()
    picture, drawing = (saved(result, f"Slide ({kind})", tmp_path) for kind in ("PNG", "SVG"))
    assert picture.name == f"heads-slide-{stamp()}.png"
    assert struct.unpack(">II", picture.read_bytes()[16:24]) == (2400, 1350)
    blank = page.context.new_page()
    assert blank.evaluate(CUT_OFF, drawing.read_text("utf-8")) == []
    words = blank.evaluate("[...document.querySelectorAll('text')].map((node) => node.textContent).join(' ')")
    assert SLIDE.title in words
    assert "grey: stored seeds 1000 to 1015" in words
    assert f"1 seed ({LIVE_SEED}), Attention Lab, http" in words
    assert "questions?issue=heads" in words
    box = blank.locator("svg").first.bounding_box()
    assert (box["width"], box["height"]) == (800, 450)
    assert blank.evaluate("getComputedStyle(document.querySelector('rect')).fill") == "rgb(255, 255, 255)"
    blank.close()

    for tab in ("Why", "Evidence", "Method", "Share"):
        control = page.get_by_role("radio", name=tab, exact=True)
        if control.get_attribute("aria-checked") != "true":
            control.click()
        settled(page)
        for part in parts_of(page, tab):
            if part.get_attribute("aria-checked") != "true":
                part.click()
            settled(page)
            page.locator("details").evaluate_all("(all) => all.forEach((details) => (details.open = true))")
            found += violations(page, "html" if tab == "Why" else ".st-key-questions-tabs")
    assert found == []
