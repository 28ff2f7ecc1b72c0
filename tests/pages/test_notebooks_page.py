from typing import Any

import plotly.graph_objects as go
from streamlit.testing.v1 import AppTest

from pages.parts.app.in_markdown import escaped
from pages.parts.notebooks.notebook import NOTEBOOKS
from pages.parts.notebooks.screen import LINES, figure_in_words, panel_of
from tests.pages.looking import WORDS, Open

NOTEBOOK = NOTEBOOKS["mean-pooling"]


def page_text(app: AppTest) -> str:
    return " ".join(str(box.value) for kind in (*WORDS, "code") for box in app.get(kind))


def test_the_overview_leads_to_every_notebook_and_so_do_links_that_name_one(open_page: Open) -> None:
    app = open_page("notebooks.py")
    links = {link.proto.query_string for link in app.get("page_link")}
    assert {f"notebook={slug}" for slug in NOTEBOOKS} <= links
    for notebook in NOTEBOOKS.values():
        assert notebook.learns in page_text(app)

    app = open_page("notebooks.py", notebook=NOTEBOOK.slug)
    assert app.title[0].value == NOTEBOOK.title


def test_each_cell_is_followed_by_what_it_gave_and_nothing_is_run(open_page: Open) -> None:
    app = open_page("notebooks.py", notebook=NOTEBOOK.slug)
    code = [cell for cell in NOTEBOOK.cells if cell.kind == "code"]
    blocks = [box.value for box in app.code]
    assert [block for block in blocks if block in {cell.source for cell in code}] == [cell.source for cell in code]
    assert "|Number|given|here|\n|---|---:|---:|" in page_text(app)
    for cell in code:
        if cell.asserts:
            assert f":green[:material/check_circle:] {escaped(cell.asserts)}" in page_text(app)
    (file,) = app.get("download_button")
    assert f"Made with {NOTEBOOK.origin}." in file.help
    assert not [button.key for button in app.button if str(button.key).startswith("notebooks.")]


def test_a_link_to_a_play_of_an_earlier_version_opens_the_notebook_and_says_what_became_of_it(open_page: Open) -> None:
    app = open_page("notebooks.py", notebook=NOTEBOOK.slug, play="a-play-of-before")
    assert app.title[0].value == NOTEBOOK.title
    assert "Cells no longer run in the app." in page_text(app)
    assert dict(app.query_params) == {"notebook": NOTEBOOK.slug}
    assert "no longer run" not in page_text(open_page("notebooks.py", notebook=NOTEBOOK.slug))


def test_a_link_to_the_overview_leaves_the_notebook_that_was_read(open_page: Open) -> None:
    app = open_page("notebooks.py", notebook=NOTEBOOK.slug)
    app.query_params.clear()
    assert app.run().title[0].value == "Notebooks"
    assert dict(app.query_params) == {}


def plain(figure: go.Figure) -> dict[str, Any]:
    return {"data": [trace.to_plotly_json() for trace in figure.data], "layout": figure.layout.to_plotly_json()}


def curves() -> go.Figure:
    groups = {"a": "all", "b": "all", "c": ""}
    lines = [go.Scatter(x=[1, 2], y=[4.0, 1.0], name=name, legendgroup=group) for name, group in groups.items()]
    figure = go.Figure(lines)
    figure.add_hline(y=0.5, line_dash="dash", label={"text": "chance"})
    figure.update_yaxes(type="log")
    return figure.update_layout(title="Curves", xaxis_title="step", yaxis_title="loss (nats)")


def test_lines_keep_data_axes_and_levels_and_get_the_house_colours() -> None:
    panel = panel_of(plain(curves()), "cell-1.0")
    layout = panel.figure.layout
    assert panel.title == "Curves"
    assert [trace.y for trace in panel.figure.data] == [(4.0, 1.0)] * 3
    assert (layout.xaxis.title.text, layout.yaxis.title.text, layout.yaxis.type) == ("step", "loss (nats)", "log")
    assert (layout.shapes[0].y0, layout.shapes[0].label.text) == (0.5, "chance")
    colors = [trace.line.color for trace in panel.figure.data]
    assert colors[0] == colors[1] == LINES[0]
    assert colors[2] == LINES[1]
    assert all(set(trace.meta["color"]) == {"light", "dark"} for trace in panel.figure.data)


def test_figures_are_said_in_words_and_a_matrix_with_both_signs_diverges_around_zero() -> None:
    assert "a: 4 at 1, 1 at 2." in figure_in_words(plain(curves()))
    matrix = go.Figure(go.Heatmap(z=[[0.0, 2.0], [-1.0, 1.0]]))
    assert figure_in_words(plain(matrix)) == "2 rows of 2 cells, from -1 to 2."
    counts = go.Figure(go.Histogram(x=[1.0, 3.0], name="batches"))
    assert figure_in_words(plain(counts)) == "batches: 2 values from 1 to 3."
    signed = panel_of(plain(go.Figure(go.Heatmap(z=[[-1.0, 2.0]]))), "a.0").figure.data[0]
    positive = panel_of(plain(go.Figure(go.Heatmap(z=[[0.0, 2.0]], zmin=0, zmax=1))), "a.1").figure.data[0]
    assert (signed.zmid, positive.zmid, positive.zmin, positive.zmax) == (0, None, 0, 1)
    assert signed.meta["scale"] != positive.meta["scale"]
