"""The memory of one token's keys and values, a bar per model."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from engine.foundation.formatting import in_bytes
from pages.parts.charts.base import axis, figure, uid_of
from pages.parts.charts.colors import shade

COLOR = "#2A5BD7"


def cache_figure(entries: Mapping[str, int]) -> go.Figure:
    """``held`` in bytes per token, by the model's label."""
    pair = shade(COLOR)
    bars = go.Bar(
        y=list(entries), x=[size / 2**10 for size in entries.values()], orientation="h", uid=uid_of("cache"),
        marker={"color": pair["light"], "line": {"width": 0}}, meta={"color": pair},
        customdata=[in_bytes(size) for size in entries.values()], hovertemplate="%{y}: %{customdata}<extra></extra>",
    )  # fmt: skip
    return figure([bars], xaxis=axis("cache per token (KiB), predicted"), yaxis=axis("", autorange="reversed"))
