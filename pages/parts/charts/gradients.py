"""Gradient norms along training: by layer, or its query, key and value weights separately."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from pages.parts.charts.base import Columns, axis, figure, line, steps_axis
from pages.parts.charts.colors import muted, shade

PARTS = {"q": "solid", "k": "dash", "v": "dot"}
NAMED = 6
"""The most layers in the legend; the others are named in the hover only."""
REST = {"embedding": "dash", "encoding": "dot", "head": "dashdot"}


def gradients_figure(steps: int, layers: Sequence[str], color: str, columns: Columns | None = None) -> go.Figure:
    """L2 norms before clipping, on a logarithmic axis. ``layers``: names in Progress.grad_norms; deeper layers are darker."""
    traces = []
    named, apart = (some_of(layers, most) for most in (NAMED, NAMED // len(PARTS)))
    for place, layer in enumerate(layers):
        tone = 0.85 * place / max(1, len(layers) - 1)
        label = layer_label(layer)
        traces.append(
            line(
                f"grad_norms.{layer}.total",
                label,
                shade(color, tone),
                columns=columns,
                hover=".2e",
                view="layer",
                legend=layer in named,
            )
        )
        traces += [
            line(
                f"grad_norms.{layer}.{part}", f"{label} {part}", shade(color, tone), columns=columns, width=1.8,
                dash=dash, hover=".2e", view="qkv", legend=layer in apart,
            )
            for part, dash in PARTS.items()
        ]  # fmt: skip
    traces += [
        line(f"grad_norms.{part}", part, muted(), columns=columns, width=1.4, dash=dash, hover=".2e", view="layer")
        for part, dash in REST.items()
    ]
    return figure(
        traces,
        xaxis=steps_axis(steps),
        yaxis=axis("gradient norm", type="log", exponentformat="power", nticks=3),
        hovermode="x unified",
    )


def some_of(layers: Sequence[str], most: int) -> set[str]:
    """At most ``most`` layers, the first and the last among them: a legend of all 24 would leave no room for the lines."""
    if len(layers) <= most:
        return set(layers)
    return {layers[round(place * (len(layers) - 1) / (most - 1))] for place in range(most)}


def layer_label(layer: str) -> str:
    """The label of a layer: L1 for ``"0"``; E1 for ``"e0"``, on the encoder side."""
    return f"E{int(layer[1:]) + 1}" if layer.startswith("e") else f"L{int(layer) + 1}"
