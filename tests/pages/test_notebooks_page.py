"""The notebooks page by its widgets and words: overview, steps with stored outputs, links."""

from streamlit.testing.v1 import AppTest

from engine.notebooks import NOTEBOOKS
from pages.parts.app.in_markdown import escaped
from tests.pages.looking import WORDS, Open

NOTEBOOK = NOTEBOOKS["mean-pooling"]


def said(app: AppTest) -> str:
    return " ".join(str(box.value) for kind in (*WORDS, "code") for box in app.get(kind))


def test_the_overview_leads_to_every_notebook_and_so_do_links_that_name_one(open_page: Open) -> None:
    app = open_page("notebooks.py")
    links = {link.proto.query_string for link in app.get("page_link")}
    assert {f"notebook={slug}" for slug in NOTEBOOKS} <= links
    for notebook in NOTEBOOKS.values():
        assert notebook.learns in said(app)

    app = open_page("notebooks.py", notebook=NOTEBOOK.slug)
    assert app.title[0].value == NOTEBOOK.title


def test_each_cell_is_followed_by_what_it_gave_and_nothing_is_run(open_page: Open) -> None:
    app = open_page("notebook.py", notebook=NOTEBOOK.slug)
    code = [cell for cell in NOTEBOOK.cells if cell.kind == "code"]
    blocks = [box.value for box in app.code]
    assert [block for block in blocks if block in {cell.source for cell in code}] == [cell.source for cell in code]
    assert "|Number|given|here|\n|---|---:|---:|" in said(app)
    for cell in code:
        if cell.asserts:
            assert f":green[:material/check_circle:] {escaped(cell.asserts)}" in said(app)
    assert f"Run with {NOTEBOOK.made}." in said(app)
    assert not [button.key for button in app.button if str(button.key).startswith("notebooks.")]


def test_a_link_to_a_play_of_an_earlier_version_opens_the_notebook_and_says_what_became_of_it(open_page: Open) -> None:
    app = open_page("notebook.py", notebook=NOTEBOOK.slug, play="a-play-of-before")
    assert app.title[0].value == NOTEBOOK.title
    assert "Cells no longer run in the app: below are stored outputs." in said(app)
    assert not app.warning
    assert dict(app.query_params) == {"notebook": NOTEBOOK.slug}
    assert "no longer run" not in said(open_page("notebook.py", notebook=NOTEBOOK.slug))


def test_the_tab_opens_the_notebook_that_was_read_last_or_the_first(open_page: Open) -> None:
    assert open_page("notebook.py").title[0].value == next(iter(NOTEBOOKS.values())).title
    last = list(NOTEBOOKS.values())[-1]
    app = open_page("notebook.py", notebook=last.slug)
    app.switch_page("notebooks.py").run()
    app.query_params.clear()
    app.switch_page("notebook.py").run()
    assert (app.title[0].value, dict(app.query_params)) == (last.title, {"notebook": last.slug})
