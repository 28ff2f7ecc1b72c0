"""A language model's loss over the tokens read, beside counting models, and its most likely next tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, exp, floor, log

import numpy as np
import plotly.graph_objects as go

from pages.parts.charts.base import axis, figure, uid_of
from pages.parts.charts.colors import MUTED, mix, shade
from pages.parts.charts.loss import perplexity_axis

COUNTING_DASHES = {"unigram": "dot", "bigram": "dash", "trigram": "solid"}


def by_read_figure(by_read: Mapping[str, np.ndarray], names: Mapping[str, str], color: str) -> go.Figure:
    """Mean nats over the number of tokens read; the counting models, in grey, on the very same tokens."""
    shown = {which: nats for which, nats in by_read.items() if which != "unigram"}  # far above all others
    grey = shade(mix(MUTED["light"], "#FFFFFF", 0.15))
    traces = [
        go.Scatter(
            x=list(range(1, len(nats) + 1)), y=[round(float(value), 4) for value in nats], name=names[which], uid=uid_of(which),
            mode="lines+markers" if which == "model" else "lines", text=[f"{exp(value):.1f}" for value in nats],
            line={"width": 2.8 if which == "model" else 1.6, "dash": COUNTING_DASHES.get(which, "solid")},
            hovertemplate="%{y:.3f} nats, perplexity %{text}", meta={"color": shade(color) if which == "model" else grey},
        )
        for which, nats in shown.items()
    ]  # fmt: skip
    ends = [float(value) for nats in shown.values() for value in (nats.min(), nats.max())]
    return figure(
        traces,
        xaxis=axis("tokens of the window read so far", rangemode="tozero", tickformat=",d"),
        yaxis=perplexity_axis(_ticks(min(ends), max(ends))),
        hovermode="x unified",
    )


def _ticks(low: float, high: float) -> list[float]:
    """At most seven ticks, in nats, at round perplexities."""
    first, last = exp(low), exp(high)
    step = next(size for size in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10_000) if last - first <= 5 * size)
    return [log(max(1, step * n)) for n in range(floor(first / step), ceil(last / step) + 1)]


def next_figure(likeliest: Sequence[tuple[str, float]], color: str) -> go.Figure:
    """The likeliest next tokens, the likeliest on top, with their sampling probabilities."""
    names = [f"{name} " for name, _ in likeliest]  # the space keeps tokens that are numbers from making a number axis
    bars = go.Bar(
        x=[round(p, 5) for _, p in likeliest], y=names, orientation="h", uid="next", hovertemplate="%{y}: %{x:.3f}<extra></extra>",
        meta={"color": shade(color), "label": "probability"},
    )  # fmt: skip
    return figure(
        [bars],
        xaxis=axis("probability", rangemode="tozero"),
        yaxis=axis("next token", autorange="reversed", type="category", dtick=1, showgrid=False, ticks=""),
        margin={"l": 60, "r": 12, "t": 8, "b": 40},
        showlegend=False,
    )
