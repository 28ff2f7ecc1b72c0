"""Figures say what they show: units, levels, legends, colours that stand out in both themes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import plotly.graph_objects as go
import pytest

from engine.encodings import ENCODINGS
from engine.settings.costs import Memory
from pages.parts.charts.attention import in_blocks, mosaic_figure, pattern_figure
from pages.parts.charts.colors import INK, LINE_CONTRAST, SURFACE, contrast, diverging, mix, sequential, shade
from pages.parts.charts.costs import memory_figure, parts_of
from pages.parts.charts.encoding import live_matrix_figure, live_similarity_figure
from pages.parts.charts.heat import gap
from pages.parts.charts.over_steps import (
    accuracy_figure,
    gradients_figure,
    layer_label,
    loss_figure,
    overlay_traces,
    some_of,
)

CONFIG = Path(__file__).resolve().parents[3] / ".streamlit" / "config.toml"
MEMORY = Memory(parameters=1000, gradients=1000, optimizer=2000, saved=6000, scores=2500)


def labels(figure: go.Figure) -> list[str]:
    return [shape.label.text for shape in figure.layout.shapes]


def test_loss_shows_chance_floor_and_its_columns_and_validation_bolder() -> None:
    figure = loss_figure(300, "#2F7FD6", chance=2.302, floor=1.05)
    assert labels(figure) == ["chance 2.3", "floor 1.05"]
    assert [shape.y0 for shape in figure.layout.shapes] == [2.302, 1.05]
    assert "nats" in figure.layout.yaxis.title.text
    assert loss_figure(300, "#2F7FD6", None, None).layout.shapes == ()

    training, validation = loss_figure(10, "#2F7FD6", None, None).data
    assert training.line.width < validation.line.width

    figure = loss_figure(10, "#2F7FD6", None, None, {"loss": ([1, 2], [3.0, 2.0])})
    assert list(figure.data[0].x) == [1, 2]
    assert list(figure.data[0].y) == [3.0, 2.0]


def test_accuracy_has_a_line_and_a_dash_for_each_metric_and_each_chance_once() -> None:
    chance = {"loss": 2.3, "second_half_accuracy": 0.1, "first_half_accuracy": 0.1}
    figure = accuracy_figure(300, "#2F7FD6", chance)
    bold = [trace for trace in figure.data if trace.meta["column"].startswith("validation.")]
    assert [trace.name for trace in bold] == ["second half accuracy", "first half accuracy"]
    assert len({trace.line.dash for trace in bold}) == 2
    assert labels(figure) == ["chance 0.1"]


def test_overlays_are_named_by_what_changed_and_names_are_not_markup() -> None:
    columns = {
        "validation.loss": ([1], [2.0]),
        "validation.a": ([1], [0.5]),
        "validation.b": ([1], [0.4]),
        "loss": ([1], [2.0]),
    }
    shown = overlay_traces("depth <i>2</i>", "#2F7FD6", columns, 0)
    assert [trace.name for trace in shown["loss"]] == ["depth &lt;i&gt;2&lt;/i&gt;"]
    assert [trace.showlegend for trace in shown["accuracy"]] == [True, False]
    assert shown["accuracy"][1].meta["label"] == "depth <i>2</i>: b"
    other = overlay_traces("other", "#2F7FD6", columns, 1)
    assert other["loss"][0].line.dash != shown["loss"][0].line.dash
    assert other["loss"][0].uid != shown["loss"][0].uid


def test_mosaic_labels_stand_in_the_middle_of_their_tiles() -> None:
    figure = mosaic_figure(layers=2, heads=3, queries=8, keys=10, color="#2F7FD6")
    wide = 10 + gap(10)
    assert list(figure.layout.xaxis.ticktext) == ["H1", "H2", "H3"]
    assert list(figure.layout.xaxis.tickvals) == [4.5, 4.5 + wide, 4.5 + 2 * wide]
    assert list(figure.layout.yaxis.ticktext) == ["L1", "L2"]
    low, high = figure.layout.yaxis.range
    assert low > high, "the first layer is on top"


def test_pattern_axes_carry_the_tokens_in_order_or_in_blocks() -> None:
    figure = pattern_figure(["3", "1", "3"], ["a", "b"], (1, 1), "#2F7FD6")
    assert list(figure.layout.yaxis.ticktext) == ["3", "1", "3"], "equal tokens stay apart"
    assert list(figure.layout.xaxis.ticktext) == ["a", "b"]
    assert figure.layout.yaxis.autorange == "reversed"
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0, 1)
    assert in_blocks(["a", "b", "c", "d", "e"], 2) == ["a…b", "c…d", "e"]


def test_a_bias_is_shown_head_by_head() -> None:
    figure = live_matrix_figure("scores", (4, 6, 6))
    assert list(figure.layout.xaxis.ticktext) == ["H1", "H2", "H3", "H4"]
    assert live_matrix_figure("embedding", (6, 32)).layout.xaxis.ticktext is None
    assert "rad" in live_matrix_figure("rotation", (6, 16)).data[0].colorbar.title.text
    assert (live_similarity_figure().data[0].zmin, live_similarity_figure().data[0].zmax) == (-1, 1)


def test_gradients_show_layers_or_query_key_value_apart() -> None:
    figure = gradients_figure(100, ["e0", "0", "1"], "#2F7FD6")
    views = {trace.name: trace.meta["view"] for trace in figure.data}
    assert views["L2"] == "layer"
    assert views["L2 q"] == "qkv"
    assert views["head"] == "layer"
    assert figure.layout.yaxis.type == "log"
    dashes = [trace.line.dash for trace in figure.data if trace.meta["view"] == "qkv" and trace.name.startswith("L1 ")]
    assert len(set(dashes)) == 3
    assert layer_label("e2") == "E3"
    assert layer_label("0") == "L1"


def test_a_deep_models_legend_names_some_layers_and_draws_all() -> None:
    layers = [str(n) for n in range(24)]
    assert some_of(layers, 6) >= {"0", "23"}
    assert len(some_of(layers, 6)) == 6
    assert some_of(["0", "1"], 6) == {"0", "1"}
    figure = gradients_figure(100, layers, "#2F7FD6")
    totals = [trace for trace in figure.data if trace.meta["column"].endswith(".total")]
    assert len(totals) == 24
    assert sum(trace.meta["legend"] for trace in totals) == 6


def test_memory_parts_add_up_to_the_total_and_what_is_not_known_is_said() -> None:
    assert sum(value or 0 for value in parts_of(MEMORY).values()) == MEMORY.total
    running = memory_figure(MEMORY, None, "#2F7FD6")
    assert [note.text for note in running.layout.annotations] == ["when the run has finished"]
    unknown = Memory(parameters=1000, gradients=1000, optimizer=2000, saved=None, scores=None)
    assert "no formula" in memory_figure(unknown, None, "#2F7FD6").layout.annotations[0].text
    assert "KiB" in memory_figure(MEMORY, MEMORY, "#2F7FD6").layout.xaxis.title.text


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("row", ENCODINGS.values(), ids=lambda row: row.name)
def test_lines_stand_out_from_the_surface(row: object, theme: str) -> None:
    color = ENCODINGS[row.name].color  # type: ignore[attr-defined]
    for tone in (0.0, 0.25, 0.5, 0.8):
        assert contrast(shade(color, tone)[theme], SURFACE[theme]) >= LINE_CONTRAST[theme]  # type: ignore[literal-required]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_scales_order_values_by_contrast_with_zero(theme: str) -> None:
    rising = [contrast(color, SURFACE[theme]) for _, color in sequential("#2F7FD6")[theme]]  # type: ignore[literal-required]
    assert rising == sorted(rising)
    arms = [contrast(color, SURFACE[theme]) for _, color in diverging()[theme]]  # type: ignore[literal-required]
    assert arms[3:] == sorted(arms[3:])
    assert arms[:4] == sorted(arms[:4], reverse=True)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_is_the_one_figures_are_made_for_and_its_text_is_readable(theme: str) -> None:
    colors = tomllib.loads(CONFIG.read_text())["theme"][theme]
    assert colors["secondaryBackgroundColor"] == SURFACE[theme]
    assert colors["textColor"] == INK[theme]
    for ground in ("backgroundColor", "secondaryBackgroundColor"):
        for ink in ("textColor", "linkColor", "greenTextColor", "redTextColor"):
            assert contrast(colors[ink], colors[ground]) >= 4.5, (ink, ground)
        assert contrast(colors["primaryColor"], colors[ground]) >= 3.0
        assert contrast(mix(colors[ground], colors["textColor"], 0.72), colors[ground]) >= 4.5, "muted text"
    assert contrast("#FFFFFF", colors["primaryColor"]) >= 4.5, "text on a primary button"
    assert contrast(colors["greenTextColor"], colors["greenBackgroundColor"]) >= 4.5
    assert contrast(colors["redTextColor"], colors["redBackgroundColor"]) >= 4.5


def test_contrast_is_the_published_ratio() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21.0)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
