from typing import Any

import pytest

from pages.parts.charts.experiments.arms import role_color
from pages.parts.charts.experiments.curves import Frame, StopMark, curves_figure, frame_of

BLUE = role_color("control")
FALLS = [(step, 2.3 - 0.02 * step) for step in range(1, 101)]
EXPLODES = [(1, 2.4), (2, 900.0), (3, 4e7)]


def named(figure: Any) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data}


def notes(figure: Any) -> list[str]:
    return [note.text for note in figure.layout.annotations]


def test_frames_start_at_zero_and_stand_still_while_values_come_in() -> None:
    few, more = [[(1, 2.31), (2, 1.9)]], [[(1, 2.31), (2, 1.9)], [(1, 2.4), (2, 0.4)]]
    assert frame_of("training loss", few) == frame_of("training loss", more) == Frame("training loss", 0, 3)
    assert frame_of("validation accuracy", few) == Frame("validation accuracy", 0, 1)
    assert frame_of("loss", [[(1, 200.0), (2, 0.5)]]) == Frame("loss", 0, 200), (
        "the values do not decide the kind of axis"
    )
    label, gradients = "gradient norm, layer 8, queries", [[(1, 1e-6)], [(1, 1e-6)], [(1, 1.0)]]
    assert frame_of(label, gradients) == Frame(label, 1e-6, 1, log=True), "what lies far apart by nature stays whole"
    assert frame_of(label, gradients[-1:]).log, "also with the first value"


def test_curves_keep_seeds_apart_and_average_what_at_least_two_have() -> None:
    done = {0: [(1, 1.0), (2, 2.0)], 1: [(1, 3.0), (2, 4.0), (3, 9.0)]}
    frame = frame_of("training loss", list(done.values()))
    figure = curves_figure(done, {2: [(1, 5.0)]}, frame, 10, BLUE, {"chance 2.3": 2.3})
    seeds, growing, mean = figure.data
    assert list(seeds.x) == [1, 2, None, 1, 2, 3, None]
    assert not seeds.connectgaps
    assert seeds.text[0] == "seed 0"
    assert list(growing.y) == [5.0, None]
    assert (list(mean.x), list(mean.y)) == ([1, 2], [2.0, 3.0])
    assert mean.line.width > seeds.line.width
    assert list(figure.layout.xaxis.range) == [0, 10]
    assert [shape.label.text for shape in figure.layout.shapes] == ["chance 2.3"]


def test_a_run_that_broke_off_is_a_cross_at_its_last_step_with_a_sentence() -> None:
    frame = frame_of("training loss", [FALLS])
    stopped = StopMark({0: 12, 1: 12}, "not a finite number")
    figure = curves_figure({0: FALLS[:11], 1: []}, {}, frame, 100, BLUE, stopped=stopped)
    crosses = named(figure)["stopped"]
    assert crosses.marker.symbol == "x"
    assert list(crosses.x) == [12, 12]
    assert list(crosses.y) == pytest.approx([FALLS[10][1], frame.high]), "without any value at the top of the figure"
    assert notes(figure) == ["stopped at step 12:<br>not a finite number"]
    assert StopMark({0: 12}, "why").sentence == "stopped at step 12: why"
    assert StopMark({0: 3, 1: 1200}, "why").sentence == "stopped at steps 3 to 1,200: why"


def test_an_exploding_loss_leaves_the_figure_and_is_marked() -> None:
    frame = frame_of("training loss", [FALLS, FALLS, EXPLODES])
    assert (frame.high, frame.log) == (3.0, False)
    figure = curves_figure({0: EXPLODES}, {}, frame, 100, BLUE)
    leaves = named(figure)["leaves"]
    assert (list(leaves.x), list(leaves.y)) == ([2], [3.0])
    assert notes(figure) == ["leaves the figure,<br>up to 4e+07"]
    assert "leaves" not in named(curves_figure({0: FALLS}, {}, frame, 100, BLUE))


def test_training_and_validation_loss_stand_in_one_panel_under_their_names_where_the_ends_lie_apart() -> None:
    rises = [(step, 1.5 + 0.01 * step) for step in range(10, 101, 10)]
    frame = frame_of("training and validation loss", [FALLS, rises])
    assert not notes(curves_figure({0: FALLS}, {}, frame, 100, BLUE, dashed=({0: FALLS}, {})))
    figure = curves_figure({0: FALLS}, {}, frame, 100, BLUE, {"chance 2.3": 2.3}, dashed=({0: rises}, {}))
    lines = named(figure)
    assert (lines["seeds"].line.dash, lines["validation, seeds"].line.dash) == ("solid", "dash")
    upper, lower = sorted(figure.layout.annotations, key=lambda note: -note.y)
    assert (upper.text, upper.yanchor, lower.text, lower.yanchor) == ("validation", "bottom", "training", "top")
