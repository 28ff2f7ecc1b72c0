"""The final numbers of the arms as rows, a point per seed and a bar at the mean; and a claim's effect with its
interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import plotly.graph_objects as go

from engine.experiments.bounds import is_share
from pages.parts.charts.base import across_line, axis, figure, painted, rounded
from pages.parts.charts.colors import ATTENTION, Pair, muted, shade
from pages.parts.charts.experiments.arms import is_logarithmic, wrapped

ROW = 48  # pixels, at least
LINE = 19  # pixels of a line of letters
TITLE = 34  # letters of an axis title that fit on a phone, next to the row names
AIR = 0.06  # the empty share of an axis at either end
CLOSE = 0.07  # share of the axis below which the label of zero would overlap that of the smallest effect
# pixels of a figure with a unit of one line, and of each further line; letters in a line on a phone
HEIGHT, UNIT_LINE, UNIT_WIDTH = 128, 18, 44


@dataclass(frozen=True)
class EndNumbers:
    """An arm's final numbers by seed; None for a seed without one (yet)."""

    name: str
    color: Pair
    values: Sequence[float | None]
    seeds: Sequence[int]
    n_without: int = 0  # seeds that ended without the number
    beside: Sequence[float | None] = ()  # the compared numbers, by seed

    @property
    def known(self) -> list[float]:
        return [value for value in self.values if value is not None]

    @property
    def mean(self) -> float | None:
        """Over the seeds with both numbers if there are any, as in the sentence of the comparison; else over all."""
        pairs = zip(self.values, self.beside, strict=False)
        known = [value for value, other in pairs if value is not None and other is not None] or self.known
        return fmean(known) if known else None


def strip_figure(rows: Sequence[EndNumbers], label: str, chance: float | None = None) -> go.Figure:
    known = [value for row in rows for value in row.known]
    levels = (
        []
        if chance is None
        else [across_line("x", chance, f"chance {chance:.3g}", xanchor=_side(chance, known, label))]
    )
    return figure(
        row_traces(rows),
        xaxis=values_axis(label, known, chance),
        yaxis=rows_axis([_label_of(row) for row in rows]),
        showlegend=False,
        margin={"l": 8, "r": 14, "t": 24 if levels else 6, "b": 46},
        shapes=levels,
    )


def strip_height(rows: Sequence[EndNumbers]) -> int:
    """In pixels."""
    lines = max((_label_of(row).count("<br>") + 1 for row in rows), default=1)
    return 76 + max(ROW, LINE * lines + 4) * len(rows)


