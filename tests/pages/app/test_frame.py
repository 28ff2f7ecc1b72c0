"""Places of the app, fragments of a page, and presses that a script tells."""

import re
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from engine.foundation.glossary import TERMS
from pages.parts.app.frame import FIRST, PLACES, UNLISTED, View, last_received, place_at, received
from tests.pages.looking import Open, labels, press

PAGES = Path(__file__).parents[3] / "pages"
VIEWS = [view for place in PLACES for view in place.views]


def tabs(app: AppTest) -> dict[str, str]:
    """The names and addresses of the tabs, which come before everything that a page links to."""
    addresses = {view.address: view.title for view in VIEWS} | {"": FIRST.title}
    links = [link.proto for link in app.get("page_link")]
    return {link.label: link.page or FIRST.address for link in links if addresses.get(link.page) == link.label}


def test_every_page_of_a_place_stands_in_one_which_its_address_alone_tells() -> None:
    files = {path.name for path in PAGES.glob("*.py")} - {"__init__.py", "main.py"}
    assert sorted(files) == sorted(view.file for view in (*VIEWS, *UNLISTED))
    assert [place.title for place in PLACES] == ["Start", "Lab", "What goes wrong", "Encodings", "Notebooks"]
    assert place_at("memory-and-time") is PLACES[2]
    assert place_at("") is PLACES[0]
    assert [place_at(view.address) for view in UNLISTED] == [None] * 4


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.address)
def test_a_page_has_the_tabs_of_its_place(open_page: Open, view: View) -> None:
    place = next(place for place in PLACES if view in place.views)
    app = open_page(view.file)
    assert tabs(app) == ({} if len(place.views) == 1 else {one.title: one.address for one in place.views})
    assert "Glossary" in labels(app)


def test_the_glossary_opens_on_any_page(open_page: Open) -> None:
    app = press(open_page("notebooks.py"), "Glossary")
    assert {term.name for term in TERMS.values()} <= {box.value for box in app.header}
    assert app.title[0].value == "Notebooks", "the page is still there"


def page() -> None:
    import streamlit as st

    from pages.parts.app.frame import as_fragment

    def draw(first: str, second: str) -> None:
        st.text(first)
        st.text(second)

    st.text("before")
    as_fragment(draw, "one", "two")
    st.text("after")


def test_the_container_that_a_fragment_makes_has_no_neighbours() -> None:
    app = AppTest.from_function(page, default_timeout=300).run()
    before, place, after = app.main.children.values()
    assert (before.value, after.value) == ("before", "after")
    (inside,) = place.children.values()
    assert [text.value for text in inside.children.values()] == ["one", "two"]


def test_every_fragment_of_the_app_is_made_so() -> None:
    making = [file.name for file in PAGES.rglob("*.py") if re.search(r"\bst\.fragment\b", file.read_text("utf-8"))]
    assert making == ["frame.py"]


def test_no_page_stops_its_script_early() -> None:
    """``st.stop`` would keep the fragments of the script run before: one that is asked to run again then draws at a place that is gone."""
    stopping = [file.name for file in PAGES.rglob("*.py") if re.search(r"\bst\.stop\b", file.read_text("utf-8"))]
    assert stopping == []


KEY = "test.received"


def test_what_no_script_tells_is_no_press() -> None:
    for told in (5, "x", {"number": 1}, [5, "x", {}, {"number": "1"}, {"number": None}]):
        assert received(told, KEY) == []


def test_each_press_is_taken_once_and_in_order_however_often_it_is_told() -> None:
    st.session_state.pop(KEY, None)
    presses = [{"number": number, "key": key} for number, key in ((7, "next"), (8, "next"), (9, "3"))]
    assert (received(None, KEY), last_received(KEY)) == ([], 0)
    assert received(presses[:2], KEY) == presses[:2]
    assert received(presses, KEY) == presses[2:]
    assert (received(presses, KEY), last_received(KEY)) == ([], 9)
