"""Figures of a cost over length or depth on logarithmic axes, and of a training step's memory by part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log10

import plotly.graph_objects as go

from engine.experiments.sweeps.result import Summary
from engine.foundation.formatting import in_bytes, in_fine_time
from engine.settings.costs import Memory
from pages.parts.charts.base import FONT, LEGEND, Trace, apart, axis, figure, painted, uid_of
from pages.parts.charts.colors import GREYS, MUTED, Pair, muted, shade

MIB, GIB = 2**20, 2**30
UNITS = (("bytes", 1), ("KiB", 2**10), ("MiB", MIB), ("GiB", GIB))
MAX_TICKS = 7
# in pixels
PLOT = 220  # height of a plot of lines
SPAN = 150  # height between its lowest and highest value on a phone, where the upright labels of ticks leave least room
ROW = 16  # height of a name at a line's end
STACKED = {"barmode": "stack", "legend": {**LEGEND, "traceorder": "normal"}}


@dataclass(frozen=True)
class Unit:
    name: str
    size: float
    words: Callable[[float], str]


MILLISECONDS = Unit("ms", 1e-3, in_fine_time)
MEBIBYTES = Unit("MiB", MIB, in_bytes)


@dataclass(frozen=True)
class CostLine:
    name: str
    label: str
    short: str  # at the line's end
    color: str
    levels: Sequence[Summary]  # median and range at each length or depth
    predicted: Sequence[tuple[int, float]] = ()
    dashed: bool = False  # the second of two lines in one colour


def cost_figure(
    lines: Sequence[CostLine], ticks: Sequence[int], what_grows: str, unit: Unit, quantity: str
) -> go.Figure:
    traces = [_measured_line(line, what_grows, unit) for line in lines]
    traces += [_predicted(line, what_grows, unit) for line in lines if line.predicted]
    return figure(
        traces,
        xaxis=axis(what_grows, **ticks_axis(ticks)),
        # else a short axis has more ticks, with labels at all nine digits of a decade
        yaxis=axis(f"{quantity} ({unit.name})", type="log", tickformat=",~g", nticks=3),
        margin={"l": 58, "r": max(96, 6 * max(len(line.short) for line in lines) + 8), "t": 12, "b": 40},
        showlegend=False,
        annotations=_names(lines, log10(max(ticks)), unit),
    )


def _names(lines: Sequence[CostLine], x: float, unit: Unit) -> list[Trace]:
    """The names at ``x``, the right end, at the heights of their lines' ends but without overlap."""
    drawn = [(line, dict(line.predicted) | {at.tick: at.value for at in line.levels}) for line in lines]
    values = [value for _, points in drawn for value in points.values()]
    most = log10(max(values, default=1))
    pixels = SPAN / max(0.5, most - log10(min(values, default=1)))
    ends = [(line, log10(points[max(points)])) for line, points in drawn if points]
    ideal = [(most - end) * pixels + ROW / 2 for _, end in ends]
    notes = list[Trace]()
    for (line, end), y_ideal, y_free in zip(ends, ideal, apart(ideal, [ROW] * len(ends), SPAN + ROW), strict=True):
        pair, y = shade(line.color), end - log10(unit.size)
        position = {"x": x, "y": y, "xshift": 7, "yshift": y_ideal - y_free, "xanchor": "left", "showarrow": False}
        notes.append(
            {"text": line.short, "name": f"{pair['light']} {pair['dark']}", "font": {"size": FONT}, **position}
        )
    return notes


def ticks_axis(ticks: Sequence[int]) -> dict[str, object]:
    every = 1 + (len(ticks) - 1) // MAX_TICKS
    marks = list(ticks)[::-1][::every][::-1]
    ends = [log10(min(ticks)) - 0.06, log10(max(ticks)) + 0.06]
    return {"type": "log", "range": ends, "tickvals": marks, "ticktext": [f"{tick:,}" for tick in marks]}


def _measured_line(line: CostLine, what_grows: str, unit: Unit) -> go.Scatter:
    levels = line.levels
    return go.Scatter(
        x=[level.tick for level in levels], y=[level.value / unit.size for level in levels], mode="markers+lines",
        error_y={
            "type": "data", "symmetric": False, "thickness": 1, "width": 3,
            "array": [(level.high - level.value) / unit.size for level in levels],
            "arrayminus": [(level.value - level.low) / unit.size for level in levels],
        },
        customdata=[[unit.words(level.value), _range_in_words(level, unit)] for level in levels],
        hovertemplate=f"{line.label}, %{{x:,}} {what_grows}<br>%{{customdata[0]}}, measured<br>%{{customdata[1]}}<extra></extra>",
        name=line.label, uid=uid_of(line.name, "measured"),
        **painted(
            shade(line.color), f"{line.label}, measured", width=1, dash="dash" if line.dashed else "solid",
            size=7, symbol="circle-open" if line.dashed else "circle",
        ),
    )  # fmt: skip


def _range_in_words(level: Summary, unit: Unit) -> str:
    visits = "once" if level.visits == 1 else f"{level.visits} measurements"
    return f"{unit.words(level.low)} to {unit.words(level.high)}, {visits}"


