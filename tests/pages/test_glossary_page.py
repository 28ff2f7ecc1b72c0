import re
from pathlib import Path

from streamlit.testing.v1 import AppTest

from engine.foundation.glossary import TERMS
from pages.parts.app.frame import SEARCH
from pages.parts.boards.live.board import TITLES
from tests.pages.looking import Open


def headings(app: AppTest) -> list[str]:
    return [box.value for box in app.header if box.value != "All terms"]


def test_a_link_opens_the_drawer_at_its_term_one_to_none_is_searched_for_in_names_and_texts(open_page: Open) -> None:
    app = open_page("start.py", term="mask")
    assert "term" not in app.query_params
    assert app.title[0].value == "Attention Lab"
    assert headings(app)[0] == TERMS["mask"].name
    assert headings(app)[1:] == sorted((term.name for term in TERMS.values() if term.slug != "mask"), key=str.casefold)

    app = open_page("start.py", term="zork")
    assert "No term contains `zork`." in app.info[0].value
    app = open_page("start.py", term="from the future")
    assert app.text_input(key=SEARCH).value == "from the future"
    assert headings(app) == [TERMS["causal"].name]


def test_every_way_leads_to_a_term(open_page: Open) -> None:
    assert {term for _, term in TITLES.values()} <= set(TERMS)
    for path in Path("pages").rglob("*.py"):
        for slug in re.findall(r'\bterm="([a-z_-]+)"', path.read_text()):
            assert slug in TERMS, (path, slug)
    app = open_page("lab.py")
    assert "glossary?term=layer" in app.number_input(key="set.n_layers").help
