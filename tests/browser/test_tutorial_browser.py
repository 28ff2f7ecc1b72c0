import re

import pytest

from engine.experiments.lessons import LESSONS, TUTORIAL
from engine.settings.fields import to_text
from tests.browser.conftest import PHONE, PROJECTOR, Open, button, expect, fits_the_width, in_view, settled

STEPS = LESSONS[TUTORIAL].steps
# the steps that are also opened on a phone, and the one whose answers are pictures, which is also reloaded
ON_A_PHONE, OF_PICTURES = (1, 3), 4
FIGURES = ".board article:not([hidden])"


@pytest.mark.thorough
def test_six_steps_are_guessed_trained_and_answered_and_lead_into_the_lab(open_page: Open) -> None:
    page = open_page("story", STEPS[0].title, PROJECTOR)
    for number, step in enumerate(STEPS, 1):
        guide = step.guide
        assert guide is not None
        page.get_by_role("heading", name=step.title, exact=True).wait_for()
        third_figure = page.locator(FIGURES).nth(2)
        third_figure.wait_for(state="detached")  # the sequence, and one figure
        if number in ON_A_PHONE:
            page.set_viewport_size(PHONE)
            page.get_by_test_id("stMain").evaluate("(main) => main.scrollTo(0, 0)")
            in_view(button(page, "Train"))
            fits_the_width(page)
            if guide.figure == "samples":
                symbols = page.locator(".board .list:has(td)")
                assert symbols.evaluate("(list) => list.scrollWidth <= list.clientWidth"), "every symbol is in sight"
            page.set_viewport_size(PROJECTOR)
        for picture in page.locator(".answer-pictures img").all() if number == OF_PICTURES else ():
            in_view(picture)
            shown = "(image) => image.complete && image.naturalWidth > 0"
            page.wait_for_function(shown, arg=picture.element_handle())
        words = guide.answers[number == OF_PICTURES]
        page.get_by_role("radio", name=words, exact=True).click()
        settled(page)  # while a step is replaced by the next one, the buttons of both are there
        button(page, "Train").click()
        guesses = page.locator(".st-key-guided-words").get_by_text("You said:")
        guesses.get_by_text(words).wait_for()
        page.get_by_text(guide.leads_to).wait_for()
        page.locator(".board .badge").get_by_text("Finished").wait_for()
        if number == OF_PICTURES:
            page.reload()  # neither the guess nor the run is lost
            guesses.get_by_text(words).wait_for()
            page.locator(".board .badge").get_by_text("Finished").wait_for()
        last = button(page, "Next step" if number < len(STEPS) else "Open the lab")
        in_view(button(page, "Train"), page.locator(FIGURES).last, guesses, page.get_by_text(guide.leads_to), last)
        third_figure.wait_for(state="detached")
        if guide.figure == "heads":
            title = "One head" if step.config.n_layers * step.config.n_heads == 1 else "Attention, every head"
            expect(page.locator(FIGURES).last).to_have_attribute("aria-label", title)
        assert f"step={number}" in page.url
        last.click()
    page.get_by_text("Are distances in the weights enough?").wait_for(state="detached")
    page.wait_for_url(re.compile(f"shaw_values={to_text(False)}"))
    page.locator(".st-key-lab-settings").wait_for()
