"""The story in a real browser: six steps, each guessed, trained and answered on one screen, and at the end the lab."""

import re

import pytest

from engine.experiments.story import STEPS
from engine.settings.fields import to_text
from tests.browser.conftest import PHONE, PROJECTOR, Open, button, expect, fits_the_width, in_view, settled

ON_A_PHONE, OF_PICTURES = (1, 3), 4
"""The steps that are also looked at on a phone, and the one whose answers are pictures, which is also reloaded."""
FIGURES = ".board article:not([hidden])"


@pytest.mark.thorough
def test_six_steps_are_guessed_trained_and_answered_and_lead_into_the_lab(open_page: Open) -> None:
    page = open_page("story", STEPS[0].title, PROJECTOR)
    for number, step in enumerate(STEPS, 1):
        page.get_by_role("heading", name=step.title, exact=True).wait_for()
        third_figure = page.locator(FIGURES).nth(2)
        third_figure.wait_for(state="detached")  # the sequence, and one figure
        if number in ON_A_PHONE:
            page.set_viewport_size(PHONE)
            page.get_by_test_id("stMain").evaluate("(main) => main.scrollTo(0, 0)")
            in_view(button(page, "Train"))
            fits_the_width(page)
            if step.figure == "samples":
                symbols = page.locator(".board .list:has(td)")
                assert symbols.evaluate("(list) => list.scrollWidth <= list.clientWidth"), "every symbol is in sight"
            page.set_viewport_size(PROJECTOR)
        for picture in page.locator(".story-pictures img").all() if number == OF_PICTURES else ():
            in_view(picture)
            shown = "(image) => image.complete && image.naturalWidth > 0"
            page.wait_for_function(shown, arg=picture.element_handle())
        words = step.answers[number == OF_PICTURES]
        page.get_by_role("radio", name=words, exact=True).click()
        settled(page)  # while a step is replaced by the next one, the buttons of both are there
        button(page, "Train").click()
        said = page.locator(".st-key-story-words").get_by_text("You said:")
        said.get_by_text(words).wait_for()
        page.get_by_text(step.leads_to).wait_for()
        page.locator(".board .badge").get_by_text("Finished").wait_for()
        if number == OF_PICTURES:
            page.reload()
            said.get_by_text(words).wait_for()
            page.locator(".board .badge").get_by_text("Finished").wait_for()
        last = button(page, "Next" if number < len(STEPS) else "What you learned")
        in_view(button(page, "Train"), page.locator(FIGURES).last, last)
        third_figure.wait_for(state="detached")
        if step.figure == "heads":
            config = step.config(step.first)
            title = "One head" if config.n_layers * config.n_heads == 1 else "Attention, every head"
            expect(page.locator(FIGURES).last).to_have_attribute("aria-label", title)
        assert f"step={number}" in page.url or number == 1
        last.click()
    end = page.get_by_role("dialog")
    expect(end.get_by_text("not tried yet.")).to_have_count(OF_PICTURES - 1)  # a reload begins a new session
    taught = [lesson for step in STEPS[OF_PICTURES - 1 :] for lesson in step.lessons]
    expect(end.get_by_text(re.compile("|".join(map(re.escape, taught))))).to_have_count(len(STEPS) - OF_PICTURES + 1)
    fits_the_width(page)
    end.get_by_role("link", name="Open the lab with these settings").click()
    page.wait_for_url(re.compile(r"/lab\?"))
    page.wait_for_url(re.compile(f"family={to_text(STEPS[-1].first)}|pos_encoding={STEPS[-1].base['pos_encoding']}"))
    button(page, "Train").wait_for()
    expect(page.get_by_text("Press Train")).to_have_count(1)  # the lab shows no run of the story