def _label_of(row: EndNumbers) -> str:
    name = f"{row.name} ({row.n_without} without)" if row.n_without else row.name
    return wrapped(name, max(20, len(name) // 2))


def rows_axis(names: Sequence[str], **more: object) -> dict[str, object]:
    positions = {"range": [len(names) - 0.5, -0.5], "tickvals": list(range(len(names))), "ticktext": list(names)}
    return axis("", **positions, showgrid=False, fixedrange=True, **more)


def _side(chance: float, known: Sequence[float], label: str) -> str:
    """The anchor of the label of chance: at an end of the axis a centred label would be cut off."""
    if is_share(label) or chance < min(known, default=chance):
        return "left"
    return "right" if chance > max(known, default=chance) else "center"


def values_axis(label: str, known: Sequence[float], chance: float | None) -> dict[str, object]:
    title = wrapped(label, TITLE)
    if is_share(label) and all(0 <= value <= 1 for value in known):
        return axis(title, range=[-0.03, 1.03])
    if not known and chance is None:
        return axis(title, range=[0, 1], showticklabels=False)  # no ticks before the first number
    if is_logarithmic(label, known):
        decades = math.log10(max(known) / min(known))
        ticks = {"dtick": max(1, round(decades / 4))} if decades > 2 else {"nticks": 5}
        return axis(title, type="log", exponentformat="power", **ticks)
    return axis(title)


def row_traces(rows: Sequence[EndNumbers], shift: float = 0.0, high: float = 1.0) -> list[go.Scatter]:
    """The seeds and mean of all rows. In rows: ``shift`` from the middle, and the height ``high``."""
    return [
        trace for n, row in enumerate(rows) for trace in (_points(n, row, shift, high), _mean_bar(n, row, shift, high))
    ]


def _points(index: int, row: EndNumbers, shift: float, high: float) -> go.Scatter:
    """The seeds of a row at different heights, so that equal values do not overlap."""
    count = len(row.values)
    points = [
        (seed, value, n) for n, (seed, value) in enumerate(zip(row.seeds, row.values, strict=True)) if value is not None
    ]
    return go.Scatter(
        x=rounded(value for _, value, _ in points), y=[index + shift + 0.3 * high * (2 * (n + 0.5) / count - 1) for _, _, n in points],
        text=[f"{row.name}, seed {seed}".replace("<", "&lt;") for seed, _, _ in points], hovertemplate="%{text}: %{x:.4g}<extra></extra>",
        name=row.name, uid=f"points-{index}", mode="markers", opacity=0.65, cliponaxis=False, **painted(row.color, row.name, size=8),
    )  # fmt: skip


def _mean_bar(index: int, row: EndNumbers, shift: float, high: float) -> go.Scatter:
    name, mean = f"{row.name}, mean", [] if row.mean is None else rounded([row.mean])
    ends = [index + shift - 0.38 * high, index + shift + 0.38 * high]
    return go.Scatter(
        x=mean * 2, y=ends if mean else [], name=name, uid=f"mean-{index}", mode="lines", cliponaxis=False,
        hovertemplate="mean %{x:.4g}<extra></extra>", **painted(row.color, name, width=3.5),
    )  # fmt: skip


def effect_figure(
    effects: Sequence[float | None], mean: float | None, interval: tuple[float, float] | None, smallest: float, direction: str, unit: str
) -> go.Figure:  # fmt: skip
    """A claim's effect: the seeds as ticks above the mean and its interval. The claimed side is shaded."""
    color, threshold = shade(ATTENTION), smallest if direction == "more" else -smallest
    known = [value for value in effects if value is not None]
    extent = [0.0, threshold, *known, *(interval or ())]
    margin = 0.1 * (max(extent) - min(extent))
    low, high = min(extent) - margin, max(extent) + margin
    ends, dot = list(interval or ()), [] if mean is None else [mean]
    seeds, whiskers = painted(muted(), "effect of each seed", size=7), painted(color, "95 % interval", width=3, size=12)
    for drawn, width in ((seeds, 1.6), (whiskers, 3)):
        drawn["marker"] |= {"symbol": "line-ns", "line": {"width": width}}
    claimed = {
        "x0": threshold,
        "x1": high if threshold > 0 else low,
        "y0": 0,
        "y1": 1,
        "line": {"width": 0},
        "name": "claimed",
    }
    return figure(
        [
            go.Scatter(
                x=known, y=[0.62] * len(known), name="seeds", uid="seeds", mode="markers", opacity=0.5, cliponaxis=False,
                hovertemplate="one seed: %{x:.3g}<extra></extra>", **seeds,
            ),
            go.Scatter(
                x=ends, y=[0.25] * len(ends), name="95 % interval", uid="interval", mode="lines+markers",
                hovertemplate="95 % interval: %{x:.3g}<extra></extra>", **whiskers,
            ),
            go.Scatter(
                x=dot, y=[0.25] * len(dot), name="effect", uid="effect", mode="markers",
                hovertemplate="mean effect: %{x:.3g}<extra></extra>", **painted(color, "mean effect", size=12),
            ),
        ],
        xaxis=axis(_in_lines(unit), range=[low, high], nticks=6),
        yaxis={"visible": False, "range": [0, 0.85], "fixedrange": True},
        showlegend=False,
        margin={"l": 12, "r": 12, "t": 24, "b": 44 + effect_height(unit) - HEIGHT},
        shapes=[
            across_line("x", 0.0, "0" if abs(threshold) > CLOSE * (high - low) else "", dash="solid"),
            across_line("x", threshold, f"{threshold:+.3g}".replace("-", "−")),
            {"type": "rect", "xref": "x", "yref": "paper", "layer": "below", **claimed},
        ],
    )  # fmt: skip


def effect_height(unit: str) -> int:
    """In pixels."""
    return HEIGHT + UNIT_LINE * _in_lines(unit).count("<br>")


def _in_lines(unit: str) -> str:
    return wrapped(unit, UNIT_WIDTH if len(unit) <= UNIT_WIDTH else len(unit) // 2 + 6)
