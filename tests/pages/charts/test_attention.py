import numpy as np

from pages.parts.charts import attention as charts


def test_pictures_say_their_units_on_fixed_or_even_scales_and_tokens_are_text() -> None:
    names, color = ["<b>", "b", "c"], "#2F7FD6"
    matrix = np.array([[1.0, -2.0, 0.0]] * 3)
    pattern = charts.pattern_picture(np.eye(3), names, names, query=1)
    assert list(pattern.layout.xaxis.ticktext) == ["&lt;b>", "b", "c"]
    assert (pattern.layout.shapes[0].y0, pattern.layout.shapes[0].y1) == (1.5, 2.5)
    weight = pattern.data[0]
    assert (weight.zmin, weight.zmax, weight.colorbar.title.text) == (0.0, 1.0, "weight")
    change = charts.difference_picture(matrix, names, names).data[0]
    assert (change.zmin, change.zmax) == (-1.0, 1.0)
    values = charts.numbers_picture(matrix, "value", x="d", y="key").data[0]
    assert (values.zmin, values.zmax) == (-2.0, 2.0)
    moved = charts.influence_picture(np.triu(np.ones((3, 3))), names, 1.0).data[0].z
    assert np.array(moved)[0, 1] == 0.0, "rows are outputs: the first does not move when the second token changes"
    rows = [("q · k", matrix[0]), ("weight", np.array([0.2, 0.8, 0.0]))]
    strips = charts.strips_picture(rows, names, np.array([0, 0, 1]) > 0, color)
    assert [list(trace.x) for trace in strips.data] == [[1, 2], [3], [1, 2], [3]]
    lines = [charts.Line("L1 H1", [0], [1]), charts.Line("L1 H2", [0], [2], strong=False)]
    drawn = charts.lines_picture(lines, x="step", y="keys", color=color)
    assert [trace.name for trace in drawn.data] == ["L1 H2", "L1 H1"], "the strong one lies on top"
