import pytest

from engine.foundation.glossary import TERMS
from tests.browser.conftest import PHONE, WIDE, Open, button, expect, fits_the_width, in_view, wait_for_plot
from tests.browser.test_axe import violations
from tests.pages.test_lab_text import TEXT


@pytest.mark.thorough
def test_a_pasted_text_from_training_to_writing_into_the_lab_and_the_glossary(open_page: Open) -> None:
    page = open_page("text?steps=40&vocab_size=40", "Lab", PHONE)  # leads to the lab
    panels = (button(page, "Write"), page.locator(".st-key-lab-text-written"))
    tops = [panel.bounding_box()["y"] for panel in panels]
    assert tops == sorted(tops), "on a phone, what is written follows its prompt"
    fits_the_width(page)
    page.set_viewport_size(WIDE)
    in_view(button(page, "Train"), page.get_by_role("textbox", name="Prompt"))
    page.get_by_role("button", name="Shakespeare").click()
    page.get_by_role("textbox", name="Or paste it here").fill(TEXT)
    page.get_by_role("button", name="Use this text").click()
    page.get_by_role("button", name="Your own text").wait_for()
    page.keyboard.press("Escape")
    button(page, "Train").click()
    page.locator(".board .badge").get_by_text("Finished").wait_for()
    page.locator("article.written").scroll_into_view_if_needed()  # a panel is drawn where it is seen
    page.locator("article.written .texts p").first.get_by_text("step 40").wait_for()
    wait_for_plot(page, "loss")
    page.locator("article.loss").get_by_text("Bigram ").wait_for()
    expect(page.locator("article.loss .choice")).to_be_hidden()  # an axis of perplexities is logarithmic as it is
    page.get_by_text("Better than counting?").click()
    page.get_by_text("Perplexity on all held-out text").wait_for()
    button(page, "Write").click()
    page.get_by_text("This run, step 40").first.wait_for()

    # The picture reads the reader's own sentence.
    page.get_by_role("textbox", name="Your own sequence").fill("the dog saw the king")
    page.keyboard.press("Enter")
    page.locator("article.stack [data-reads]").get_by_text("dog").wait_for()
    fits_the_width(page)
    page.set_viewport_size(PHONE)
    assert violations(page) == []
    page.set_viewport_size(WIDE)

    # The sign of a figure opens its term in place.
    wait_for_plot(page, "loss")
    sign = page.get_by_role("link", name="What this means: Perplexity")
    sign.click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_text(TERMS["perplexity"].name, exact=True).first.wait_for()
    assert "/lab" in page.url
    drawer.get_by_role("textbox", name="Search").fill("from the future")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll(\"[role=dialog] [class*='st-key-term-']\").length === 1")
    page.keyboard.press("Escape")
    drawer.wait_for(state="detached")
    with page.context.expect_page() as new:
        sign.click(modifiers=["ControlOrMeta"])
    assert new.value.url.endswith("glossary?term=perplexity"), "with a key held down it stays a link"

    # There the drawer is open at the term, and fits a phone.
    glossary = new.value
    glossary.set_viewport_size(PHONE)
    terms = glossary.locator("[class*='st-key-term-']")
    terms.first.get_by_text(TERMS["perplexity"].name, exact=True).first.wait_for()
    glossary.locator(".katex").first.wait_for()
    fits_the_width(glossary)
    glossary.get_by_role("heading", name="Attention Lab", exact=True).wait_for()
