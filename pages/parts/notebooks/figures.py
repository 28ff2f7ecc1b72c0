"""A notebook's figure in the house style: its own data, titles and levels; the app's colours and axes. Pure functions."""

from __future__ import annotations

import math
from typing import Any

import plotly.graph_objects as go

from pages.parts.boards.component import Plain
from pages.parts.boards.panels import Panel
from pages.parts.charts.base import axis, color_bar, figure, level
from pages.parts.charts.colors import diverging, sequential, shade

LINES = ("#2B6CB0", "#C2570C", "#0B7A6C", "#7A5AE0", "#B83280", "#5A6578")
"""One colour for each trace, in their order; the traces of a legend group share one."""


def panel_of(drawn: Plain, name: str) -> Panel:
    """A panel of a Plotly figure, given as plain data and layout."""
    layout = drawn["layout"]
    title = str(_text(layout.get("title")))
    is_matrix = any(trace["type"] == "heatmap" for trace in drawn["data"])
    return Panel(
        id=name, title=title, figure=_house(drawn), alt=f"{title}. {figure_in_words(drawn)}", height=340 if is_matrix else 300
    )  # fmt: skip


def figure_in_words(drawn: Plain) -> str:
    """The traces of a figure in numbers, as text."""
    return " ".join(_trace_in_words(trace) for trace in drawn["data"])


def _trace_in_words(trace: Plain) -> str:
    if trace["type"] == "heatmap":
        values = [value for row in trace["z"] for value in row]
        return f"{len(trace['z'])} rows of {len(trace['z'][0])} cells, from {min(values):.3g} to {max(values):.3g}."
    if trace["type"] == "histogram":
        return f"{trace['name']}: {len(trace['x'])} values from {min(trace['x']):.3g} to {max(trace['x']):.3g}."
    x, y = trace["x"], trace["y"]
    return f"{trace.get('name', 'values')}: {y[0]:.3g} at {x[0]}, {y[-1]:.3g} at {x[-1]}."


def _house(drawn: Plain) -> go.Figure:
    layout, colors = drawn["layout"], dict[str, str]()
    traces = []
    for place, trace in enumerate(drawn["data"]):
        group = trace.get("legendgroup") or f"{place}"
        traces.append(_coloured(trace, colors.setdefault(group, LINES[len(colors) % len(LINES)])))
    axes: Plain = {}
    for name in ("xaxis", "yaxis"):
        own = dict(layout.get(name, {}))
        axes[name] = axis(str(_text(own.pop("title", ""))), **own)
    shapes = [level(shape["y0"], shape.get("label", {}).get("text", "")) for shape in layout.get("shapes", [])]
    kept = {"barmode": layout["barmode"]} if "barmode" in layout else {}
    return figure(traces, shapes=shapes, showlegend=len(colors) > 1, **axes, **kept)


def _coloured(trace: Plain, color: str) -> Plain:
    pair = shade(color)
    if trace["type"] == "heatmap":
        lowest = min(value for row in trace["z"] for value in row if math.isfinite(value))
        around_zero = {} if lowest >= 0 else {"zmid": 0}
        scale = diverging() if lowest < 0 else sequential(LINES[0])
        bar = color_bar(_text(trace.get("colorbar", {}).get("title")))
        rows, columns = (list(range(len(cells))) for cells in (trace["z"], trace["z"][0]))
        meta = {"scale": scale, "rows": {"row": rows}, "columns": {"column": columns}}
        drawn = {"colorbar": bar, "meta": meta, "colorscale": scale["light"]}
        return trace | around_zero | drawn | {"hovertemplate": "row %{y}, column %{x}: %{z:.3g}<extra></extra>"}
    if trace["type"] == "histogram":
        return trace | {"marker": {"color": pair["light"]}, "meta": {"color": pair}}
    house = {"meta": {"color": pair}, "hovertemplate": "%{y:.4g}"}
    if trace["type"] == "bar":
        return trace | house | {"marker": {"color": pair["light"]}}
    house |= {"mode": trace.get("mode", "lines"), "line": {"color": pair["light"], "width": 2} | trace.get("line", {})}
    if "markers" in trace.get("mode", ""):
        house["marker"] = trace.get("marker", {}) | {"color": pair["light"]}
    return trace | house


def _text(title: Any) -> Any:
    """The text of a title, which Plotly takes as text or as a mapping."""
    return title.get("text", "") if isinstance(title, dict) else title or ""
