import re

from tests.browser.conftest import (
    PHONE,
    PROJECTOR,
    Open,
    expect,
    figure,
    fits_the_width,
    in_view,
    settled,
    wait_for_plot,
)


def test_dial_sentences_and_figures_stand_on_one_screen_and_follow_a_move(open_page: Open) -> None:
    page = open_page("depth?skips=false&mlp=false&depth=4", "What does depth alone do?", PROJECTOR)
    shown = [figure(page, f"depth.{name}") for name in ("roll_out", "token_share", "first_token", "gradient")]
    sentences = [panel.locator("div.lines") for panel in shown]

    def stand_at(depth: int) -> None:
        for sentence in sentences[:2]:  # the others name no depth
            expect(sentence).to_contain_text(re.compile(f"{depth} layers"))
        page.wait_for_url(re.compile(f"depth={depth}"))

    stand_at(4)
    for viewport, panels, key, depth in ((PROJECTOR, 4, "ArrowRight", 8), (PHONE, 1, "ArrowLeft", 4)):
        page.set_viewport_size(viewport)
        before = int(wait_for_plot(page, "depth.token_share").get_attribute("data-draws"))
        page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
        settled(page)
        page.get_by_role("slider", name="Layers").press(key)
        stand_at(depth)
        wait_for_plot(page, "depth.token_share", before + 1)
        page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
        plots = [panel.locator(".plot") for panel in shown]
        in_view(page.locator(".st-key-depth-dial"), *sentences[:panels], *plots[:panels])
        fits_the_width(page)
