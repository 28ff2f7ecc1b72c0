"""Figures of a cost over length or depth on logarithmic axes, and of the parts of memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log10

import plotly.graph_objects as go

from engine.foundation.formatting import in_bytes, in_fine_time
from engine.settings.costs import Memory
from engine.sweeps.fit import Fit
from engine.sweeps.result import Summary
from pages.parts.charts.base import LEGEND, axis, figure, uid_of
from pages.parts.charts.colors import muted, shade
from pages.parts.charts.memory import part_colors, parts_of

MIB = 2**20
MOST_TICKS = 7


@dataclass(frozen=True)
class Unit:
    """The unit of values on the axis and in the hover."""

    name: str
    size: float
    words: Callable[[float], str]


MILLISECONDS = Unit("ms", 1e-3, in_fine_time)
MEBIBYTES = Unit("MiB", MIB, in_bytes)


@dataclass(frozen=True)
class CostLine:
    """One model's cost along the axis."""

    name: str
    label: str
    color: str
    levels: Sequence[Summary]
    """The measured values: median and range at each length or depth."""
    fit: Fit | None = None
    predicted: Sequence[tuple[int, float]] = ()
    dashed: bool = False
    """Whether the line is dashed: the second of two lines in one colour."""


def cost_figure(lines: Sequence[CostLine], places: Sequence[int], what_grows: str, unit: Unit, what: str) -> go.Figure:
    """Points are measured, with their range; a thick line is the power law over the range of its fit; a dotted line is
    predicted by formula. Both axes are logarithmic."""
    traces = [_measured(line, what_grows, unit) for line in lines]
    traces += [_law(line, unit) for line in lines if line.fit is not None]
    traces += [_predicted(line, what_grows, unit) for line in lines if line.predicted]
    return figure(
        traces,
        xaxis=axis(what_grows, **places_axis(places)),
        # More ticks, and labels at all nine digits of a decade.
        yaxis=axis(f"{what} ({unit.name})", type="log", tickformat=",~g", nticks=3),
        hovermode="closest",
        margin={"l": 58, "r": 12, "t": 52, "b": 40},
    )


def places_axis(places: Sequence[int]) -> dict[str, object]:
    """A logarithmic axis with the measured lengths or depths as ticks."""
    every = 1 + (len(places) - 1) // MOST_TICKS
    shown = list(places)[::-1][::every][::-1]
    ends = [log10(min(places)) - 0.06, log10(max(places)) + 0.06]
    return {"type": "log", "range": ends, "tickvals": shown, "ticktext": [f"{place:,}" for place in shown]}


def _measured(line: CostLine, what_grows: str, unit: Unit) -> go.Scatter:
    color = shade(line.color)
    levels = line.levels
    return go.Scatter(
        x=[level.place for level in levels], y=[level.value / unit.size for level in levels], mode="markers+lines",
        name=_legend(line), uid=uid_of(line.name, "measured"), legendgroup=line.name,
        line={"color": color["light"], "width": 1, "dash": "dash" if line.dashed else "solid"},
        marker={"color": color["light"], "size": 7, "symbol": "circle-open" if line.dashed else "circle"},
        error_y={
            "type": "data", "symmetric": False, "thickness": 1, "width": 3,
            "array": [(level.high - level.value) / unit.size for level in levels],
            "arrayminus": [(level.value - level.low) / unit.size for level in levels],
        },
        customdata=[
            [unit.words(level.value), f"{unit.words(level.low)} to {unit.words(level.high)}, {_times(level.visits)}"]
            for level in levels
        ],
        hovertemplate=f"{line.label}, %{{x:,}} {what_grows}<br>%{{customdata[0]}}, measured<br>%{{customdata[1]}}<extra></extra>",
        meta={"color": color, "label": f"{line.label}, measured"},
    )  # fmt: skip


