import pytest

from engine.experiments import issues
from pages.parts.app.frame import PAGES
from tests.browser.conftest import PHONE, Open, eventually, expect, settled

CHANGES = ("ALiBi", "T5 bias")
ISSUE = issues.ISSUES["missing-mask"].title
MAP = "What goes wrong?"
# the name that a phone gives itself if its reader asks for the desktop site
DESKTOP_SITE = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36"
PHONES = {
    "phone": DESKTOP_SITE.replace("X11; Linux x86_64", "Linux; Android 16; Pixel 9").replace("Safari", "Mobile Safari"),
    "desktop site": DESKTOP_SITE,
}

# JavaScript: true if exactly the expected entries of the bar have a background
PAINTED = """expected => {
  const links = [...document.querySelectorAll('[data-testid=stTopNavLink]')];
  const painted = links.map(link => !['transparent', 'rgba(0, 0, 0, 0)'].includes(getComputedStyle(link).backgroundColor));
  return JSON.stringify(painted) === JSON.stringify(expected);
}"""


def test_back_leaves_a_page_or_question_however_often_it_was_changed_and_forward_returns_to_what_was_set(
    open_page: Open, app: str
) -> None:
    page = open_page("notebooks", "Notebooks")
    settled(page)
    page.goto(f"{app}lab?v=1&n_layers=2")
    encoding = page.get_by_role("combobox", name="Positional encoding", exact=True)
    for option in CHANGES:
        encoding.click()
        page.get_by_role("option", name=option, exact=True).click()
        expect(encoding).to_have_value(option)
        settled(page)
    lab = page.url
    assert "=t5_bias" in lab

    def at(heading: str) -> None:
        page.get_by_role("heading", name=heading, exact=True).wait_for()
        settled(page)

    def follow(link: str, heading: str) -> None:
        page.get_by_role("link", name=link, exact=True).first.click()
        at(heading)

    follow("Questions", MAP)
    follow(ISSUE, ISSUE)
    page.get_by_role("radio", name="Method").click()
    page.get_by_text("Extended", exact=True).click()
    page.wait_for_url(lambda now: "extended=" in now)
    settled(page)
    question = page.url
    follow("Questions", MAP)
    for heading in (ISSUE, MAP):
        page.go_back()
        at(heading)
    page.go_back()
    page.wait_for_url(lab)
    expect(encoding).to_have_value(CHANGES[-1])
    page.go_back()
    page.wait_for_url(f"{app}notebooks")
    at("Notebooks")
    page.go_forward()
    page.wait_for_url(lab)
    expect(encoding).to_have_value(CHANGES[-1])
    settled(page)
    page.go_forward()
    at(MAP)
    page.go_forward()
    at(ISSUE)
    page.wait_for_url(question)


def test_the_menu_of_a_phone_closes_when_a_place_is_chosen_and_stays_closed(open_page: Open) -> None:
    for kind in PHONES:
        page = open_page("notebooks", viewport=PHONE, has_touch=True, is_mobile=True, user_agent=PHONES[kind])
        opened, drawer = page.get_by_test_id("stExpandSidebarButton"), page.get_by_test_id("stSidebarNav")
        opened.tap()
        drawer.get_by_role("link", name="Teach", exact=True).tap()
        expect(drawer).not_to_be_in_viewport()
        settled(page)
        expect(drawer).not_to_be_in_viewport()
    page.reload()  # where it is our script that closed it
    opened.wait_for()
    settled(page)
    eventually(page, lambda: expect(drawer).not_to_be_in_viewport())


@pytest.mark.thorough
def test_the_bar_has_one_row_marks_the_page_and_an_earlier_address_leads_on(open_page: Open, app: str) -> None:
    page = open_page("memory-and-time?d_model=48", "Cost")
    page.wait_for_url(f"{app}cost?d_model=48")
    links = page.get_by_test_id("stTopNavLink")
    titles = [link.strip() for link in links.locator("span[label]").all_inner_texts()]
    assert titles == [page.title for page in PAGES if page.icon]
    assert len({box["y"] for box in (link.bounding_box() for link in links.all())}) == 1
    # The color fades in: it is waited for.
    page.wait_for_function(PAINTED, arg=[title == "Cost" for title in titles])
    links.nth(titles.index("Teach")).focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{app}teach")


def test_a_page_that_went_blank_is_loaded_again_and_not_for_ever(open_page: Open) -> None:
    page = open_page("notebooks", "Notebooks")
    settled(page)
    empty = "() => { window.isOld = true; document.getElementById('root').replaceChildren() }"
    page.evaluate(empty)
    page.get_by_role("heading", name="Notebooks", exact=True).wait_for()
    assert page.evaluate("() => window.isOld") is None
    settled(page)
    page.evaluate(empty)
    page.wait_for_timeout(1000)  # what must not happen has no state to wait for
    assert page.evaluate("() => window.isOld") is True
