import re
from pathlib import Path

import streamlit as st
from streamlit.testing.v1 import AppTest

from engine.foundation.glossary import TERMS
from pages.parts.app.earlier import EARLIER, redirect
from pages.parts.app.frame import FIRST, PAGES, address_of, file_at, last_received, received
from tests.pages.looking import Open, press

FOLDER = Path(__file__).parents[3] / "pages"


def test_every_page_is_in_the_table_and_the_bar_has_seven() -> None:
    files = {path.name for path in FOLDER.glob("*.py")} - {"__init__.py", "main.py"}
    assert sorted(files) == sorted(page.file for page in PAGES)
    bar = ["Start", "Lab", "Questions", "Teach", "Encodings", "Cost", "Notebooks"]
    assert [page.title for page in PAGES if page.icon] == bar
    assert [file_at(address_of(page.file)) for page in PAGES] == [page.file for page in PAGES]
    assert (file_at(""), address_of(FIRST.file)) == (FIRST.file, "")


def test_every_earlier_address_leads_to_a_page() -> None:
    addresses = {page.address for page in PAGES}
    for address, earlier in EARLIER.items():
        assert address not in addresses
        assert earlier.file in {page.file for page in PAGES}
    for slug, file in {"cost": "cost.py", "quadratic-cost": "cost.py", "heads": EARLIER["issues"].file}.items():
        assert redirect("issues", {"issue": slug}).file == file
    assert redirect("lab", {}) is None


def test_a_link_to_the_attention_page_opens_the_same_head_of_the_same_run_in_the_lab() -> None:
    link = {
        "run": "a1",
        "view": "heads",
        "layer": "2",
        "off": "self.1.2",
        "lesson": "depth",
        "lock": "head",
        "utm_source": "x",
    }
    apart = {"run": "a1", "apart": "heads", "apart.layer": "2", "apart.off": "self.1.2", "lesson": "depth"}
    assert EARLIER["attention"].query(link) == apart
    assert EARLIER["attention"].query({"query": "3"}) == {"apart": "steps", "apart.position": "4"}, "it counted from 0"


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
    before, container, after = app.main.children.values()
    assert (before.value, after.value) == ("before", "after")
    (inside,) = container.children.values()
    assert [text.value for text in inside.children.values()] == ["one", "two"]


def test_every_fragment_of_the_app_is_made_so() -> None:
    making = [file.name for file in FOLDER.rglob("*.py") if re.search(r"\bst\.fragment\b", file.read_text("utf-8"))]
    assert making == ["frame.py"]


def test_no_page_stops_its_script_early() -> None:
    """``st.stop`` would keep the fragments of the script run before: one that is asked to run again then draws at a position that
    does not exist any more."""
    stopping = [file.name for file in FOLDER.rglob("*.py") if re.search(r"\bst\.stop\b", file.read_text("utf-8"))]
    assert stopping == []


KEY = "test.received"


def test_what_no_script_tells_is_no_press() -> None:
    for message in (5, "x", {"number": 1}, [5, "x", {}, {"number": "1"}, {"number": None}]):
        assert received(message, KEY) == []


def test_each_press_is_taken_once_and_in_order_however_often_it_is_told() -> None:
    st.session_state.pop(KEY, None)
    presses = [{"number": number, "key": key} for number, key in ((7, "next"), (8, "next"), (9, "3"))]
    assert (received(None, KEY), last_received(KEY)) == ([], 0)
    assert received(presses[:2], KEY) == presses[:2]
    assert received(presses, KEY) == presses[2:]
    assert (received(presses, KEY), last_received(KEY)) == ([], 9)
