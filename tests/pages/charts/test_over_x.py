import itertools

import pytest

from pages.parts.charts.base import apart
from pages.parts.charts.experiments.arms import role_color
from pages.parts.charts.experiments.over_x import MAX_NAMED_LINES, OverX, over_x_figure, over_x_height
from pages.parts.charts.experiments.strip import EndNumbers

BLUE = role_color("control")


def lines_of(count: int, ends: float = 4.0) -> list[OverX]:
    return [
        OverX(f"encoding {n}", color, {x: EndNumbers("a", color, [0.1 * n], [0]) for x in (1.0, ends if n else 4.0)})
        for n in range(count)
        for color in [role_color("comparison", n, count)]
    ]


def test_lines_over_x_show_means_and_single_seeds() -> None:
    points = {8.0: EndNumbers("r8", BLUE, [0.9, 0.7], [0, 1]), 64.0: EndNumbers("r64", BLUE, [0.1, None], [0, 1])}
    figure = over_x_figure([OverX("rope", BLUE, points)], "test length", "accuracy")
    seeds, mean = figure.data
    assert list(seeds.x) == [8, 8, 64]
    assert list(mean.y) == pytest.approx([0.8, 0.1])
    assert list(figure.layout.xaxis.ticktext) == ["8", "64"]
    assert figure.layout.xaxis.title.text == "test length"


@pytest.mark.parametrize(
    ("xs", "kind", "low", "high"),
    [([1, 2, 4, 8], "log", 0, 0.9031), ([0.25, 0.9, 1], "linear", 0.25, 1), ([0, 0.02, 1], "category", 0, 2)],
)
def test_places_along_a_line_stand_still_from_the_start(xs: list[float], kind: str, low: float, high: float) -> None:
    line = OverX("table", BLUE, {x: EndNumbers("a", BLUE, [None], [0]) for x in xs})
    figure = over_x_figure([line], "scale", "structure")
    assert figure.layout.xaxis.type == kind
    start, end = figure.layout.xaxis.range
    assert (start + end) / 2 == pytest.approx((low + high) / 2, abs=1e-3)
    assert start < low < high < end
    assert figure.layout.yaxis.showticklabels is False, "no numbers on an axis of which nothing is known"


@pytest.mark.parametrize("count", [1, 9, MAX_NAMED_LINES, MAX_NAMED_LINES + 1])
def test_lines_have_their_names_at_their_ends_and_too_many_a_legend_and_room_for_it(count: int) -> None:
    figure, notes = over_x_figure(lines_of(count), "length", "accuracy"), count <= MAX_NAMED_LINES
    assert figure.layout.showlegend is not notes
    assert [note.text[2:] for note in figure.layout.annotations] == [f"encoding {n}" for n in range(count) if notes]
    assert all(note.ax == figure.layout.xaxis.range[1] for note in figure.layout.annotations)
    assert notes or over_x_height(lines_of(count)) > over_x_height(lines_of(2))


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
    ordered = [middles[index] for index in (3, 0, 1, 2, 4)]
    assert all(after - before >= 20 for before, after in itertools.pairwise(ordered))
    assert ordered[0] >= 10
    assert ordered[-1] <= 110
    assert apart([30, 80], [18, 18], 200) == [30, 80]