def _law(line: CostLine, unit: Unit) -> go.Scatter:
    color, fit = shade(line.color), line.fit
    assert fit is not None
    ends = [fit.first, fit.last]
    return go.Scatter(
        x=ends, y=[fit.at(place) / unit.size for place in ends], mode="lines", name=f"{line.label}, power law",
        uid=uid_of(line.name, "law"), legendgroup=line.name, showlegend=False, opacity=0.45,
        line={"color": color["light"], "width": 6},
        hovertemplate=f"{line.label}: {law_in_words(fit)}<extra></extra>",
        meta={"color": color, "label": f"{line.label}, power law"},
    )  # fmt: skip


def _predicted(line: CostLine, what_grows: str, unit: Unit) -> go.Scatter:
    color = shade(line.color)
    return go.Scatter(
        x=[place for place, _ in line.predicted], y=[value / unit.size for _, value in line.predicted], mode="lines",
        name=f"{line.label}, predicted", uid=uid_of(line.name, "predicted"), legendgroup=line.name,
        showlegend=False, line={"color": color["light"], "width": 1.6, "dash": "dot"},
        customdata=[unit.words(value) for _, value in line.predicted],
        hovertemplate=f"{line.label}, %{{x:,}} {what_grows}<br>%{{customdata}}, predicted<extra></extra>",
        meta={"color": color, "label": f"{line.label}, predicted"},
    )  # fmt: skip


def _legend(line: CostLine) -> str:
    return line.label if line.fit is None else f"{line.label} n<sup>{line.fit.exponent:.2f}</sup>".replace("-", "−")


def law_in_words(fit: Fit) -> str:
    return (
        f"exponent {fit.exponent:.2f}, 95 % interval {fit.low:.2f} to {fit.high:.2f}, {fit.says}"
        f" ({fit.first:,.0f} to {fit.last:,.0f})"
    )


def _times(visits: int) -> str:
    return "once" if visits == 1 else f"{visits} visits"


def parts_figure(
    bars: Sequence[tuple[int, Memory]], measured: Sequence[tuple[int, Memory]], what_grows: str, color: str
) -> go.Figure:
    """The memory that a training step keeps, stacked; dots are the measured sums, open dots the measured peaks."""
    pairs = part_colors(color)
    largest = max((sum(v or 0 for v in parts_of(memory).values()) for _, memory in (*bars, *measured)), default=MIB)
    unit, size = ("GiB", 2**30) if largest >= 2**30 else ("MiB", MIB)
    traces: list[object] = [
        go.Bar(
            x=[f"{place:,}" for place, _ in bars], y=[(parts_of(memory)[part] or 0) / size for _, memory in bars],
            name=part, uid=uid_of(part), marker={"color": pair["light"], "line": {"width": 0}},
            customdata=[in_bytes(parts_of(memory)[part]) for _, memory in bars], meta={"color": pair},
            hovertemplate=f"{part}, %{{x}} {what_grows}: %{{customdata}}<extra></extra>",
        )
        for part, pair in pairs.items()
    ]  # fmt: skip
    sums = [(place, memory.total) for place, memory in measured if memory.total is not None]
    peaks = [(place, memory.peak) for place, memory in measured if memory.peak is not None]
    traces += [_dots("measured", "circle", sums, size), _dots("measured peak", "circle-open", peaks, size)]
    return figure(
        traces,
        barmode="stack",
        bargap=0.35,
        xaxis=axis(what_grows, type="category", showgrid=False),
        yaxis=axis(f"memory of a training step ({unit})", rangemode="tozero"),
        hovermode="closest",
        margin={"l": 58, "r": 12, "t": 52, "b": 40},
        legend={**LEGEND, "traceorder": "normal"},
    )


def _dots(name: str, symbol: str, points: Sequence[tuple[int, int]], size: int) -> go.Scatter:
    pair = muted()
    return go.Scatter(
        x=[f"{place:,}" for place, _ in points], y=[value / size for _, value in points], mode="markers", name=name, uid=uid_of(name),
        marker={"color": pair["light"], "size": 9, "symbol": symbol, "line": {"width": 1.5}}, meta={"color": pair},
        customdata=[in_bytes(value) for _, value in points], hovertemplate=f"{name}: %{{customdata}}<extra></extra>",
    )  # fmt: skip
