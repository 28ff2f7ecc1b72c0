"""The learning curves behind a key figure: means, spread, live seeds, the level and the reader's steps."""

import math

import plotly.graph_objects as go
import pytest

from pages.parts.charts.experiments.arms import role_color
from pages.parts.charts.experiments.learning import LearningCurve, in_words, learning_figure

BLUE, ORANGE = role_color("control"), role_color("fault")
STEPS = (10, 100, 1000)
NUMBERS = ((0.1, 0.2, 0.3), (0.4, 0.5, 0.6), (0.8, 0.9, 1.0))


def traces(drawn: go.Figure) -> dict[str, go.Scatter]:
    return {trace.uid: trace for trace in drawn.data}


def test_a_row_is_a_mean_with_its_spread_on_a_logarithmic_axis() -> None:
    curves = [LearningCurve("one", BLUE, STEPS, NUMBERS), LearningCurve("two", ORANGE, (30, 300, 3000), NUMBERS)]
    drawn = learning_figure(curves, level=0.9, steps=[100], chance=0.125)
    found = traces(drawn)
    assert (list(found["mean-one"].x), list(found["mean-one"].y)) == (list(STEPS), [0.2, 0.5, 0.9])
    assert list(found["lowest-seed-one"].y) == [0.1, 0.4, 0.8]
    assert list(found["highest-seed-one"].y) == [0.3, 0.6, 1.0]
    assert found["highest-seed-one"].fill == "tonexty"
    axis = drawn.layout.xaxis
    assert axis.type == "log"
    assert axis.range[0] < math.log10(10) < math.log10(3000) < axis.range[1]
    assert list(axis.ticktext) == ["10", "30", "100", "300", "1,000", "3,000"]
    assert [(line.name, line.y0) for line in drawn.layout.shapes[:2]] == [("0.9", 0.9), ("chance 0.125", 0.125)]
    assert [(line.name, line.x0) for line in drawn.layout.shapes[2:]] == [("100 steps", 100)]
    assert drawn.data[0].uid == "mean-one", "arrow keys go along a mean"
    assert [trace.name for trace in drawn.data if trace.showlegend] == ["one", "two"]


def test_rows_of_one_colour_differ_in_their_dashes() -> None:
    curves = [LearningCurve(f"row {n}", ORANGE if n == 1 else BLUE, STEPS, NUMBERS) for n in range(6)]
    found = traces(learning_figure(curves, level=0.9, steps=[100]))
    dashes = [found[f"mean-row-{n}"].line.dash for n in range(6)]
    assert dashes[1] == "solid"
    assert len({*dashes[:1], *dashes[2:]}) == 5


def test_live_seeds_are_thin_lines_up_to_where_they_are_and_a_lone_number_is_a_dot() -> None:
    live = {3: [(1, 0.1), (10, 0.2)], 4: [(100, 0.7)]}
    found = traces(learning_figure([LearningCurve("one", BLUE, STEPS, NUMBERS, live)], level=0.9, steps=[100]))
    seeds = found["live-one"]
    assert (list(seeds.x), list(seeds.y)) == ([1, 10, None, 100, None], [0.1, 0.2, None, 0.7, None])
    assert [text for text, x in zip(seeds.text, seeds.x, strict=True) if x] == ["seed 3", "seed 3", "seed 4"]
    assert [size for size, x in zip(seeds.marker.size, seeds.x, strict=True) if x] == [0, 8, 8]
    assert seeds.line.width < found["mean-one"].line.width
    assert seeds.meta["label"] == "one, trained here", "its name in saved data"


def test_a_veiled_figure_has_its_names_and_axes_and_no_number() -> None:
    shown, veiled = (
        learning_figure([LearningCurve("one", BLUE, STEPS, numbers)], level=0.9, steps=[100])
        for numbers in (NUMBERS, ())
    )
    assert [(trace.name, list(trace.y)) for trace in veiled.data] == [("one", [None])]
    assert veiled.layout.xaxis == shown.layout.xaxis
    assert veiled.layout.shapes == shown.layout.shapes


@pytest.mark.parametrize(
    ("curve", "words"),
    [
        (LearningCurve("one", BLUE, STEPS), "one: not shown yet"),
        (LearningCurve("one", BLUE, STEPS, NUMBERS), "one: 0.50 at step 100, 0.90 at step 1,000"),
        (LearningCurve("one", BLUE, STEPS, (), {1: [(5, 0.1), (9, 0.3)], 2: [(9, 0.5)]}), "one: trained here 0.40 in 2 seeds"),
    ],
)  # fmt: skip
def test_the_curves_in_words(curve: LearningCurve, words: str) -> None:
    assert in_words([curve], [100]) == words
    assert LearningCurve("one", BLUE, STEPS, NUMBERS).at(round(10**1.5)) == pytest.approx(0.35, abs=0.01)


def test_numbers_that_are_no_shares_have_their_own_axis_and_no_level() -> None:
    wide = ((-0.2, 0.1, 0.3), (0.4, 0.5, 0.6), (2.8, 2.9, 3.0))
    drawn = learning_figure(
        [LearningCurve("one", BLUE, STEPS, wide, {1: [(100, 3.4)]})], level=None, steps=[100], share=False
    )
    low, high = drawn.layout.yaxis.range
    assert low < -0.2
    assert high > 3.4
    assert [line.name for line in drawn.layout.shapes] == ["100 steps"]
    veiled = learning_figure([LearningCurve("one", BLUE, STEPS)], level=None, steps=[100], share=False)
    assert veiled.layout.yaxis.showticklabels is False, "nothing is known yet"
