"""The whole app in a real browser, as a student meets it: real server, real workers, real training."""

from __future__ import annotations

import re
from typing import Any

import pytest

from engine.config.link import from_query
from engine.config.presets import PRESETS
from engine.config.run_config import RunConfig
from tests.browser.conftest import PHONE, WIDE, Open, has_count, has_value

PROJECTOR = {"width": 1280, "height": 720}
LONG = "steps=20000&seq_len=8"
"""A run that is still going when the test looks at it."""


@pytest.fixture(scope="module")
def app(serve: Any) -> str:
    """A server of its own: these tests leave runs going."""
    address: str = serve("app.py", ATTENTION_LAB_WORKERS="1")
    return address


@pytest.fixture
def open_lab(open_page: Open) -> Open:
    """Open an address of the lab, or of the start page; returns once its button is there."""

    def open_it(path: str = "lab", viewport: dict[str, int] = WIDE, **context: Any) -> Any:
        page = open_page(path, "", viewport, **context)
        page.get_by_role("button", name="Train" if path.startswith("lab") else "Open the lab").wait_for()
        return page

    return open_it


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


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
    shown: list[float] = loss(page).evaluate("(plot) => plot._fullLayout.xaxis.range")
    return shown


def until(page: Any, condition: str, argument: Any = None) -> None:
    """Wait until a condition on the loss plot's node holds."""
    page.wait_for_function(
        f"(argument) => {{ const plot = document.querySelector('article.loss .plot') "
        f"?? [...document.querySelectorAll('*')].map((n) => n.shadowRoot?.querySelector('article.loss .plot')).find(Boolean); "
        f"return Boolean(plot) && ({condition}); }}",
        arg=argument,
    )


def until_step(page: Any, least: int) -> None:
    until(page, "Number(plot.dataset.step ?? 0) >= argument", least)


def in_sight(page: Any, viewport: dict[str, int]) -> None:
    """The main controls without scrolling, and nothing wider than the screen."""
    boxes = [page.get_by_role("spinbutton", name=name).bounding_box() for name in ("Depth", "Heads", "Sequence length")]
    boxes.append(page.get_by_role("button", name="Train").bounding_box())
    for box in boxes:
        assert box["y"] + box["height"] <= viewport["height"]
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= viewport["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def shows_step(page: Any, number: str) -> None:
    from playwright.sync_api import expect

    expect(page.locator(".board .facts")).to_have_text(re.compile(rf"^step {number} of"))


@pytest.mark.parametrize("viewport", [PROJECTOR, PHONE], ids=["projector", "phone"])
def test_the_start_page_shows_its_example_at_once_and_tells_its_end_at_the_end(
    open_lab: Open, viewport: dict[str, int]
) -> None:
    page = open_lab("", viewport)
    assert page.get_by_role("link", name="Lab", exact=True).count() == 1
    panels = ("accuracy", "pattern") if viewport is PROJECTOR else ("accuracy",)
    shows_step(page, r"\d+")
    for shown in (page.get_by_text("must write").first, *(page.locator(f"article.{name}") for name in panels)):
        box = shown.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= viewport["height"]
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
    has_count(page.get_by_role("textbox", name="Your own sequence"), 0)
    has_count(page.get_by_text("does the work"), 0)


def test_an_empty_link_is_the_default_and_the_keyboard_alone_trains_to_a_finding(open_lab: Open) -> None:
    page = open_lab("lab")
    page.get_by_text("Press Train").first.wait_for()
    assert page.get_by_role("link", name="Lab", exact=True).count() == 1
    assert page.get_by_role("spinbutton", name="Sequence length").input_value() == str(RunConfig().seq_len)
    assert "?" not in page.url
    in_sight(page, WIDE)

    page.get_by_role("spinbutton", name="Steps").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("120")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("steps=120"))
    for _ in range(24):
        page.keyboard.press("Shift+Tab")  # Train stands above the settings
        if page.evaluate("document.activeElement.innerText").strip().endswith("Train"):
            break
    page.keyboard.press("Enter")
    until_step(page, 1)
    page.get_by_text("Learned: held-out second-half accuracy").wait_for()
    until_step(page, 120)
    page.locator(".board .badge").get_by_text("Finished").wait_for()
    page.locator("article.samples").scroll_into_view_if_needed()
    page.get_by_text(re.compile(r"\d+ of \d+ right")).wait_for()


