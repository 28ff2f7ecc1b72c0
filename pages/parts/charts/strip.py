"""The final numbers of the arms: a point for each seed, a bar at the mean; arms as rows, or as lines over x."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import plotly.graph_objects as go

from pages.parts.charts.arms import is_share, is_spread, wrapped
from pages.parts.charts.base import axis, figure, level
from pages.parts.charts.colors import Pair

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
ROW = 46
"""The height of a row in pixels."""
TITLE = 34
"""The most letters of an axis title that fit on a phone, beside the row names."""
AIR = 0.06
"""The share of an axis that stays empty at either end."""
TINY = 1e-6
"""The value below which a linear axis would show values as zero."""


@dataclass(frozen=True)
class Ended:
    """An arm's number at the end of each seed; None where a seed has none (yet)."""

    name: str
    color: Pair
    values: Sequence[float | None]
    seeds: Sequence[int]
    without: int = 0
    """The number of seeds that ended without the number."""

    @property
    def known(self) -> list[float]:
        return [value for value in self.values if value is not None]


def strip_figure(rows: Sequence[Ended], label: str, chance: float | None = None) -> go.Figure:
    """One row for each arm, the first on top."""
    traces = [trace for place, row in enumerate(rows) for trace in (_points(place, row), _mean_bar(place, row))]
    known = [value for row in rows for value in row.known]
    # The chance of a share is at the left end, where a centred label would be cut off.
    beside = "left" if is_share(label) else "center"
    levels = [] if chance is None else [upright(chance, f"chance {chance:.3g}", anchor=beside)]
    return figure(
        traces,
        xaxis=_values_axis(label, known, chance),
        yaxis=axis(
            "",
            range=[len(rows) - 0.5, -0.5],
            tickvals=list(range(len(rows))),
            ticktext=[_named(row) for row in rows],
            showgrid=False,
            fixedrange=True,
        ),
        showlegend=False,
        margin={"l": 8, "r": 14, "t": 20 if levels else 6, "b": 38},
        hovermode="closest",
        shapes=levels,
    )


def strip_height(rows: int) -> int:
    """The height of the figure in pixels."""
    return 64 + ROW * rows


