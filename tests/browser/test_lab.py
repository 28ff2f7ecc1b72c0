import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import (
    PATIENCE,
    PHONE,
    PROJECTOR,
    WIDE,
    Open,
    button,
    eventually,
    expect,
    fits_the_width,
    go,
    in_view,
    more,
    settled,
)

LOW = {"width": 1280, "height": 360}
# JavaScript: a browser without a clipboard, which records what is copied in the old way
PLAIN_HTTP = """Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined })
addEventListener('copy', () => { window.copied = document.activeElement.value }, true)"""


def controls_in_sight(page: Any) -> None:
    """Check that the main controls are there without scrolling, and nothing is wider than the screen."""
    in_view(*(page.get_by_role("spinbutton", name=name) for name in ("Depth", "Heads", "Length")))
    in_view(page.get_by_role("button", name="Train"))
    fits_the_width(page)


def holding_scripts(requests: list[Any]) -> Callable[[Any], None]:
    """Keep a board's script on its way: its route is put into the list."""
    return lambda page: page.route("**/boards/*.js", lambda route: requests.append(route))


def test_from_the_button_of_the_start_page_to_a_run_in_the_lab_and_its_copied_link(open_page: Open) -> None:
    page = open_page("", "Attention Lab", PROJECTOR, before=lambda page: page.add_init_script(PLAIN_HTTP))
    picture, door = page.locator("article.stack"), page.get_by_role("link", name=re.compile("^Lab: train"))
    picture.get_by_text("0 of 6 right, untrained.").wait_for()
    expect(page.get_by_role("link", name="Lab", exact=True)).to_have_count(1)
    in_view(button(page, "Train it yourself"), picture, door)
    height = picture.bounding_box()["height"]
    assert height > 0.6 * PROJECTOR["height"], "the picture is the page"
    button(page, "Train it yourself").click()
    picture.get_by_text("6 of 6 right").wait_for()
    button(page, "Cut the dashed lines").click()
    picture.get_by_text(re.compile("^[0-4] of 6 right")).wait_for()
    button(page, "Swap two symbols").click()
    picture.get_by_text("Symbols 1 and 6 are swapped: 2 of 6 answers changed").wait_for()
    in_view(picture, door)
    assert picture.bounding_box()["height"] == height, "nothing has moved"
    page.set_viewport_size(PHONE)
    page.get_by_test_id("stMain").evaluate("(main) => main.scrollTo(0, 0)")
    in_view(button(page, "Go to the six steps"), picture, door)
    fits_the_width(page)

    # On a phone too the lab's controls are in sight.
    go(page, "lab?steps=120")
    page.get_by_text("Press Train").first.wait_for()
    controls_in_sight(page)
    page.set_viewport_size(WIDE)
    expect(page.get_by_role("link", name="Lab", exact=True)).to_have_count(1)
    controls_in_sight(page)

    button(page, "Train").click()
    page.get_by_text("answers on new sequences were right (second-half accuracy)").wait_for()
    page.locator(".board .badge").get_by_text("Finished").wait_for()
    untrue = page.locator(".waiting:visible").filter(has_text=re.compile("untrained|waiting"))
    expect(untrue).to_have_count(0)  # below the screen neither
    page.locator("article.stack .score").get_by_text(re.compile(r"\d+ of \d+ right")).wait_for()

    # More and its groups stay open when a setting in them changes the number in their titles.
    more(page).locator(".st-key-group-Block summary").click()
    button(page, "Today").click()
    expect(button(page, "Today")).to_be_disabled()
    page.get_by_text("More · 4 changed").wait_for()

    # Its link is copied on plain http, where browsers have no clipboard.
    more(page).get_by_role("button", name="Share", exact=True).click()
    link = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").first
    link.hover()
    link.get_by_role("button", name="Copy to clipboard").click()
    link.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("copied") == link.inner_text()

    # In a low window, too, all of it can be reached, wherever its button is.
    page.set_viewport_size(LOW)
    body = page.get_by_test_id("stPopoverBody")
    eventually(page, lambda: in_window(body.bounding_box(), LOW))
    page.get_by_text("All settings as a link and a command").click()
    page.get_by_text(re.compile("python -m engine train")).wait_for()
    eventually(page, lambda: in_window(body.bounding_box(), LOW))


def in_window(box: dict[str, float], window: dict[str, int]) -> None:
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= window["width"]
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= window["height"]


@pytest.mark.thorough
def test_train_pressed_before_the_boards_script_is_there_is_followed(open_page: Open) -> None:
    requests = list[Any]()
    page = open_page("lab?steps=5", before=holding_scripts(requests))
    button(page, "Train").click()
    page.wait_for_url("**run=*")
    settled(page)
    for route in requests:
        route.continue_()
    page.locator(".board .badge[data-state=finished]").wait_for()


def test_where_a_boards_script_cannot_be_loaded_the_place_says_so(chromium: Any, app: str) -> None:
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE)
    page.route("**/boards/*.js", lambda route: route.abort())
    page.goto(app)
    page.get_by_text("This part could not be loaded. Reload the page.").first.wait_for()
    page.close()
