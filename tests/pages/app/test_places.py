"""The places of the bar: each page stands in one of them, and keeps its own address."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from engine.foundation.glossary import TERMS
from pages.parts.app.frame import FIRST, PLACES, UNLISTED, View, place_at
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
    assert [place_at(view.address) for view in UNLISTED] == [None] * 3


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.address)
def test_a_page_has_the_tabs_of_its_place(open_page: Open, view: View) -> None:
    place = next(place for place in PLACES if view in place.views)
    app = open_page(view.file)
    alone = len(place.views) == 1 or view is FIRST
    assert tabs(app) == ({} if alone else {one.title: one.address for one in place.views})
    assert "Glossary" in labels(app)


def test_the_glossary_opens_on_any_page(open_page: Open) -> None:
    app = press(open_page("notebooks.py"), "Glossary")
    assert {term.name for term in TERMS.values()} <= {box.value for box in app.header}
    assert app.title[0].value == "Notebooks", "the page is still there"