def _named(row: Ended) -> str:
    """The name of a row on at most three lines, for which there is room."""
    name = f"{row.name} ({row.without} without)" if row.without else row.name
    return wrapped(name, max(18, len(name) // 2))


def _values_axis(label: str, known: Sequence[float], chance: float | None) -> dict[str, object]:
    title = wrapped(label, TITLE)
    if is_share(label) and all(0 <= value <= 1 for value in known):
        return axis(title, range=[-0.03, 1.03])
    if not known and chance is None:
        return axis(title, range=[0, 1], showticklabels=False)  # no number before there is one
    if is_spread(known) or (known and min(known) > 0 and max(known) < TINY):
        decades = math.log10(max(known) / min(known))
        return axis(title, type="log", exponentformat="power", dtick=max(1, round(decades / 4)))
    return axis(title)


def _points(place: int, row: Ended) -> go.Scatter:
    """The seeds of a row side by side, so that equal values do not overlap."""
    count = len(row.values)
    found = [
        (seed, value, n) for n, (seed, value) in enumerate(zip(row.seeds, row.values, strict=True)) if value is not None
    ]
    return go.Scatter(
        x=[float(f"{value:.5g}") for _, value, _ in found],
        y=[place + 0.3 * (2 * (n + 0.5) / count - 1) for _, _, n in found],
        text=[f"{row.name}, seed {seed}".replace("<", "&lt;") for seed, _, _ in found],
        name=row.name, uid=f"points-{place}", mode="markers", opacity=0.65, cliponaxis=False,
        marker={"color": row.color["light"], "size": 8},
        hovertemplate="%{text}: %{x:.4g}<extra></extra>", meta={"color": row.color, "label": row.name},
    )  # fmt: skip


def _mean_bar(place: int, row: Ended) -> go.Scatter:
    known = row.known
    mean = [float(f"{fmean(known):.5g}")] if known else []
    return go.Scatter(
        x=mean * 2, y=[place - 0.38, place + 0.38] if known else [], name=f"{row.name}, mean", uid=f"mean-{place}",
        mode="lines", line={"color": row.color["light"], "width": 3.5}, cliponaxis=False,
        hovertemplate="mean %{x:.4g}<extra></extra>", meta={"color": row.color, "label": f"{row.name}, mean"},
    )  # fmt: skip


@dataclass(frozen=True)
class OverX:
    """A line: the values that each seed reached at each x."""

    name: str
    color: Pair
    points: Mapping[float, Ended]


def over_x_figure(lines: Sequence[OverX], x_label: str, label: str, chance: float | None = None) -> go.Figure:
    """A bold line of means and a small mark for each seed; lines differ in colour, dash and mark."""
    traces: list[go.Scatter] = []
    for place, line in enumerate(lines):
        symbol, dash = SYMBOLS[place % len(SYMBOLS)], DASHES[place % len(DASHES)]
        named = line.name.replace("<", "&lt;")
        known = {x: ended.known for x, ended in sorted(line.points.items()) if ended.known}
        seeds = [
            (x, seed, v)
            for x, e in sorted(line.points.items())
            for seed, v in zip(e.seeds, e.values, strict=True)
            if v is not None
        ]
        traces += [
            go.Scatter(
                x=[x for x, _, _ in seeds], y=[float(f"{value:.5g}") for _, _, value in seeds],
                text=[f"{named}, seed {seed}" for _, seed, _ in seeds],
                name=named, uid=f"seeds-{place}", mode="markers", opacity=0.45, showlegend=False, legendgroup=str(place),
                marker={"color": line.color["light"], "size": 5, "symbol": symbol}, cliponaxis=False,
                hovertemplate="%{text}, %{x}: %{y:.4g}<extra></extra>", meta={"color": line.color, "label": line.name},
            ),
            go.Scatter(
                x=list(known), y=[float(f"{fmean(values):.5g}") for values in known.values()],
                name=named, uid=f"line-{place}", mode="lines+markers", legendgroup=str(place), cliponaxis=False,
                line={"color": line.color["light"], "width": 2.6, "dash": dash},
                marker={"color": line.color["light"], "size": 8, "symbol": symbol},
                hovertemplate=f"{named}, mean at %{{x}}: %{{y:.4g}}<extra></extra>",
                meta={"color": line.color, "label": f"{line.name}, mean"},
            ),
        ]  # fmt: skip
    values = [value for line in lines for ended in line.points.values() for value in ended.known]
    levels = [] if chance is None else [level(chance, f"chance {chance:.3g}")]
    return figure(
        traces,
        xaxis=_places_axis(x_label, sorted({x for line in lines for x in line.points})),
        yaxis=_values_axis(label, values, chance),
        margin={"l": 52, "r": 14, "t": 34, "b": 42},
        hovermode="closest",
        shapes=levels,
    )


def _places_axis(label: str, xs: Sequence[float]) -> dict[str, object]:
    """The axis over all x of the experiment, fixed while lines come in, with a tick at each.

    It is logarithmic where the x lie far apart. With a zero among them no scale fits: they then stand at equal distances.
    """
    if xs[0] == 0 and is_spread(xs[1:]):
        return axis(label, type="category", categoryarray=xs, range=[-AIR * len(xs), len(xs) - 1 + AIR * len(xs)])
    far = is_spread(xs) or (len(xs) > 2 and xs[0] > 0 and xs[-1] / xs[0] >= 8)
    low, high = (math.log10(xs[0]), math.log10(xs[-1])) if far else (xs[0], xs[-1])
    air = AIR * (high - low) or 1.0
    ticks = {"tickvals": xs, "ticktext": [f"{x:g}" for x in xs], "type": "log" if far else "linear"}
    return axis(label, range=[low - air, high + air], **ticks)


def upright(value: float, text: str, *, dash: str = "dash", anchor: str = "center") -> dict[str, object]:
    """A vertical line over the whole height, its name at the top; ``anchor`` is the side of the name at the line."""
    return {
        "type": "line", "xref": "x", "x0": value, "x1": value, "yref": "paper", "y0": 0, "y1": 1,
        "line": {"width": 1.2, "dash": dash}, "layer": "below", "name": text,
        "label": {"text": text, "textposition": "end", "textangle": 0, "xanchor": anchor, "yanchor": "bottom", "font": {"size": 11}},
    }  # fmt: skip
