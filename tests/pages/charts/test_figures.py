import tomllib
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from engine.encodings import ENCODINGS
from engine.settings.costs import Memory
from pages.parts.charts.attention import in_blocks, mosaic_figure, pattern_figure
from pages.parts.charts.colors import LINE_CONTRAST, SURFACE, contrast, diverging, mix, sequential, shade
from pages.parts.charts.costs import memory_figure, parts_of
from pages.parts.charts.encoding import live_matrix_figure, live_similarity_figure
from pages.parts.charts.heat import gap
from pages.parts.charts.loss import accuracy_figure, gradients_figure, loss_figure, overlay_traces, some_of
from pages.parts.charts.table import numbers_right

# The perception of linear sRGB. Source: Machado, Oliveira and Fernandes 2009, A Physiologically-based Model for Simulation of
# Color Vision Deficiency, severity 1.
EYES = {
    "all cones": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
}  # fmt: skip
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
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
    figure = loss_figure(10, "#2F7FD6", None, None)
    assert figure.layout.shapes == ()
    training, validation = figure.data
    assert training.line.width < validation.line.width
    assert (training.meta["column"], validation.meta["column"]) == ("loss", "validation.loss")


def test_accuracy_has_a_line_and_a_dash_for_each_metric_and_each_chance_once() -> None:
    chance = {"loss": 2.3, "second_half_accuracy": 0.1, "first_half_accuracy": 0.1}
    figure = accuracy_figure(300, "#2F7FD6", chance)
    bold = [trace for trace in figure.data if trace.meta["column"].startswith("validation.")]
    assert [trace.name for trace in bold] == ["second half", "first half"]
    assert len({trace.line.dash for trace in bold}) == 2
    assert labels(figure) == ["chance 0.1"]


def test_overlays_are_named_by_what_changed_and_names_are_not_markup() -> None:
    columns = {name: ([1], [0.5]) for name in ("validation.loss", "validation.a", "validation.b", "loss")}
    shown = overlay_traces("depth <i>2</i>", "#2F7FD6", columns, 0)
    assert [trace.name for trace in shown["loss"]] == ["depth &lt;i&gt;2&lt;/i&gt;"]
    assert [trace.showlegend for trace in shown["accuracy"]] == [True, False]
    assert shown["accuracy"][1].meta["label"] == "depth <i>2</i>: b"
    other, (loss,) = overlay_traces("other", "#2F7FD6", columns, 1)["loss"][0], shown["loss"]
    assert other.line.dash != loss.line.dash
    assert other.uid != loss.uid


def test_mosaic_labels_stand_in_the_middle_of_their_tiles() -> None:
    figure = mosaic_figure(layers=2, heads=3, queries=8, keys=10)
    wide = 10 + gap(10)
    assert list(figure.layout.xaxis.ticktext) == ["H1", "H2", "H3"]
    assert list(figure.layout.xaxis.tickvals) == [4.5, 4.5 + wide, 4.5 + 2 * wide]
    assert list(figure.layout.yaxis.ticktext) == ["L1", "L2"]
    low, high = figure.layout.yaxis.range
    assert low > high, "the first layer is on top"


def test_pattern_axes_carry_the_tokens_in_order_or_in_blocks() -> None:
    figure = pattern_figure(["3", "1", "3"], ["a", "b"], (1, 1))
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


def test_gradients_show_layers_or_query_key_value_apart_and_a_deep_models_legend_names_some() -> None:
    figure = gradients_figure(100, ["e0", "0", "1"], "#2F7FD6")
    views = {trace.name: trace.meta["view"] for trace in figure.data}
    assert (views["L2"], views["E1"], views["L2 q"], views["head"]) == ("layer", "layer", "qkv", "layer")
    assert figure.layout.yaxis.type == "log"
    dashes = [trace.line.dash for trace in figure.data if trace.meta["view"] == "qkv" and trace.name.startswith("L1 ")]
    assert len(set(dashes)) == 3
    layers = [str(n) for n in range(24)]
    named = some_of(layers, 6)
    assert named >= {"0", "23"}
    assert len(named) == 6
    assert some_of(["0", "1"], 6) == {"0", "1"}
    drawn = gradients_figure(100, layers, "#2F7FD6").data
    totals = [trace.meta["legend"] for trace in drawn if trace.meta["column"].endswith(".total")]
    assert (len(totals), sum(totals)) == (24, 6)


def test_memory_parts_add_up_to_the_total_and_what_is_not_known_is_said() -> None:
    assert sum(value or 0 for value in parts_of(MEMORY).values()) == MEMORY.total
    running = memory_figure(MEMORY, None, "#2F7FD6")
    assert [note.text for note in running.layout.annotations] == ["when the run has finished"]
    unknown = Memory(parameters=1000, gradients=1000, optimizer=2000, saved=None, scores=None)
    assert "no formula" in memory_figure(unknown, None, "#2F7FD6").layout.annotations[0].text
    assert "KiB" in memory_figure(MEMORY, MEMORY, "#2F7FD6").layout.xaxis.title.text


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("eyes", EYES)
def test_every_two_encodings_are_told_apart_also_with_red_green_colour_blindness(eyes: str, theme: Any) -> None:
    colors = {name: in_lab(EYES[eyes] @ linear(shade(row.color)[theme])) for name, row in ENCODINGS.items()}
    apart = {(one, other): float(np.linalg.norm(colors[one] - colors[other])) for one, other in combinations(colors, 2)}
    assert {pair: round(distance, 1) for pair, distance in apart.items() if distance < 10} == {}


def test_the_distance_of_two_colours_is_that_of_published_values() -> None:
    """Lindbloom's calculator, D65: red, and a grey."""
    assert in_lab(linear("#FF0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.02)
    assert in_lab(linear("#777777")) == pytest.approx([50.03, 0, 0], abs=0.02)
    for matrix in EYES.values():
        assert matrix.sum(axis=1) == pytest.approx(1, abs=1e-5), "white stays white"


def linear(color: str) -> np.ndarray:
    """Linear sRGB, [3] in 0..1. Source: IEC 61966-2-1."""
    c = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def in_lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear sRGB under D65, [3]. Source: CIE 15, sRGB primaries."""
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / TO_XYZ.sum(axis=1)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lines_stand_out_from_the_surface_and_scales_order_values_by_contrast_with_zero(theme: Any) -> None:
    for row, tone in product(ENCODINGS.values(), (0.0, 0.25, 0.5, 0.8)):
        assert contrast(shade(row.color, tone)[theme], SURFACE[theme]) >= LINE_CONTRAST[theme], (row.name, tone)
    rising, arms = (
        [contrast(color, SURFACE[theme]) for _, color in scale[theme]] for scale in (sequential("#2F7FD6"), diverging())
    )
    assert rising == sorted(rising)
    assert arms[3:] == sorted(arms[3:])
    assert arms[:4] == sorted(arms[:4], reverse=True)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_text_of_a_theme_is_readable(theme: str) -> None:
    colors = tomllib.loads(CONFIG.read_text())["theme"][theme]
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


def test_tables_have_their_numbers_on_the_right() -> None:
    html = numbers_right(pd.DataFrame({"loss": ["4.2"]}, index=["model"])).set_uuid("x").to_html()
    aligned = [" ".join(rule.split()) for rule in html.split("}") if "text-align: right" in rule]
    assert any("#T_x tbody td {" in rule for rule in aligned)
    assert any("#T_x thead th:not(:first-child) {" in rule for rule in aligned)
