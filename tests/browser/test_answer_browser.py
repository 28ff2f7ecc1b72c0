"""The answer in a real browser: its marks open their stages in place, and nothing is wider than a phone."""

from typing import Any

from engine.experiments.answer import ANSWER, statements
from engine.experiments.issues import ISSUES
from tests.browser.conftest import PHONE, PROJECTOR, Open, expect, fits_the_width, in_view, settled

TITLE = "The question, answered"


def links_of(page: Any, slug: str) -> Any:
    return page.locator(f'.st-key-answer a[href$="issue={slug}"]')


def arrives(page: Any, title: str) -> None:
    page.get_by_role("heading", name=title, exact=True).wait_for()


def short_answer_is_in_sight_and_leads_on(page: Any) -> None:
    short = page.locator(".st-key-answer ul").first.get_by_role("listitem")
    expect(short).to_have_count(len(ANSWER))
    last = ANSWER.index(next(section for section in reversed(ANSWER) if section.lead is not None))
    shown = short.last if page.viewport_size["width"] > 1000 else short.nth(last - 1)
    in_view(shown)
    page.get_by_role("link", name=ANSWER[2].heading, exact=True).click()
    heading = page.get_by_role("heading", name=ANSWER[2].heading, exact=True)
    page.wait_for_function("(node) => node.getBoundingClientRect().top < 200", arg=heading.element_handle())
    assert len(page.context.pages) == 1


def test_marks_open_their_stages_in_place_by_mouse_and_keyboard_and_the_browser_leads_back(open_page: Open) -> None:
    page = open_page("answer", "", PROJECTOR)
    links_of(page, "no-encoding").first.focus()
    page.keyboard.press("Enter")  # at the first moment, when the page does not listen yet
    arrives(page, ISSUES["no-encoding"].title)
    assert len(page.context.pages) == 1
    page.go_back()
    arrives(page, TITLE)

    page.get_by_role("heading", level=2).last.wait_for()
    short_answer_is_in_sight_and_leads_on(page)

    links_of(page, "data-hunger").first.click()
    arrives(page, ISSUES["data-hunger"].title)
    assert "issues?issue=data-hunger" in page.url
    assert len(page.context.pages) == 1
    page.go_back()
    arrives(page, TITLE)

    with page.context.expect_page() as new:
        links_of(page, "heads").first.click(modifiers=["ControlOrMeta"])
    new.value.wait_for_url("**/issues?issue=heads")
    assert page.get_by_role("heading", name=TITLE, exact=True).is_visible(), "with a key held down a mark stays a link"


def test_on_a_phone_a_mark_followed_early_leads_on_and_nothing_is_wider(open_page: Open) -> None:
    page = open_page("answer#issue=heads", "", PHONE)  # so a mark is followed before the page listens
    arrives(page, ISSUES["heads"].title)
    page.go_back()
    arrives(page, TITLE)
    assert "#" not in page.url, "the way back leads to the page, and not on from it again"
    page.get_by_role("heading", level=2).last.wait_for()
    for slug in {told.issue for told in statements(ANSWER)}:
        links_of(page, slug).first.wait_for()
    fits_the_width(page)
    tabs_leave_the_glossary_in_sight(page)
    short_answer_is_in_sight_and_leads_on(page)
    page.get_by_role("navigation", name="What goes wrong").get_by_role("link", name="Memory and time").click()
    arrives(page, "Memory and time")
    tabs_leave_the_glossary_in_sight(page)


def tabs_leave_the_glossary_in_sight(page: Any) -> None:
    button = page.get_by_role("button", name="Glossary", exact=True)
    button.wait_for()
    settled(page)
    box = button.bounding_box()
    assert box["x"] + box["width"] <= PHONE["width"]
    links = page.get_by_role("navigation", name="What goes wrong").get_by_role("link")
    boxes = [link.bounding_box() for link in links.all()]
    assert all(one["x"] + one["width"] <= two["x"] + 1 for one, two in zip(boxes, [*boxes[1:], box], strict=True))
