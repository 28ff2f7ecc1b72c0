import re

import pytest

from tests.browser.conftest import PHONE, PROJECTOR, Open, drawn, expect, figure, fits_the_width, in_view


@pytest.mark.parametrize(("viewport", "panels"), [(PROJECTOR, 4), (PHONE, 1)], ids=["projector", "phone"])
def test_dial_sentences_and_figures_stand_on_one_screen_and_follow_a_move(
    open_page: Open, viewport: dict[str, int], panels: int
) -> None:
    page = open_page("depth?skips=false&mlp=false&depth=4", "What does depth alone do?", viewport)
    names = ("roll_out", "token_share", "first_token", "gradient")[:panels]
    shown = [figure(page, f"depth.{name}") for name in names]
    sentences = [panel.locator("div.lines") for panel in shown]
    for sentence in sentences:
        expect(sentence).to_contain_text(re.compile("4 layers"))
    before = int(drawn(page, "depth.token_share").get_attribute("data-draws"))
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    slider = page.get_by_role("slider", name="Layers")
    slider.press("ArrowRight")
    for sentence in sentences:
        expect(sentence).to_contain_text(re.compile("8 layers"))
    page.wait_for_url(re.compile("depth=8"))
    drawn(page, "depth.token_share", before + 1)
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    in_view(page.locator(".st-key-depth-dial"), *sentences, *(panel.locator(".plot") for panel in shown))
    fits_the_width(page)
