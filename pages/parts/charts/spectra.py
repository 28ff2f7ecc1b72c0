"""Curves of an encoding: over distance and offset, singular values, Fourier spectrum, principal components, numbers along a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from engine.encodings import ENCODINGS
from pages.parts.charts.base import Trace, across_line, axis, color_bar, figure, painted, rounded
from pages.parts.charts.colors import muted, sequential, shade
from pages.parts.charts.encoding import LIKENESS, OF_TRAINED, WHAT, Profile, end_marks

FLOOR = 1e-6
"""The lower end of logarithmic axes: smaller values are rounding."""
MOST_HEADS = 8
"""The most lines of a profile."""
LEGEND_MARGIN = {"l": 60, "r": 12, "t": 32, "b": 40}
COLOR = ENCODINGS["designed"].color


def offsets_figure(bias: np.ndarray, trained: int) -> go.Figure:
    """A design's bias [head, query, key] as one line for each head over the offset key - query."""
    heads, length, _ = bias.shape
    offsets = list(range(1 - length, length))
    lines = [
        go.Scatter(
            x=offsets, y=[float(np.diagonal(bias[head], offset).mean()) for offset in offsets], name=f"head {head + 1}", mode="lines",
            hovertemplate=f"head {head + 1}, offset %{{x}}: %{{y:.3g}}<extra></extra>",
            **painted(shade(COLOR, 0.7 * head / max(1, heads - 1)), width=2),
        )
        for head in range(heads)
    ]  # fmt: skip
    shapes = [across_line("x", index, layer="above") for index in (-trained + 0.5, trained - 0.5) if length > trained]
    return figure(lines, xaxis=axis("offset (key − query)"), yaxis=axis("added to the score"), shapes=shapes)


def profile_figure(profile: Profile, color: str) -> go.Figure:
    """Mean similarity, or bias of each head, at each offset; a band where positions with the same offset differ."""
    offsets, lines = profile["offsets"], profile["profile"]
    traces: list[Trace] = []
    several = len(lines) > 1
    shown = np.unique(np.linspace(0, len(lines) - 1, min(len(lines), MOST_HEADS)).round().astype(int))
    for index, line in enumerate(shown.tolist()):
        low, high = profile["low"][line], profile["high"][line]
        if not several and float((high - low).max()) > 1e-6:
            traces += _band(offsets, low, high, color)
        named = {
            "type": "scatter",
            "name": f"H{line + 1}" if several else "mean",
            "mode": "lines",
            "showlegend": several,
        }
        numbers = {"x": offsets.tolist(), "y": rounded(lines[line]), "hovertemplate": "offset %{x}: %{y:.4g}"}
        traces.append(named | numbers | painted(shade(color, 0.75 * index / max(1, len(shown) - 1)), width=2))
    trained = profile["trained"] - 1
    ends = [end for end in (-trained, trained) if offsets.min() < end < offsets.max()]
    return figure(
        traces,
        xaxis=axis("offset: key − query (positions)"),
        yaxis=axis("bias (score)" if profile["kind"] == "bias" else LIKENESS[profile["kind"]]),
        shapes=[across_line("x", end, "longest trained", **OF_TRAINED) for end in ends],
        margin={"l": 52, "r": 12, "t": 32 if several else 12, "b": 40},
    )


