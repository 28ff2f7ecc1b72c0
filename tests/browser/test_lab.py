"""The whole app in a real browser, as a student meets it: real server, real workers, real training."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from engine.config.link import from_query
from engine.config.presets import PRESETS
from engine.config.run_config import RunConfig
from tests.browser.conftest import PHONE, PROJECTOR, WIDE, Open, button, expect, go, in_view, no_wider_than_the_window

LONG = {"steps": 20_000, "seq_len": 8, "dropout": 0.2}
"""Over the preset three-back: a run that is still going when the test looks at it."""


def loss(page: Any) -> Any:
    return page.locator("article.loss .plot")


def step(page: Any) -> int:
    return int(loss(page).get_attribute("data-step") or 0)


def drawn_step(page: Any) -> int:
    """The step of the loss plot of a run that is paused, once everything that was said is drawn."""
    page.locator(".board .badge").get_by_text("Paused").wait_for()
    said = page.locator(".board .facts").inner_text().split()[1]
    until_step(page, int(said.replace(",", "")))
    return step(page)


def x_range(page: Any) -> list[float]:
    return list(loss(page).evaluate("(plot) => plot._fullLayout.xaxis.range"))


def until(page: Any, condition: str, argument: Any = None) -> None:
    """Wait until a condition on the loss plot's node holds."""
    page.wait_for_function(
        f"(argument) => {{ const plot = document.querySelector('article.loss .plot') "
        f"?? [...document.querySelectorAll('*')].map((n) => n.shadowRoot?.querySelector('article.loss .plot')).find(Boolean); "
        f"return Boolean(plot) && ({condition}); }}",
        arg=argument,
        polling=100,
    )


def until_step(page: Any, least: int) -> None:
    until(page, "Number(plot.dataset.step ?? 0) >= argument", least)


def controls_in_sight(page: Any) -> None:
    """The main controls without scrolling, and nothing wider than the screen."""
    in_view(*(page.get_by_role("spinbutton", name=name) for name in ("Depth", "Heads", "Sequence length")))
    in_view(page.get_by_role("button", name="Train"))
    no_wider_than_the_window(page)


def shows_step(page: Any, number: str) -> None:
    page.locator(".board .facts").filter(has_text=re.compile(rf"^step {number} of")).wait_for()


def example_in_sight(page: Any, *panels: str) -> None:
    """The first screen of the start page has the question and these panels."""
    in_view(page.get_by_text("must write").first, *(page.locator(f"article.{name}") for name in panels))


def test_from_the_example_of_the_start_page_to_an_empty_link_that_trains_to_a_finding(
    open_page: Open,
) -> None:
    page = open_page("", "Attention Lab", PROJECTOR)
    shows_step(page, r"\d+")
    expect(page.get_by_role("link", name="Lab", exact=True)).to_have_count(1)
    example_in_sight(page, "accuracy", "pattern")
    shows_step(page, r"[1-9]\d+")
    slider = page.get_by_role("slider", name="Look back at a step")
    assert page.get_by_text("does the work").count() == 0
    slider.focus()
    page.keyboard.press("End")
    page.get_by_text("does the work").wait_for()
    page.get_by_role("textbox", name="Your own sequence").fill("3 1 4 1 5 9")
    page.get_by_role("button", name="Try").click()
    page.get_by_text(re.compile(r"yours: \d of 6 right")).wait_for()
    page.get_by_role("button", name="Play again").click()
    expect(page.get_by_role("textbox", name="Your own sequence")).to_have_count(0)
    expect(page.get_by_text("does the work")).to_have_count(0)
    page.set_viewport_size(PHONE)
    page.get_by_test_id("stMain").evaluate("(main) => main.scrollTo(0, 0)")
    example_in_sight(page, "accuracy")

    # An empty link is the default; on a phone too the controls are in sight, and a refusal is one sentence.
    go(page, "lab")
    page.get_by_text("Press Train").first.wait_for()
    expect(page.get_by_role("spinbutton", name="Sequence length")).to_have_value(str(RunConfig().seq_len))
    assert "?" not in page.url
    controls_in_sight(page)
    heads = page.get_by_role("spinbutton", name="Heads")
    before = heads.input_value()
    for number, disabled in (("5", True), (before, False)):
        heads.fill(number)
        page.keyboard.press("Enter")
        expect(page.get_by_text("n_heads is 5; allowed is a divisor of d_model 32")).to_have_count(int(disabled))
        expect(page.get_by_role("button", name="Train", disabled=disabled)).to_have_count(1)
    page.set_viewport_size(WIDE)
    expect(page.get_by_role("link", name="Lab", exact=True)).to_have_count(1)
    controls_in_sight(page)

    page.get_by_role("spinbutton", name="Steps").fill("120")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("steps=120"))
    button(page, "Train").click()
    until_step(page, 1)
    page.get_by_text("Learned: held-out second-half accuracy").wait_for()
    until_step(page, 120)
    page.locator(".board .badge").get_by_text("Finished").wait_for()
    page.locator("article.samples").scroll_into_view_if_needed()
    page.get_by_text(re.compile(r"\d+ of \d+ right")).wait_for()