def _predicted(line: CostLine, what_grows: str, unit: Unit) -> go.Scatter:
    name = f"{line.label}, predicted"
    return go.Scatter(
        x=[tick for tick, _ in line.predicted], y=[value / unit.size for _, value in line.predicted], mode="lines",
        customdata=[unit.words(value) for _, value in line.predicted],
        hovertemplate=f"{line.label}, %{{x:,}} {what_grows}<br>%{{customdata}}, predicted<extra></extra>",
        name=name, uid=uid_of(line.name, "predicted"), **painted(shade(line.color), name, width=1.6, dash="dot"),
    )  # fmt: skip


def memory_figure(predicted: Memory | None, measured: Memory | None, color: str) -> go.Figure:
    """Two stacked bars. A part without a formula is missing in the predicted bar, with a note."""
    bars = {"predicted": predicted, "measured": measured}
    largest = _largest([memory for memory in bars.values() if memory])
    unit, size = next(((u, s) for u, s in reversed(UNITS) if largest >= s), UNITS[0])
    traces = []
    for part, pair in part_colors(color).items():
        values = [parts_of(memory)[part] if memory else None for memory in bars.values()]
        lengths = [None if value is None else value / size for value in values]
        traces.append(_bar(part, pair, f"{part}: %{{x:.3~f}} {unit}", y=list(bars), x=lengths, orientation="h"))
    notes, title = [], f"memory of a training step ({unit})"
    if predicted is not None and predicted.saved is None:
        notes.append(_note("predicted", "activations: no formula, measured only"))
    if measured is None:
        notes.append(_note("measured", "when the run has finished"))
    elif measured.peak is not None:
        title += f"<br>highest during a step: {measured.peak / size:.3g} {unit}"
    return figure(
        traces,
        bargap=0.5,
        xaxis=axis(title, rangemode="tozero"),
        yaxis=axis("", autorange="reversed", ticks="", showgrid=False),
        annotations=notes,
        **STACKED,
    )


def _largest(memories: Sequence[Memory], default: int = 0) -> int:
    """In bytes."""
    return max((sum(size or 0 for size in parts_of(memory).values()) for memory in memories), default=default)


def _bar(part: str, pair: Pair, hover: str, **values: object) -> go.Bar:
    return go.Bar(
        name=part, uid=uid_of(part), marker={"color": pair["light"], "line": {"width": 0}}, meta={"color": pair},
        hovertemplate=f"{hover}<extra></extra>", **values,
    )  # fmt: skip


def parts_of(memory: Memory) -> dict[str, int | None]:
    """Bytes by part, in the order of the bars. Scores are not part of "other saved"."""
    scores = memory.scores
    other = None if memory.saved is None else memory.saved - (scores or 0)
    return {
        "parameters": memory.parameters,
        "gradients": memory.gradients,
        "optimizer": memory.optimizer,
        "scores": scores,
        "other saved": other,
    }


def part_colors(color: str) -> dict[str, Pair]:
    return dict(zip(("parameters", "gradients", "optimizer"), GREYS, strict=True)) | {
        "scores": shade(color),
        "other saved": shade(color, 0.5),
    }


def _note(bar: str, text: str) -> dict[str, object]:
    return {
        "x": 0, "y": bar, "xref": "paper", "yref": "y", "text": text, "showarrow": False, "xanchor": "left",
        "font": {"size": FONT, "color": MUTED["light"]}, "xshift": 4,
    }  # fmt: skip


def parts_figure(
    bars: Sequence[tuple[int, Memory]], measured: Sequence[tuple[int, Memory]], what_grows: str, color: str
) -> go.Figure:
    unit, size = UNITS[3] if _largest([memory for _, memory in (*bars, *measured)], MIB) >= GIB else UNITS[2]
    ticks, parts = [f"{tick:,}" for tick, _ in bars], [parts_of(memory) for _, memory in bars]
    traces: list[object] = [
        _bar(
            name, pair, f"{name}, %{{x}} {what_grows}: %{{customdata}}", x=ticks, y=[(part[name] or 0) / size for part in parts],
            customdata=[in_bytes(part[name]) for part in parts],
        )
        for name, pair in part_colors(color).items()
    ]  # fmt: skip
    sums = [(tick, memory.total) for tick, memory in measured if memory.total is not None]
    peaks = [(tick, memory.peak) for tick, memory in measured if memory.peak is not None]
    traces += [_dots("measured", "circle", sums, size), _dots("measured peak", "circle-open", peaks, size)]
    return figure(
        traces,
        bargap=0.35,
        xaxis=axis(what_grows, type="category", showgrid=False),
        yaxis=axis(f"memory of a training step ({unit})", rangemode="tozero"),
        margin={"l": 58, "r": 12, "t": 52, "b": 40},
        **STACKED,
    )


def _dots(name: str, symbol: str, points: Sequence[tuple[int, int]], size: int) -> go.Scatter:
    pair = muted()
    return go.Scatter(
        x=[f"{tick:,}" for tick, _ in points], y=[value / size for _, value in points], mode="markers", name=name, uid=uid_of(name),
        marker={"color": pair["light"], "size": 9, "symbol": symbol, "line": {"width": 1.5}}, meta={"color": pair},
        customdata=[in_bytes(value) for _, value in points], hovertemplate=f"{name}: %{{customdata}}<extra></extra>",
    )  # fmt: skip
