"""The whole app in a real browser, as a student meets it: real server, real workers, real training."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from engine.config.run_config import RunConfig
from tests.browser.conftest import (
    PHONE,
    PROJECTOR,
    WIDE,
    Open,
    button,
    expect,
    fits_the_width,
    go,
    in_view,
    more,
    settled,
)


def controls_in_sight(page: Any) -> None:
    """The main controls without scrolling, and nothing wider than the screen."""
    in_view(*(page.get_by_role("spinbutton", name=name) for name in ("Depth", "Heads", "Length")))
    in_view(page.get_by_role("button", name="Train"))
    fits_the_width(page)


def holding_scripts(held: list[Any]) -> Callable[[Any], None]:
    """A board's script stays on its way: its route is put into the list."""
    return lambda page: page.route("**/boards/*.js", lambda route: held.append(route))


def test_from_the_button_of_the_start_page_to_an_empty_link_that_trains_to_a_finding(open_page: Open) -> None:
    page = open_page("", "Attention Lab", PROJECTOR)
    picture, door = page.locator("article.stack"), page.get_by_role("link", name=re.compile("^Lab:"))
    picture.get_by_text("0 of 6 right, untrained.").wait_for()
    expect(page.get_by_role("link", name="Lab", exact=True)).to_have_count(1)
    in_view(button(page, "Train it yourself"), picture, door)
    height = picture.bounding_box()["height"]
    assert height > 0.6 * PROJECTOR["height"], "the picture is the page"
    button(page, "Train it yourself").click()
    picture.get_by_text("6 of 6 right").wait_for()
    button(page, "Cut the dashed lines").click()
    picture.get_by_text(re.compile("^[0-4] of 6 right")).wait_for()
    button(page, "Swap two digits").click()
    picture.get_by_text("Symbols 1 and 6 have changed places: 2 of 6 answers changed").wait_for()
    in_view(picture, door)
    assert picture.bounding_box()["height"] == height, "nothing has moved"
    page.set_viewport_size(PHONE)
    page.get_by_test_id("stMain").evaluate("(main) => main.scrollTo(0, 0)")
    in_view(button(page, "On to the six steps"), picture, door)
    fits_the_width(page)

    # An empty link is the default; on a phone too the controls are in sight.
    go(page, "lab")
    page.get_by_text("Press Train").first.wait_for()
    expect(page.get_by_role("spinbutton", name="Length")).to_have_value(str(RunConfig().seq_len))
    assert "?" not in page.url
    controls_in_sight(page)
    page.set_viewport_size(WIDE)
    expect(page.get_by_role("link", name="Lab", exact=True)).to_have_count(1)
    controls_in_sight(page)

    training = more(page).locator("details").filter(has_text="Training")
    training.locator("summary").click()
    training.get_by_role("spinbutton", name="Steps", exact=True).fill("120")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("steps=120"))
    button(page, "Train").click()
    page.get_by_text("answers on new sequences were right (second-half accuracy)").wait_for()
    page.locator(".board .badge").get_by_text("Finished").wait_for()
    untrue = page.locator(".waiting:visible").filter(has_text=re.compile("untrained|waiting"))
    expect(untrue).to_have_count(0)  # below the screen neither
    page.locator("article.stack .score").get_by_text(re.compile(r"\d+ of \d+ right")).wait_for()


@pytest.mark.thorough
def test_train_pressed_before_the_boards_script_is_there_is_followed(open_page: Open) -> None:
    # The browser may answer the two calls that wait for the script in either order: four pages meet both.
    for steps in (5, 6, 7, 8):
        held = list[Any]()
        page = open_page(f"lab?steps={steps}", before=holding_scripts(held))
        button(page, "Train").click()
        page.wait_for_url("**run=*")
        settled(page)
        for route in held:
            route.continue_()
        page.locator(".board .badge[data-state=finished]").wait_for()
