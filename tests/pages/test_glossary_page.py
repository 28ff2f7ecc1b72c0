"""The glossary page, and the ways that lead to it."""

import re
from pathlib import Path

from streamlit.testing.v1 import AppTest

from engine.foundation.glossary import TERMS
from pages.parts.boards.live.board import TERMS as BOARD_TERMS
from pages.parts.boards.live.board import TITLES
from tests.pages.looking import Open


def headings(app: AppTest) -> list[str]:
    return [box.value for box in app.header if box.value != "All terms"]


def test_a_link_shows_its_term_first_one_to_none_says_so_and_search_looks_in_names_and_texts(open_page: Open) -> None:
    app = open_page("glossary.py", term="mask")
    assert headings(app)[0] == TERMS["mask"].name
    assert headings(app)[1:] == sorted((term.name for term in TERMS.values() if term.slug != "mask"), key=str.casefold)
    assert "[A](#accuracy) [B](#batch)" in " ".join(box.value for box in app.markdown), "a link to each letter"

    app = open_page("glossary.py", term="zork")
    assert "`term` is `zork`" in app.warning[0].value
    app.text_input[0].set_value("from the future").run()
    assert headings(app) == [TERMS["causal"].name]
    app.text_input[0].set_value("zork").run()
    assert "zork" in app.info[0].value


def test_every_way_leads_to_a_term(open_page: Open) -> None:
    assert set(BOARD_TERMS) == set(TITLES)
    assert set(BOARD_TERMS.values()) <= set(TERMS)
    for path in Path("pages").rglob("*.py"):
        for slug in re.findall(r'\bterm="([a-z_-]+)"', path.read_text()):
            assert slug in TERMS, (path, slug)
    app = open_page("lab.py")
    assert "glossary?term=layer" in app.number_input(key="set.n_layers").help
