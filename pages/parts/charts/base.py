"""Common parts of all figures: fonts, margins, axes, lines, labels that do not overlap."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

import plotly.graph_objects as go

from engine.foundation.once import once_of_latest
from pages.parts.charts.colors import INK, MUTED, SURFACE, Pair, mix

SeriesByName = Mapping[str, tuple[list[int], list[float]]]
Trace = dict[str, Any]  # Plotly validates it only with its figure, because a page redraws a dozen figures at a click
Axis = dict[str, Any]
VALIDATE = False  # takes three quarters of the time of a figure; the tests turn it on
FONT = 14  # pixels; the browser adds to it where the page's own letters are larger
# Above the plot. Beyond ``maxheight``, a share of the figure, it scrolls.
LEGEND = {
    "orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top", "bgcolor": "rgba(0,0,0,0)", "indentation": -4,
    "maxheight": 0.35,
}  # fmt: skip
GRID_LINE = mix(INK["light"], SURFACE["light"], 0.88)


def figure(traces: list[Any], **layout: Any) -> go.Figure:
    """A figure in the house style. The browser applies the theme."""
    style: dict[str, Any] = {
        "template": go.layout.Template(),
        "font": {"color": INK["light"], "size": FONT},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 52, "r": 12, "t": 8, "b": 40},
        "legend": LEGEND,
        "hoverlabel": {"align": "left"},
    }
    return go.Figure(data=traces, layout=style | layout, _validate=VALIDATE)


def axis(title: str, **more: Any) -> dict[str, Any]:
    return {
        "title": {"text": title, "standoff": 6, "font": {"size": FONT}},
        "gridcolor": GRID_LINE,
        "linecolor": MUTED["light"],
        "zeroline": False,
        "automargin": True,
    } | more


def color_bar(unit: str, **more: Any) -> dict[str, Any]:
    return {"title": {"text": unit, "side": "right", "font": {"size": FONT}}, "thickness": 10, "outlinewidth": 0} | more


def line(
    column: str, name: str, color: Pair, *, columns: SeriesByName | None = None, width: float = 2.0, dash: str = "solid",
    opacity: float = 1.0, hover: str = ".4g", group: str | None = None, **meta: Any,
) -> go.Scatter:  # fmt: skip
    """A column over the steps. The legend shows and hides the lines of a ``group`` together."""
    x, y = (columns or {}).get(column, ([], []))
    return go.Scatter(
        x=x, y=y, name=name, uid=uid_of(column), mode="lines", opacity=opacity, legendgroup=group,
        line={"color": color["light"], "width": width, "dash": dash},
        hovertemplate=f"%{{y:{hover}}}", meta={"column": column, "color": color, **meta},
    )  # fmt: skip


def painted(
    color: Pair, label: str = "", *, width: float | None = None, dash: str = "", size: int | None = None, symbol: str = ""
) -> Trace:  # fmt: skip
    """The properties of a trace that follow from its colour: a line of ``width``, marks of ``size``, or both.

    The browser changes them with the theme. ``label``: the name of the values in saved data.
    """
    properties: Trace = {"meta": {"color": color} | ({"label": label} if label else {})}
    if width is not None:
        properties["line"] = {"color": color["light"], "width": width} | ({"dash": dash} if dash else {})
    if size is not None:
        properties["marker"] = {"color": color["light"], "size": size} | ({"symbol": symbol} if symbol else {})
    return properties


def band(x: Sequence[float], low: Iterable[float], high: Iterable[float], color: str) -> list[Trace]:
    edge: Trace = {
        "type": "scatter",
        "x": list(x),
        "mode": "lines",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    faint = f"rgba({','.join(str(int(color[at : at + 2], 16)) for at in (1, 3, 5))},.18)"
    return [edge | {"y": rounded(low)}, edge | {"y": rounded(high), "fill": "tonexty", "fillcolor": faint}]


def rounded(values: Iterable[float], digits: int = 5) -> list[float | None]:
    """Values with few digits, which halves their bytes; None for a value that is not finite."""
    return [float(f"{value:.{digits}g}") if isfinite(value) else None for value in values]


def uid_of(*words: object) -> str:
    """The id that keeps a trace's legend state. Plotly makes it a CSS class, so it has letters, digits and dashes."""
    return re.sub(r"[^A-Za-z0-9]+", "-", " ".join(map(str, words)))


def across_line(
    along: str, at: float, text: str = "", /, *, dash: str = "dash", layer: str = "below", **label: Any
) -> dict[str, Any]:  # fmt: skip
    """A line across the plot at a value of the axis ``along``, x or y, with its name at its end. ``label``: further
    properties of the name."""
    other = "y" if along == "x" else "x"
    side = {"textangle": 0, "xanchor": "center"} if along == "x" else {}  # on a level line the defaults are right
    return {
        "type": "line", f"{along}ref": along, f"{along}0": at, f"{along}1": at, f"{other}ref": f"{other} domain", f"{other}0": 0,
        f"{other}1": 1, "line": {"color": MUTED["light"], "width": 1.2, "dash": dash}, "layer": layer, "name": text,
        "label": {
            "text": text, "textposition": "end", "yanchor": "bottom",
            "font": {"size": FONT, "color": MUTED["light"]}, **side, **label,
        },
    }  # fmt: skip


def apart(wanted: Sequence[float], heights: Sequence[float], room: float) -> list[float]:
    """The middles of labels as near as possible to ``wanted``: in that order, without overlap, and in 0 to ``room``
    if they fit."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    tops, edge = dict[int, float](), 0.0
    for index in order:
        tops[index] = max(edge, wanted[index] - heights[index] / 2)
        edge = tops[index] + heights[index]
    edge = room
    for index in reversed(order):
        tops[index] = min(tops[index], edge - heights[index])
        edge = tops[index]
    return [tops[index] + heights[index] / 2 for index in range(len(wanted))]


def figure_json(chart: Callable[..., go.Figure], *arguments: Any, **named: Any) -> dict[str, Any]:
    """The figure that ``chart`` draws as JSON. Do not change it: all pages share it."""
    # Shared, because many runs and classes draw the same figures, and drawing blocks the server for milliseconds.
    return _figure_json(chart, _Arguments((arguments, named)))


class _Arguments(tuple[Any, ...]):
    """Arguments that are hashable even with dictionaries among them."""

    def __hash__(self) -> int:
        return hash(repr(self))


@once_of_latest(512)
def _figure_json(chart: Callable[..., go.Figure], given: _Arguments) -> dict[str, Any]:
    arguments, named = given
    figure = chart(*arguments, **named).to_plotly_json()
    figure["layout"].pop("template", None)
    return {"data": figure["data"], "layout": figure["layout"]}