def _band(x: np.ndarray, low: np.ndarray, high: np.ndarray, color: str) -> list[Trace]:
    """A band from the smallest to the largest value, behind the mean."""
    plain: Trace = {
        "type": "scatter",
        "x": x.tolist(),
        "mode": "lines",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    faint = f"rgba({','.join(str(int(color[at : at + 2], 16)) for at in (1, 3, 5))},.18)"
    return [plain | {"y": rounded(low)}, plain | {"y": rounded(high), "fill": "tonexty", "fillcolor": faint}]


def singular_figure(portraits: Sequence[tuple[str, str, Profile]]) -> go.Figure:
    """Singular values relative to the largest: (name, colour, portrait) each."""
    traces = []
    for index, (name, color, profile) in enumerate(portraits):
        values = profile["singular"]
        relative = np.maximum(values / values[0] if len(values) and values[0] > 0 else values, FLOOR)
        traces.append(_curve(np.arange(1, len(relative) + 1), relative, name, color, index, "%{x}: %{y:.3g}"))
    return _logarithmic(traces, axis("singular value, from the largest"), "relative to the largest")


def fourier_figure(portraits: Sequence[tuple[str, str, Profile]]) -> go.Figure:
    """Share of the power at each frequency over positions."""
    hover = "%{x:.3f} cycles per position: %{y:.3g}"
    traces = [
        _curve(p["frequencies"][1:], np.maximum(p["power"][1:], FLOOR), name, color, index, hover)
        for index, (name, color, p) in enumerate(portraits)
    ]
    return _logarithmic(traces, axis("frequency (cycles per position)", range=[0, 0.5]), "share of the power")


def _logarithmic(traces: list[Trace], across: dict[str, Any], title: str) -> go.Figure:
    down = axis(title, type="log", exponentformat="power", nticks=4)
    return figure(traces, xaxis=across, yaxis=down, margin=LEGEND_MARGIN)


def components_figure(profile: Profile, color: str) -> go.Figure:
    """The first principal components as curves over the position."""
    at = profile["components_at"] + (profile["kind"] != "vectors")  # positions count from 1
    shares = profile["explained"]
    traces = [
        _curve(
            at, curve, f"{index + 1}: {100 * shares[index]:.0f} %", color, index, "%{x}: %{y:.3g}", tone=0.35 * index
        )
        for index, curve in enumerate(profile["components"])
    ]
    shapes = [] if profile["kind"] == "vectors" else end_marks(profile["trained"], profile["rows"], "x")
    return figure(
        traces, xaxis=axis(WHAT[profile["kind"]][1]), yaxis=axis("component"), margin=LEGEND_MARGIN, shapes=shapes
    )


def trajectory_figure(profile: Profile, color: str) -> go.Figure:
    """The first two components against each other, a point a position, coloured by it."""
    at = (profile["components_at"] + (profile["kind"] != "vectors")).tolist()
    curves, scale = profile["components"], sequential(color)
    first, second = (curves[0], curves[1]) if len(curves) > 1 else (curves[0], np.zeros_like(curves[0]))
    position = WHAT[profile["kind"]][1]
    path = {"type": "scatter", "x": rounded(first), "y": rounded(second), "showlegend": False}
    marker = {"color": at, "size": 7, "colorscale": scale["light"], "showscale": True, "colorbar": color_bar(position)}
    return figure(
        [
            path | {"mode": "lines", "opacity": 0.5, "hoverinfo": "skip"} | painted(muted(), width=1),
            path | {
                "mode": "markers", "text": list(map(str, at)), "hovertemplate": position + " %{text}<extra></extra>",
                "meta": {"scale": scale}, "marker": marker,
            },
        ],
        xaxis=axis("component 1", constrain="domain"),
        yaxis=axis("component 2", scaleanchor="x", constrain="domain"),
    )  # fmt: skip


def along_figure(steps: Sequence[int], values: Sequence[float], name: str, at: int, unit: str, color: str) -> go.Figure:
    """A number over a run's snapshots, with a mark at the chosen one."""
    line = _curve(steps, values, name, color, 0, "step %{x}: %{y:.3g}") | {"mode": "lines+markers"}
    shapes, across = [across_line("x", at, layer="above")], axis("step", tickformat=",d")
    return figure([line], xaxis=across, yaxis=axis(unit), shapes=shapes, margin=LEGEND_MARGIN, showlegend=False)


def _curve(
    x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray, name: str, color: str, index: int, hover: str, tone: float = 0.0
) -> Trace:  # fmt: skip
    """A line, of which each is dashed otherwise than the one before; ``index``: its number."""
    line = painted(shade(color, tone), width=2, dash=("solid", "dash", "dot")[index % 3])
    named = {"type": "scatter", "name": name, "mode": "lines", "marker": {"size": 5}, "hovertemplate": hover}
    return named | {"x": rounded(x), "y": rounded(y)} | line
