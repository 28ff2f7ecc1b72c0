"""Four figures of the numbers by depth (:mod:`engine.analysis.depth`), with a line per model and a band over its
draws."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from engine.analysis.depth.jobs import DepthNumbers
from engine.config.run_config import settings_for
from pages.parts.charts.base import Axis, Trace, across_line, axis, band, figure, painted, rounded
from pages.parts.charts.colors import ATTENTION, Pair, muted, shade

SMALL = 0.05  # a share below this gets an axis of powers of ten
FAR = 8  # ratio of the last to the first depth or length from which the axis is logarithmic
NORM = next(row for row in settings_for() if row.name == "norm")


@dataclass(frozen=True)
class DepthLine:
    name: str
    draws: Sequence[DepthNumbers]
    color: str = ""  # without one, the line is grey and dashed, behind the others

    def label_of(self, what: str) -> str:
        """The name of a line: the model's and ``what``, of which either may be empty."""
        return ": ".join(filter(None, (self.name, what)))

    def tone(self, color: str = "") -> Pair:
        return shade(color or self.color) if self.color else muted()

    @property
    def dash(self) -> str:
        return "solid" if self.color else "dash"

    def values(self, take: Callable[[DepthNumbers], np.ndarray]) -> np.ndarray:
        """A number of each draw, [draw, x]."""
        return np.array([take(numbers) for numbers in self.draws])


def roll_out_figure(lines: Sequence[DepthLine], depth: int) -> go.Figure:
    """The roll-out weights at the last position after ``depth`` layers, and the weights of the last of these layers
    alone."""
    at = _index(lines, depth)
    positions = range(len(lines[0].draws[0]["roll_out"][at])) if lines[0].draws else range(0)
    traces: list[Trace] = []
    for line in reversed(lines):
        tone = line.tone(ATTENTION)
        traces += _line(
            line.label_of("all layers"), positions, line.values(lambda n: n["roll_out"][at]), tone, line.dash
        )
    alone = lines[0].values(lambda n: n["layer_weight"][at])
    traces += _line(lines[0].label_of(f"layer {depth} alone"), positions, alone, muted(), "dot", spread=False)
    return _figure(traces, axis("position"), axis("weight", range=[-0.02, 1.02]))


def tokens_figure(lines: Sequence[DepthLine], depth: int | None = None) -> go.Figure:
    shares = [line.values(lambda n: n["token_share"]) for line in lines]
    down: Axis = {"range": [0, 1.05]}
    if any(values.size and np.nanmin(values) < SMALL for values in shares):
        down = {"type": "log", "range": [-8, 0.3], "dtick": 2, "exponentformat": "power"}
    traces = [
        trace
        for line, values in reversed(list(zip(lines, shares, strict=True)))
        for trace in _line(line.label_of(""), _depths(line), values, line.tone(), line.dash, marks=True)
    ]
    return _figure(traces, _along(lines, "layers"), axis("share", **down), _mark(depth))


def oversquashing_figure(lines: Sequence[DepthLine], depth: int) -> go.Figure:
    """By length: the change of the last output after an exchange of token 0, and the share of its numbers that stay
    equal in bfloat16 when a row of ones gets one more."""
    at, traces = _index(lines, depth), list[Trace]()
    for line in reversed(lines):
        lengths = line.draws[0]["lengths"].tolist() if line.draws else []
        equal, changes = line.values(lambda n: n["repeat_equal"][at]), line.values(lambda n: n["first_token"][at])
        traces += _line(line.label_of("unchanged"), lengths, equal, muted(), "dot", marks=True, spread=False)
        traces += _line(line.label_of("first token"), lengths, changes, line.tone(), line.dash, marks=True)
    ticks = lines[0].draws[0]["lengths"].tolist() if lines[0].draws else []
    return _figure(traces, _ticks("length", ticks), axis("share", rangemode="tozero"))


def gradient_figure(lines: Sequence[DepthLine], norm: str, depth: int | None = None) -> go.Figure:
    """The gradient of the first layer, by depth: for ``norm`` in the line's colour, for other norms in grey."""
    traces: list[Trace] = []
    everything = [0.1, 10.0]
    for line in reversed(lines):
        for name in reversed(list(line.draws[0]["gradient"]) if line.draws else []):
            values, is_chosen = np.array([numbers["gradient"][name] for numbers in line.draws]), name == norm
            everything += values[np.isfinite(values) & (values > 0)].tolist()
            label = line.label_of(NORM.label_of(name) if len(line.draws[0]["gradient"]) > 1 else "")
            tone, dash = (line.tone(), line.dash) if is_chosen else (muted(), "dash")
            traces += _line(label, _depths(line), np.where(values > 0, values, np.nan), tone, dash, marks=True)
    decades = [math.floor(math.log10(min(everything))), math.ceil(math.log10(max(everything)))]
    down = {"type": "log", "range": decades, "dtick": max(1, (decades[1] - decades[0]) // 4), "exponentformat": "power"}
    return _figure(traces, _along(lines, "layers"), axis("L2 norm", **down), _mark(depth))


def _line(
    name: str, x: Iterable[int], values: np.ndarray, color: Pair, dash: str, *, marks: bool = False, spread: bool = True
) -> list[Trace]:
    """The median of values [draw, x], over a band of all draws if there are several."""
    if not values.size:
        return []
    xs, middle = list(x), np.median(values, axis=0)
    behind = band(xs, values.min(axis=0), values.max(axis=0), color["light"]) if spread and len(values) > 1 else []
    drawn: Trace = {
        "type": "scatter", "x": xs, "y": rounded(middle), "name": name, "mode": "lines+markers" if marks else "lines",
        "hovertemplate": f"{name}, %{{x}}: %{{y:.3g}}<extra></extra>", "cliponaxis": False,
        **painted(color, name, width=2.4, dash=dash, size=6 if marks else None),
    }  # fmt: skip
    return [*behind, drawn]


def _figure(traces: list[Trace], across: Axis, down: Axis, shapes: list[dict[str, Any]] | None = None) -> go.Figure:
    named = sum("name" in trace for trace in traces) > 1
    return figure(
        traces, xaxis=across, yaxis=down, shapes=shapes or [], showlegend=named,
        legend={"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top", "traceorder": "reversed"},
        margin={"l": 52, "r": 14, "t": 28 if named else 8, "b": 38},
    )  # fmt: skip


def _index(lines: Sequence[DepthLine], depth: int) -> int:
    return lines[0].draws[0]["depths"].tolist().index(depth) if lines[0].draws else 0


def _depths(line: DepthLine) -> list[int]:
    depths: list[int] = line.draws[0]["depths"].tolist() if line.draws else []
    return depths


def _along(lines: Sequence[DepthLine], label: str) -> Axis:
    return _ticks(label, _depths(lines[0]))


def _ticks(label: str, ticks: Sequence[int]) -> Axis:
    far = len(ticks) > 2 and ticks[-1] >= FAR * ticks[0]
    return axis(
        label,
        tickvals=list(ticks),
        ticktext=[f"{tick}" for tick in ticks],
        tickangle=0,
        type="log" if far else "linear",
    )


def _mark(depth: int | None) -> list[dict[str, Any]]:
    return [] if depth is None else [across_line("x", depth)]
