"""Training curves: where runs broke off, what leaves the figure, and two losses in one panel."""

from __future__ import annotations

from typing import Any

import pytest

from pages.parts.charts.experiments.arms import role_color
from pages.parts.charts.experiments.curves import Stopped, curves_figure, frame_of

BLUE = role_color("control")
FALLS = [(step, 2.3 - 0.02 * step) for step in range(1, 101)]
EXPLODES = [(1, 2.4), (2, 900.0), (3, 4e7)]


def named(figure: Any) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data}


def notes(figure: Any) -> list[str]:
    return [note.text for note in figure.layout.annotations]


def test_a_run_that_broke_off_is_a_cross_at_its_last_step_with_a_sentence() -> None:
    frame = frame_of("training loss", [FALLS])
    stopped = Stopped({0: 12, 1: 12}, "not a finite number")
    figure = curves_figure({0: FALLS[:11], 1: []}, {}, frame, 100, BLUE, stopped=stopped)
    crosses = named(figure)["stopped"]
    assert crosses.marker.symbol == "x"
    assert list(crosses.x) == [12, 12]
    assert list(crosses.y) == pytest.approx([FALLS[10][1], frame.high]), "without any value at the top of the figure"
    assert notes(figure) == ["stopped at step 12:<br>not a finite number"]


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [({0: 12}, "stopped at step 12: why"), ({0: 3, 1: 1200}, "stopped at steps 3 to 1,200: why")],
)
def test_the_sentence_on_runs_that_broke_off_names_their_steps(steps: dict[int, int], sentence: str) -> None:
    assert Stopped(steps, "why").sentence == sentence


def test_an_exploding_loss_leaves_the_figure_and_is_marked() -> None:
    frame = frame_of("training loss", [FALLS, FALLS, EXPLODES])
    assert (frame.high, frame.log) == (3.0, False)
    figure = curves_figure({0: EXPLODES}, {}, frame, 100, BLUE)
    leaves = named(figure)["leaves"]
    assert (list(leaves.x), list(leaves.y)) == ([2], [3.0])
    assert notes(figure) == ["leaves the figure,<br>up to 4e+07"]
    assert "leaves" not in named(curves_figure({0: FALLS}, {}, frame, 100, BLUE))


def test_names_stand_only_at_ends_apart_and_what_lies_far_apart_by_nature_stays_whole() -> None:
    gradients = [[(1, 1e-6)], [(1, 1e-6)], [(1, 1.0)]]
    assert frame_of("gradient norm, layer 8, queries", gradients).high >= 1
    frame = frame_of("training and validation loss", [FALLS])
    assert not notes(curves_figure({0: FALLS}, {}, frame, 100, BLUE, dashed=({0: FALLS}, {})))


def test_training_and_validation_loss_stand_in_one_panel_under_their_names() -> None:
    rises = [(step, 1.5 + 0.01 * step) for step in range(10, 101, 10)]
    frame = frame_of("training and validation loss", [FALLS, rises])
    figure = curves_figure({0: FALLS}, {}, frame, 100, BLUE, {"chance 2.3": 2.3}, dashed=({0: rises}, {}))
    lines = named(figure)
    assert (lines["seeds"].line.dash, lines["validation, seeds"].line.dash) == ("solid", "dash")
    upper, lower = sorted(figure.layout.annotations, key=lambda note: -note.y)
    assert (upper.text, upper.yanchor, lower.text, lower.yanchor) == ("validation", "bottom", "training", "top")
