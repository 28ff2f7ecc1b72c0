"""Each element of Streamlit's that a style or a script names is on some page: an update that renames one fails here."""

import re

import pytest

from pages.parts.app.frame import FOLDER
from tests.browser.conftest import PHONE, Open, go, more

FILES = ("streamlit.css", "streamlit.js")
# JavaScript: remembers the names of all elements that are ever on the page, also of those that a loaded field replaces
NOTE = """() => {
  window.seen = new Set()
  const note = (node) => {
    for (const one of [node, ...node.querySelectorAll("*")]) {
      for (const { name, value } of one.attributes) if (/^data-/.test(name)) window.seen.add(name === "data-testid" ? value : name)
      for (const name of one.classList) if (/^st[A-Z]/.test(name)) window.seen.add("." + name)
    }
  }
  new MutationObserver((changes) => {
    for (const { target, addedNodes, attributeName } of changes) {
      if (attributeName) window.seen.add(attributeName)
      for (const node of addedNodes) if (node instanceof Element) note(node)
    }
  }).observe(document, { childList: true, subtree: true, attributeFilter: ["data-stale", "data-disabled", "data-variant"] })
}"""


# the element to wait for on each page, by its address: with the lab, these have all names
VISITED = {"questions?issue=missing-mask": "stButtonGroup", "cost": "stTable"}


def names() -> set[str]:
    """``stMain``, ``.stApp``, ``data-stale`` ...: test ids, classes and attributes."""
    text = "".join((FOLDER / file).read_text("utf-8") for file in FILES)
    ids = re.findall(r'data-testid="?(\w+)', text)
    return {*ids, *re.findall(r"(\.st[A-Z]\w+)", text), *re.findall(r"(data-(?!testid)[a-z-]+)", text)}


@pytest.mark.thorough
def test_each_name_is_on_a_page(open_page: Open) -> None:
    page = open_page("lab?preset=next-word", before=lambda page: page.add_init_script(f"({NOTE})()"))
    page.get_by_test_id("stGrid").first.wait_for()
    page.get_by_role("button", name="How", exact=True).click()
    page.get_by_test_id("stSliderThumbValue").wait_for()
    page.keyboard.press("Escape")
    more(page).get_by_role("button", name="Share").click()
    page.get_by_test_id("stCode").first.wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Glossary").click()
    page.get_by_role("dialog").get_by_role("heading", level=2).first.wait_for()
    page.keyboard.press("Escape")
    for path, last in VISITED.items():
        go(page, path)
        page.get_by_test_id(last).first.wait_for()
    page.set_viewport_size(PHONE)
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebarNavLink").first.wait_for()
    assert names() - set(page.evaluate("() => [...window.seen]")) == set()
