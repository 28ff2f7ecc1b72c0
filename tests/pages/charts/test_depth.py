import numpy as np
import pytest

from engine.analysis.depth.jobs import DepthNumbers
from pages.parts.boards.depth import depth_panels
from pages.parts.boards.panels import panel_json
from pages.parts.charts.colors import ATTENTION, muted, shade
from pages.parts.charts.depth import DepthLine, gradient_figure, oversquashing_figure, roll_out_figure, tokens_figure

COLOR = "#D64550"


def numbers(scale: float = 1.0, share: float = 0.5, norms: tuple[str, ...] = ("pre", "post")) -> DepthNumbers:
    return {
        "depths": np.array([1, 4, 16]), "lengths": np.array([8, 32]),
        "roll_out": scale * np.array([[0.2, 0.3], [0.4, 0.3], [0.8, 0.1]]), "layer_weight": np.full((3, 2), 0.5),
        "token_share": scale * np.array([0.9, 0.7, share]), "first_token": scale * np.array([[0.3, 0.1]] * 3),
        "repeat": np.zeros((3, 2)), "repeat_equal": np.array([[0.1, 0.4]] * 3),
        "gradient": {norm: scale * np.array([3.0, 30.0, 3000.0]) for norm in norms},
    }  # fmt: skip


DRAWS = [numbers(scale) for scale in (0.5, 1.0, 1.1)]


def test_a_line_is_the_median_of_the_draws_and_its_band_reaches_over_all() -> None:
    low, high, line = tokens_figure([DepthLine("", DRAWS, COLOR)], 4).data
    assert line.y == pytest.approx([0.9, 0.7, 0.5])
    assert low.y == pytest.approx([0.45, 0.35, 0.25])
    assert high.y == pytest.approx([0.99, 0.77, 0.55])
    assert high.fill == "tonexty"
    assert line.meta["color"] == shade(COLOR)
    assert len(tokens_figure([DepthLine("", DRAWS[:1], COLOR)]).data) == 1, "one draw has no band"


def test_the_dials_depth_is_marked_and_chooses_what_has_no_axis_of_depths() -> None:
    line = [DepthLine("", DRAWS[1:2], COLOR)]
    for figure in (tokens_figure(line, 16), gradient_figure(line, "pre", 16)):
        assert figure.layout.shapes[0].x0 == 16
        assert figure.layout.xaxis.type == "log"
        assert figure.layout.xaxis.tickvals == (1, 4, 16)
    assert tokens_figure(line).layout.shapes == ()
    roll_out, alone = roll_out_figure(line, 16).data
    assert roll_out.y == (0.8, 0.1)
    assert roll_out.meta["color"] == shade(ATTENTION), "a weight of attention"
    assert alone.name == "layer 16 alone"
    assert {trace.name for trace in oversquashing_figure(line, 4).data} == {"unchanged", "first token"}


def test_tokens_that_are_nearly_equal_are_told_apart_by_powers_of_ten() -> None:
    assert tokens_figure([DepthLine("", DRAWS, COLOR)]).layout.yaxis.type is None
    assert tokens_figure([DepthLine("", [numbers(share=1e-7)], COLOR)]).layout.yaxis.type == "log"


def test_of_several_norms_the_models_own_has_its_colour_and_the_axis_holds_whole_decades() -> None:
    figure = gradient_figure([DepthLine("", [numbers()], COLOR)], "post")
    assert {trace.name: trace.meta["color"] for trace in figure.data} == {"Pre-LN": muted(), "Post-LN": shade(COLOR)}
    assert figure.layout.yaxis.range == (-1, 4)
    vanished = numbers()
    vanished["gradient"]["pre"] = np.array([1.0, np.inf, 0.0])
    pre = gradient_figure([DepthLine("", [vanished], COLOR)], "pre").data[-1]
    assert pre.y == (1.0, None, None)


def test_panels_have_question_sentence_and_source_and_name_their_models_where_there_are_two() -> None:
    trained, before = DepthLine("Trained", DRAWS[1:2], COLOR), DepthLine("Untrained", [numbers(0.5)])
    panels = depth_panels([trained, before], 16, "pre", height=200, mark=False)
    assert [panel.id for panel in panels] == ["depth.roll_out", "depth.token_share", "depth.first_token", "depth.gradient"]  # fmt: skip
    assert panels[1].note == "Trained: 50 % of their size.\nUntrained: 25 % of their size."
    assert "Trained: After 16 layers, tokens differ by 50 % of their size.\nUntrained: After" in panels[1].alt
    assert panels[1].below == "Dong et al. 2021"
    assert [trace.name for trace in panels[1].figure.data] == ["Untrained", "Trained"], "what is spoken of is in front"
    assert panels[1].figure.data[0].line.dash == "dash"
    (alone,) = {panel.note for panel in depth_panels([DepthLine("", [], COLOR)], 16, "pre", height=200, mark=True)}
    assert alone == "Measuring …"
    assert len(panel_json(panels[0])["lines"]) == 2
    assert all(panel_json(panel)["figure"]["data"] for panel in panels)
