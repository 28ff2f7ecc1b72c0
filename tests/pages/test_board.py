"""The figure board as a page calls it. What it draws is tested in a browser."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.board import component
from pages.parts.board.grids import CELLS
from pages.parts.board.panels import Panel, Picked, _picked, _plain
from pages.parts.colors import diverging
from pages.parts.figures.heat import EXACT, heat, heat_figure


def page() -> None:
    import numpy as np
    import streamlit as st

    from pages.parts.board.panels import Panel, panels
    from pages.parts.colors import diverging
    from pages.parts.figures.heat import heat, heat_figure

    side = st.session_state.get("side", 4)
    drawn = heat_figure(heat(np.eye(side), "weight", scale=diverging()), x="key", y="query")
    picked = panels([Panel("one.picture", "A picture", drawn, "the identity")], key="board", name="test")
    st.text(f"picked {picked}")


def test_a_page_puts_figures_up_and_brings_them_up_to_date() -> None:
    test = AppTest.from_function(page).run()
    assert not test.exception
    assert test.text[0].value == "picked None"
    test.session_state["side"] = 200
    assert not test.run().exception


def test_every_script_and_style_of_the_board_is_there() -> None:
    assert {path.stem for path in (component.HERE / "script").glob("*.js")} == set(component.SCRIPTS)
    assert {path.stem for path in component.HERE.glob("*.css")} == set(component.STYLES)


@pytest.mark.parametrize("side", [3, 64, 65, 300, 700])
def test_a_matrix_is_sent_as_it_is_or_as_bytes_to_a_255th_of_its_scale(side: int) -> None:
    array = np.random.default_rng(side).normal(size=(side, side)).astype(np.float32)
    trace: dict[str, Any] = heat(array, "value", scale=diverging())
    if side * side <= EXACT:
        np.testing.assert_allclose(np.array(trace["z"], dtype=float), array, rtol=1e-4)
        return
    grid = trace["meta"]["bytes"]
    rows, columns = grid["shape"]
    assert rows * columns <= CELLS
    assert trace["dy"] * rows >= side
    assert trace["y0"] == (trace["dy"] - 1) / 2, "the middle of the first block"
    assert grid["low"] == pytest.approx(array.min())
    assert grid["high"] == pytest.approx(array.max())


def test_what_is_not_finite_is_left_empty() -> None:
    trace = heat(np.array([[0.0, -np.inf], [np.nan, 2.0]]), "score", scale=diverging())
    assert trace["z"][0][1] is None
    assert trace["z"][1][0] is None
    assert (trace["zmin"], trace["zmax"]) == (0.0, 2.0)


def test_a_panel_is_plain_data_without_a_template() -> None:
    drawn = heat_figure(heat(np.eye(100), "weight", scale=diverging()), x="key", y="query", columns=["a"] * 100)
    plain = _plain(Panel("one", "A picture", drawn, "the identity", link="cells", picks=True))
    assert json.loads(json.dumps(plain)) == plain
    assert "template" not in plain["figure"]["layout"]
    assert len(plain["figure"]["layout"]["xaxis"]["ticktext"]) <= 32


def test_what_the_browser_told_is_read_once_told() -> None:
    assert _picked(None) is None
    assert _picked({"picked": None}) is None
    assert _picked({"picked": {"panel": "one", "x": 3, "y": 4}}) == Picked("one", 3, 4)