def test_a_bad_link_then_a_run_that_is_zoomed_into_paused_shared_and_reset(open_page: Open, app: str) -> None:
    page = open_page("lab?preset=no-norm&batch_size=0&pos_encoding=zork&steps=44", "Lab")
    page.get_by_text("batch_size is 0").wait_for()
    page.get_by_text("pos_encoding is zork").wait_for()
    expect(page.get_by_role("spinbutton", name="Steps")).to_have_value("44")
    expect(page.get_by_text("Press Train")).to_have_count(1)
    button(page, "Train").click()
    page.get_by_text(re.compile(r"Step \d+: .* is no longer finite\. With .* stay finite")).first.wait_for()

    go(page, "lab?preset=three-back&" + "&".join(f"{name}={value}" for name, value in LONG.items()))
    expect(page.get_by_role("spinbutton", name="Heads")).to_have_value("4")
    button(page, "Train").click()
    until_step(page, 50)  # more than the run before had
    page.wait_for_url(re.compile("run="))

    # Node and zoom survive updates and a rerun of the script.
    loss(page).evaluate("(plot) => { plot.marked = true }")
    box = loss(page).locator(".nsewdrag").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + box["height"] * 0.3)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.7, steps=5)
    page.mouse.up()
    until(page, "plot._fullLayout.xaxis.range[0] > 0")
    zoomed = x_range(page)
    page.get_by_role("spinbutton", name="Depth").fill("1")
    page.keyboard.press("Enter")
    page.get_by_text("Settings changed since this run: Depth 2 → 1").wait_for()
    until_step(page, step(page) + 50)
    assert loss(page).evaluate("(plot) => plot.marked")
    assert x_range(page) == zoomed

    button(page, "Pause").click()
    page.get_by_role("button", name="Resume", exact=True).wait_for()
    paused = drawn_step(page)
    button(page, "Step").click()
    until_step(page, paused + 1)
    assert drawn_step(page) == paused + 1, "it stood still, and this was one step"

    # What is shared holds the settings and the run, as the address does.
    button(page, "Share").click()
    link = page.get_by_test_id("stCode").first.inner_text().strip()
    assert link.startswith(app + "lab?")
    shared, own = (dict(parse_qsl(urlsplit(address).query)) for address in (link, page.url))
    assert shared.pop("run") == own.pop("run")
    assert from_query(shared) == from_query(own) == (PRESETS["three-back"].config.replace(**LONG, n_layers=1), [])
    page.keyboard.press("Escape")

    # The link finds the run again, in a second tab as after a reload, and both follow it.
    second = open_page(link.removeprefix(app), "Lab")
    until_step(second, paused + 1)
    expect(second.get_by_role("spinbutton", name="Heads")).to_have_value("4")
    button(page, "Resume").click()
    second.locator(".board .badge").get_by_text("Training").wait_for()
    for tab in (page, second):
        until_step(tab, paused + 20)
    button(page, "Stop").click()
    for tab in (page, second):
        tab.get_by_text("Stopped").first.wait_for()
    second.close()
    button(page, "Reset").click()
    page.locator(".board .badge").get_by_text("Paused").wait_for()
    until(page, "Number(plot.dataset.step ?? 0) === 0")
    button(page, "Stop").click()
    page.get_by_text("Stopped").first.wait_for()
