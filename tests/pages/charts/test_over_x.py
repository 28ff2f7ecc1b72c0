"""Lines over x: told apart by colour, dash, mark and the name at their end."""

from __future__ import annotations

import itertools

import pytest

from pages.parts.charts.experiments.arms import role_color
from pages.parts.charts.experiments.over_x import MOST_NAMES, OverX, apart, over_x_figure, over_x_height
from pages.parts.charts.experiments.strip import Ended


def lines_of(count: int, ends: float = 4.0) -> list[OverX]:
    return [
        OverX(f"encoding {n}", color, {x: Ended("a", color, [0.1 * n], [0]) for x in (1.0, ends if n else 4.0)})
        for n in range(count)
        for color in [role_color("comparison", n, count)]
    ]


@pytest.mark.parametrize("count", [1, 9, MOST_NAMES])
def test_lines_have_their_names_at_their_ends_and_no_legend(count: int) -> None:
    figure = over_x_figure(lines_of(count), "length", "accuracy")
    assert not figure.layout.showlegend
    assert [note.text[2:] for note in figure.layout.annotations] == [f"encoding {n}" for n in range(count)]
    assert {note.ax for note in figure.layout.annotations} == {figure.layout.xaxis.range[1]}


def test_too_many_lines_have_a_legend_and_room_for_it() -> None:
    lines = lines_of(MOST_NAMES + 1)
    figure = over_x_figure(lines, "length", "accuracy")
    assert figure.layout.showlegend
    assert not figure.layout.annotations
    assert over_x_height(lines) > over_x_height(lines[:2])


def test_nine_lines_differ_in_colour_in_mark_and_with_their_dash() -> None:
    bold = [trace for trace in over_x_figure(lines_of(9), "length", "accuracy").data if trace.mode == "lines+markers"]
    assert len({trace.line.color for trace in bold}) == 9
    assert len({trace.marker.symbol for trace in bold}) == 9
    assert len({trace.line.dash for trace in bold}) >= 6


def test_a_line_that_ends_early_says_so_and_has_no_tie_that_looks_like_data() -> None:
    whole, early = over_x_figure(lines_of(2, ends=1.5), "length", "accuracy").layout.annotations
    assert (whole.showarrow, early.showarrow) == (True, False)
    assert early.text.endswith("encoding 1, to<br>1.5")


def test_labels_keep_apart_in_their_order_and_inside_or_where_they_are_wanted() -> None:
    middles = apart([50, 52, 54, 0, 100], [20] * 5, 120)
    ordered = [middles[place] for place in (3, 0, 1, 2, 4)]
    assert all(after - before >= 20 for before, after in itertools.pairwise(ordered))
    assert ordered[0] >= 10
    assert ordered[-1] <= 110
    assert apart([30, 80], [18, 18], 200) == [30, 80]
