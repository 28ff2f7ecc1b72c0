import base64
import json
from typing import Any

import numpy as np
import pytest

from pages.parts.boards.panels import Panel, Pick, panel_json, pick_in
from pages.parts.charts.colors import diverging
from pages.parts.charts.heat import MAX_DRAWN_CELLS, heat, heat_figure, labels

SCALE: Any = {"scale": diverging(), "low": -1.0, "high": 1.0}


def numbers(sent: Any) -> np.ndarray:
    """The browser's numbers of an array as Plotly sends it: base64 of little-endian float32."""
    assert sent["dtype"] == "f4"
    shape = [int(side) for side in sent["shape"].split(",")]
    return np.frombuffer(base64.b64decode(sent["bdata"]), "<f4").reshape(shape)


@pytest.mark.parametrize("side", [3, 65, 300, 700])
def test_a_still_picture_holds_every_number_of_its_matrix_exactly(side: int) -> None:
    array = np.random.default_rng(side).normal(size=(side, side)).astype(np.float32)
    drawn = heat_figure(heat(array, "value", **SCALE), x="key", y="query")
    (trace,) = panel_json(Panel("one", "A picture", drawn, "noise"))["figure"]["data"]
    np.testing.assert_array_equal(numbers(trace.get("customdata", trace["z"])), array)
    assert trace["meta"]["rows"] == {"query": list(range(1, side + 1))}
    cells = numbers(trace["z"])
    assert cells.size <= MAX_DRAWN_CELLS
    assert set(cells.ravel()) <= set(array.ravel()), "numbers of the matrix, not rounded ones"
    assert trace["dy"] * len(cells) >= side
    assert trace["y0"] == (trace["dy"] + 1) / 2, "the middle of the first block"
    assert ("the largest of" in trace["hovertemplate"]) == (cells.size < array.size)


def test_of_a_matrix_too_large_for_a_message_the_blocks_are_saved_and_called_so() -> None:
    trace = heat(np.ones((1500, 1500)), "weight", **SCALE)
    (rows,), (columns,) = trace["meta"]["rows"].items(), trace["meta"]["columns"].items()
    assert rows == (f"query, first of {trace['dy']:g}", list(range(1, 1501, int(trace["dy"]))))
    assert trace["z"].shape == (len(rows[1]), len(columns[1]))
    assert "customdata" not in trace
    assert "the largest of" in trace["meta"]["label"]


def test_what_is_not_finite_is_left_empty_also_in_blocks() -> None:
    trace = heat(np.array([[0.0, -np.inf], [np.nan, 2.0]]), "score", **SCALE)
    np.testing.assert_array_equal(trace["z"], [[0.0, np.nan], [np.nan, 2.0]])
    large = np.where(np.tri(700, dtype=bool), 1.0, np.nan)
    cells = heat(large, "score", **SCALE)["z"]
    np.testing.assert_array_equal(cells, np.where(np.tri(len(cells), dtype=bool), 1.0, np.nan))


def test_rows_and_columns_stand_where_they_are_and_a_column_may_have_two_names() -> None:
    trace = heat(np.ones((2, 3)), "value", **SCALE, x={"key": [0, 5, 10]}, y={"query": np.array([3, 7])})
    assert (trace["x0"], trace["dx"], trace["y0"], trace["dy"]) == (0, 5, 3, 4)
    assert trace["hovertemplate"].startswith("query %{y}, key %{x}:")
    trace = heat(np.ones((2, 2)), "value", **SCALE, x={"head": [1, 2], "key": [0, 0]})
    assert (trace["x0"], trace["dx"]) == (0, 1)
    assert trace["hovertemplate"].startswith("query %{y}, %{text}:")


def test_a_panel_is_plain_data_without_a_template_and_what_the_browser_told_is_read_once_told() -> None:
    drawn = heat_figure(heat(np.eye(100), "weight", **SCALE), x="key", y="query", across=labels(["a"] * 100))
    plain = panel_json(Panel("one", "A picture", drawn, "the identity", link="cells", picks=True))
    assert json.loads(json.dumps(plain)) == plain
    assert "template" not in plain["figure"]["layout"]
    assert len(plain["figure"]["layout"]["xaxis"]["ticktext"]) <= 32
    assert pick_in(None) is None
    assert pick_in({"picked": None}) is None
    assert pick_in({"picked": {"panel": "one", "x": 3, "y": 4}}) == Pick("one", 3, 4)
