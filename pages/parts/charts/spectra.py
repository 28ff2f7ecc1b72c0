"""Figures of an encoding's spectra: singular values, Fourier spectrum, principal components, numbers along a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.parts.charts.base import Trace, axis, color_bar, figure
from pages.parts.charts.colors import MUTED, muted, sequential, shade
from pages.parts.charts.portrait import WHAT, Portrait, across_line, end_marks, five_digits, plain_scatter

FLOOR = 1e-6
"""The lower end of logarithmic axes: smaller values are rounding."""


def singular_figure(portraits: Sequence[tuple[str, str, Portrait]]) -> go.Figure:
    """Singular values relative to the largest: (name, colour, portrait) each."""
    traces = []
    for place, (name, color, portrait) in enumerate(portraits):
        values = portrait["singular"]
        relative = values / values[0] if len(values) and values[0] > 0 else values
        traces.append(
            _curve(np.arange(1, len(relative) + 1), np.maximum(relative, FLOOR), name, color, place, "%{x}: %{y:.3g}")
        )
    return figure(
        traces, xaxis=axis("singular value, from the largest"),
        yaxis=axis("relative to the largest", type="log", exponentformat="power", nticks=4), margin=LEGEND_MARGIN,
    )  # fmt: skip


def fourier_figure(portraits: Sequence[tuple[str, str, Portrait]]) -> go.Figure:
    """Share of the power at each frequency over positions."""
    traces = [
        _curve(
            p["frequencies"][1:],
            np.maximum(p["power"][1:], FLOOR),
            name,
            color,
            place,
            "%{x:.3f} cycles a position: %{y:.3g}",
        )
        for place, (name, color, p) in enumerate(portraits)
    ]
    return figure(
        traces, xaxis=axis("frequency (cycles a position)", range=[0, 0.5]),
        yaxis=axis("share of the power", type="log", exponentformat="power", nticks=4), margin=LEGEND_MARGIN,
    )  # fmt: skip


LEGEND_MARGIN = {"l": 60, "r": 12, "t": 32, "b": 40}


def components_figure(portrait: Portrait, color: str) -> go.Figure:
    """The first principal components as curves over the position."""
    at = portrait["components_at"]
    shares = portrait["explained"]
    traces = [
        _curve(at, curve, f"{place + 1}: {shares[place]:.0%}", color, place, "%{x}: %{y:.3g}", tone=0.35 * place)
        for place, curve in enumerate(portrait["components"])
    ]
    shapes = [] if portrait["kind"] == "vectors" else end_marks(portrait, portrait["rows"], "x")
    return figure(
        traces, xaxis=axis(WHAT[portrait["kind"]][1]), yaxis=axis("component"), margin=LEGEND_MARGIN, shapes=shapes
    )


def trajectory_figure(portrait: Portrait, color: str) -> go.Figure:
    """The first two components against each other, a point a position, coloured by it."""
    curves = portrait["components"]
    first, second = (curves[0], curves[1]) if len(curves) > 1 else (curves[0], np.zeros_like(curves[0]))
    at = portrait["components_at"]
    scale = sequential(color)
    return figure(
        [
            plain_scatter(
                x=five_digits(first), y=five_digits(second), mode="lines", line={"color": MUTED["light"], "width": 1},
                meta={"color": muted()}, opacity=0.5, hoverinfo="skip", showlegend=False,
            ),
            plain_scatter(
                x=five_digits(first), y=five_digits(second), mode="markers", text=[str(place) for place in at.tolist()], showlegend=False,
                hovertemplate=WHAT[portrait["kind"]][1] + " %{text}<extra></extra>", meta={"scale": scale},
                marker={
                    "color": at.tolist(), "size": 7, "colorscale": scale["light"], "showscale": True,
                    "colorbar": color_bar(WHAT[portrait["kind"]][1]),
                },
            ),
        ],
        xaxis=axis("component 1", constrain="domain"),
        yaxis=axis("component 2", scaleanchor="x", constrain="domain"),
    )  # fmt: skip


def along_figure(
    steps: Sequence[int], lines: Sequence[tuple[str, Sequence[float]]], at: int, unit: str, color: str
) -> go.Figure:
    """Numbers over a run's snapshots, with a mark at the chosen one."""
    traces = [
        _curve(
            np.asarray(steps),
            np.asarray(values),
            name,
            color,
            place,
            "step %{x}: %{y:.3g}",
            tone=0.5 * place,
            points=True,
        )
        for place, (name, values) in enumerate(lines)
    ]
    return figure(
        traces, xaxis=axis("step", tickformat=",d"), yaxis=axis(unit), shapes=[across_line("x", at, "")], margin=LEGEND_MARGIN,
        showlegend=len(lines) > 1,
    )  # fmt: skip


def _curve(
    x: np.ndarray, y: np.ndarray, name: str, color: str, place: int, hover: str, tone: float = 0.0, points: bool = False
) -> Trace:
    pair = shade(color, tone)
    return plain_scatter(
        x=five_digits(x), y=five_digits(y), name=name, mode="lines+markers" if points else "lines", marker={"size": 5},
        line={"color": pair["light"], "width": 2, "dash": ("solid", "dash", "dot")[place % 3]}, meta={"color": pair},
        hovertemplate=hover,
    )  # fmt: skip