def test_a_run_is_zoomed_into_paused_stepped_stopped_and_reset(open_lab: Open) -> None:
    page = open_lab(f"lab?{LONG}")
    press(page, "Train")
    until_step(page, 30)

    # Node and zoom survive updates and a rerun of the script.
    loss(page).evaluate("(plot) => { plot.marked = true }")
    box = loss(page).locator(".nsewdrag").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + box["height"] * 0.3)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.7, steps=5)
    page.mouse.up()
    zoomed = x_range(page)
    assert zoomed[0] > 0
    page.get_by_role("spinbutton", name="Depth").fill("2")
    page.keyboard.press("Enter")
    page.get_by_text("Settings changed since this run: Depth 1 → 2").wait_for()
    until_step(page, step(page) + 50)
    assert loss(page).evaluate("(plot) => plot.marked")
    assert x_range(page) == zoomed

    press(page, "Pause")
    page.get_by_role("button", name="Resume", exact=True).wait_for()
    paused = drawn_step(page)
    press(page, "Step")
    until_step(page, paused + 1)
    assert drawn_step(page) == paused + 1, "it stood still, and this was one step"
    press(page, "Resume")
    until_step(page, paused + 20)
    press(page, "Stop")
    page.get_by_text("Stopped").first.wait_for()
    press(page, "Reset")
    page.locator(".board .badge").get_by_text("Paused").wait_for()
    until(page, "Number(plot.dataset.step ?? 0) === 0")
    press(page, "Stop")
    page.get_by_text("Stopped").first.wait_for()


def test_a_reload_finds_its_run_and_the_share_link_brings_it_to_a_second_tab(open_lab: Open, app: str) -> None:
    page = open_lab("lab?preset=three-back&dropout=0.2&steps=20000")
    press(page, "Train")
    until_step(page, 10)
    page.wait_for_url(re.compile("run="))
    page.reload()
    until_step(page, 20)

    press(page, "Share")
    link = page.get_by_test_id("stCode").first.inner_text().strip()
    assert link.startswith(app + "lab?")
    settings = dict(pair.split("=", 1) for pair in link.split("?")[1].replace("%2C", ",").split("&"))
    assert settings.pop("run") in page.url
    config, ignored = from_query(settings)
    assert ignored == []
    assert config == PRESETS["three-back"].config.replace(dropout=0.2, steps=20_000)
    second = open_lab(link.removeprefix(app))
    until_step(second, 30)
    has_value(second.get_by_role("spinbutton", name="Heads"), "4")
    second.locator(".board .badge").get_by_text("Training").wait_for()
    page.keyboard.press("Escape")
    press(page, "Stop")
    second.get_by_text("Stopped").first.wait_for()


def test_a_bad_link_says_what_was_ignored_and_a_run_that_blows_up_says_what_would_have_helped(open_lab: Open) -> None:
    page = open_lab("lab?preset=no-norm&batch_size=0&pos_encoding=zork&steps=44")
    page.get_by_text("batch_size is 0").wait_for()
    page.get_by_text("pos_encoding is zork").wait_for()
    has_value(page.get_by_role("spinbutton", name="Steps"), "44")
    assert page.get_by_text("Press Train").count() == 1
    press(page, "Train")
    page.get_by_text(re.compile(r"Step \d+: .* is no longer finite\. With .* stay finite")).first.wait_for()


def test_on_a_phone_the_controls_are_in_sight_and_a_refusal_is_one_sentence(open_lab: Open) -> None:
    page = open_lab("lab", PHONE)
    in_sight(page, PHONE)
    page.get_by_role("spinbutton", name="Heads").fill("5")
    page.keyboard.press("Enter")
    page.get_by_text("n_heads is 5; allowed is a divisor of d_model 32").wait_for()
    assert page.get_by_role("button", name="Train").is_disabled()
