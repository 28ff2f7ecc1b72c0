"""Ways between pages: the bar, Back and Forward of the browser, and the menu of a phone."""

import pytest

from engine.experiments import issues
from pages.parts.app.frame import PAGES
from tests.browser.conftest import PHONE, Open, eventually, expect, more, settled

CHANGES = ("ALiBi", "FIRE", "T5 bias")
SETTINGS = {"lab?v=1&n_layers=2": "Positional encoding", "encodings": "Encoding A"}
ISSUES = [issues.ISSUES[slug].title for slug in ("missing-mask", "missing-skips")]
MAP = "What goes wrong?"
DESKTOP_SITE = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36"
"""What a phone calls itself where its reader asks for the desktop site."""
PHONES = {
    "phone": DESKTOP_SITE.replace("X11; Linux x86_64", "Linux; Android 16; Pixel 9").replace("Safari", "Mobile Safari"),
    "desktop site": DESKTOP_SITE,
}

PAINTED = """expected => {
  const links = [...document.querySelectorAll('[data-testid=stTopNavLink]')];
  const painted = links.map(link => !['transparent', 'rgba(0, 0, 0, 0)'].includes(getComputedStyle(link).backgroundColor));
  return JSON.stringify(painted) === JSON.stringify(expected);
}"""
"""JavaScript: whether exactly the expected entries of the bar have a background, one truth value for each entry."""


@pytest.mark.parametrize("path", SETTINGS)
def test_back_leaves_a_page_however_often_it_was_changed_and_forward_returns_to_what_was_set(
    open_page: Open, app: str, path: str
) -> None:
    page = open_page("notebooks", "Notebooks")
    settled(page)
    page.goto(app + path)
    box = page.get_by_role("combobox", name=SETTINGS[path], exact=True)
    for option in CHANGES:
        box.click()
        page.get_by_role("option", name=option, exact=True).click()
        expect(box).to_have_value(option)
        settled(page)
    last = page.url
    assert "=t5_bias" in last
    page.go_back()
    page.wait_for_url(f"{app}notebooks")
    page.get_by_role("heading", name="Notebooks", exact=True).wait_for()
    page.go_forward()
    page.wait_for_url(last)
    expect(box).to_have_value(CHANGES[-1])


def test_back_leads_from_an_issue_to_the_map_whatever_was_set_and_to_the_issue_before(open_page: Open) -> None:
    page = open_page("questions", MAP)

    def at(heading: str) -> None:
        page.get_by_role("heading", name=heading, exact=True).wait_for()
        settled(page)

    for heading in ISSUES:
        page.get_by_role("link", name=heading, exact=True).first.click()
        at(heading)
        page.get_by_role("radio", name="How measured").click()
        before = page.url
        page.get_by_text("Extended", exact=True).click()
        page.wait_for_url(lambda now, before=before: now != before)
        settled(page)
        page.get_by_role("link", name="Questions", exact=True).click()
        at(MAP)
    for heading in (ISSUES[1], MAP, ISSUES[0], MAP):
        page.go_back()
        at(heading)
    page.go_forward()
    at(ISSUES[0])


@pytest.mark.thorough
def test_the_bar_has_one_row_marks_the_page_and_an_earlier_address_leads_on(open_page: Open, app: str) -> None:
    page = open_page("memory-and-time?d_model=32", "Cost")
    page.wait_for_url(f"{app}cost?d_model=32")
    links = page.get_by_test_id("stTopNavLink")
    titles = [link.strip() for link in links.locator("span[label]").all_inner_texts()]
    assert titles == [page.title for page in PAGES if page.icon]
    assert len({box["y"] for box in (link.bounding_box() for link in links.all())}) == 1
    # The color fades in: it is waited for.
    page.wait_for_function(PAINTED, arg=[title == "Cost" for title in titles])
    links.nth(titles.index("Teach")).focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{app}teach")


@pytest.mark.parametrize("kind", PHONES)
def test_the_menu_of_a_phone_closes_when_a_place_is_chosen_and_stays_closed(open_page: Open, kind: str) -> None:
    page = open_page("", viewport=PHONE, has_touch=True, is_mobile=True, user_agent=PHONES[kind])
    opened, drawer = page.get_by_test_id("stExpandSidebarButton"), page.get_by_test_id("stSidebarNav")
    for place in (PAGES[1], PAGES[0]):
        opened.tap()
        drawer.get_by_role("link", name=place.title, exact=True).tap()
        expect(drawer).not_to_be_in_viewport()
        settled(page)
        expect(drawer).not_to_be_in_viewport()
    page.reload()
    opened.wait_for()
    settled(page)
    eventually(page, lambda: expect(drawer).not_to_be_in_viewport())


def test_a_link_can_be_copied_on_plain_http_where_browsers_have_no_clipboard(open_page: Open) -> None:
    hidden = "Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined })"
    listening = "addEventListener('copy', () => { window.copied = document.activeElement.value }, true)"
    page = open_page("lab", before=lambda page: page.add_init_script(f"{hidden}; {listening}"))
    settled(page)
    more(page).get_by_role("button", name="Share").click()
    link = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").first
    link.hover()
    link.get_by_role("button", name="Copy to clipboard").click()
    link.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("copied") == link.inner_text()
