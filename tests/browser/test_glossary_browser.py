"""The glossary in a real browser: a "?" of the lab leads to its term, the search narrows, a phone holds it."""

from __future__ import annotations

from engine.experiments.issues import ISSUES
from engine.foundation.glossary import TERMS
from tests.browser.conftest import PHONE, Open


def test_a_link_to_a_term_and_a_search_on_a_phone(open_page: Open) -> None:
    page = open_page("glossary?term=mask", "Glossary", PHONE)
    terms = page.locator("[class*='st-key-term-']")
    terms.first.get_by_text(TERMS["mask"].name, exact=True).first.wait_for()
    page.locator(".katex").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_role("textbox", name="Search").fill("copies the answer")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll(\"[class*='st-key-term-']\").length === 1")
    assert terms.first.get_by_text(TERMS["causal"].name, exact=True).count() == 1


def test_a_word_of_an_explanation_opens_its_term_in_place(open_page: Open) -> None:
    page = open_page("issues?issue=missing-skips", ISSUES["missing-skips"].title)
    page.get_by_text("Why", exact=True).click()
    page.locator("a[href$='glossary?term=residual']").click()
    page.get_by_role("dialog").get_by_text(TERMS["residual"].text).wait_for()
    assert page.url.endswith("issues?issue=missing-skips")
