"""A fragment has a place of its own."""

import re
from pathlib import Path

from streamlit.testing.v1 import AppTest

PAGES = Path(__file__).parents[3] / "pages"


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
