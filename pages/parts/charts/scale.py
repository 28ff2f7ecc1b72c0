"""The training memory of well-known models: one stacked bar for each model, and a line at the available memory."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from engine.foundation.formatting import in_bytes
from pages.parts.charts.base import LEGEND, axis, figure, uid_of
from pages.parts.charts.colors import INK, MUTED, Pair, shade

GIB = 2**30
COLOR = "#2A5BD7"
PARTS: dict[str, Pair] = {
    "weights": Pair(light=INK["light"], dark="#C9D2E0"),
    "gradients": Pair(light=MUTED["light"], dark="#8B97AB"),
    "optimizer": Pair(light="#98A3B5", dark="#5B677B"),
    "activations": shade(COLOR),
}


def scale_figure(predicted: pd.DataFrame, memory: int) -> go.Figure:
    """``predicted``: a row for each model by its label, in bytes; ``memory`` in bytes is drawn as a line."""
    labels = list(predicted.index)
    traces = [
        go.Bar(
            y=labels, x=(predicted[part] / GIB).tolist(), name=part, orientation="h", uid=uid_of(part),
            marker={"color": pair["light"], "line": {"width": 0}}, meta={"color": pair},
            customdata=predicted[part].map(in_bytes).tolist(),
            hovertemplate=f"%{{y}}, {part}: %{{customdata}}<extra></extra>",
        )
        for part, pair in PARTS.items()
    ]  # fmt: skip
    largest = max(memory / GIB, *(predicted["training"] / GIB))
    return figure(
        traces,
        barmode="stack",
        bargap=0.35,
        xaxis=axis("memory of a training step (GiB), predicted", range=[0, 1.06 * largest]),
        yaxis=axis("", autorange="reversed", showgrid=False),
        hovermode="closest",
        legend={**LEGEND, "traceorder": "normal"},
        margin={"l": 90, "r": 12, "t": 34, "b": 40},
        shapes=[
            {
                "type": "line", "xref": "x", "x0": memory / GIB, "x1": memory / GIB, "yref": "paper", "y0": 0, "y1": 1, "name": "accent",
                "line": {"width": 1.5, "dash": "dash"},
            }
        ],
    )  # fmt: skip
