"""An arm's training curves: thin lines of seeds, a bold mean, growing lines of running trials, crosses where runs
broke off."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

import plotly.graph_objects as go

from pages.parts.charts.base import FONT, Trace, across_line, axis, figure, painted, rounded, uid_of
from pages.parts.charts.colors import RED, Pair, shade
from pages.parts.charts.experiments.arms import is_logarithmic, round_up, wrapped

Curve = Sequence[tuple[int, float]]  # (step, value)
Seeds = Mapping[int, Curve]
STOP_COLOR = shade(RED["light"])
# Drawn whole, such a curve would press all others flat.
LEAVES = 10.0  # ratio to the usual highest loss, from which a curve leaves the figure
WORDS = 24  # letters in a line inside a figure, at most
NEAR = 0.15  # share of the axis below which two ends are too close for a name each


@dataclass(frozen=True)
class StopMark:
    steps: Mapping[int, int]  # the last one by seed
    why: str  # follows "stopped at step 12: "

    @property
    def steps_in_words(self) -> str:
        first, last = min(self.steps.values()), max(self.steps.values())
        return f"stopped at step {first:,}:" if first == last else f"stopped at steps {first:,} to {last:,}:"

    @property
    def sentence(self) -> str:
        return f"{self.steps_in_words} {self.why}"


@dataclass(frozen=True)
class Frame:
    label: str
    low: float
    high: float
    log: bool = False

    def at(self, value: float) -> float:
        """The place of a value in the numbers of ranges and annotations; a value outside is at the nearer end."""
        inside = min(max(value, self.low), self.high)
        return math.log10(inside) if self.log else inside


def frame_of(label: str, curves: Sequence[Curve], levels: Sequence[float] = ()) -> Frame:
    """The frame of all curves, without losses that leave the figure (:data:`LEAVES`).

    From zero, logarithmic for some numbers, and from 0 to 1 for accuracies.
    """
    highest = [max(value for _, value in curve) for curve in curves if curve]
    most = LEAVES * max(median(highest), *levels, 0.0) if highest and "loss" in label else math.inf
    values = [value for curve in curves for _, value in curve if value <= most] + list(levels)
    if "accuracy" in label:
        return Frame(label, 0.0, 1.0)
    if is_logarithmic(label, values):
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return Frame(label, 10**low, 10**high, log=True)
    least = min([0.0, *values])
    return Frame(label, -round_up(-least) if least < 0 else 0.0, round_up(max(values, default=1.0)))


def curves_figure(
    done: Seeds, growing: Seeds, frame: Frame, steps: int, color: Pair, levels: Mapping[str, float] | None = None, *,
    dashed: tuple[Seeds, Seeds] | None = None, stopped: StopMark | None = None,
) -> go.Figure:  # fmt: skip
    """The curves of one arm by seed.

    ``growing``: curves of running trials. ``levels``: dashed lines by name, such as chance. ``dashed``: validation
    losses, done and growing, if the others are training losses.
    """
    low, high = frame.at(frame.low), frame.at(frame.high)
    margin = 0.04 * (high - low)
    width, opacity = (1.0, 0.5) if len(done) > 1 else (1.6, 1.0)  # thin and pale only with a mean
    traces = [
        _lines("seeds", done, color, width, opacity),
        _lines("under way", growing, color, 1.6, 1.0),
        _mean("mean", done, color),
    ]
    notes: list[dict[str, Any]] = []
    if dashed is not None:
        traces += [
            _lines("validation, seeds", dashed[0], color, width, opacity, "dash"),
            _lines("validation, under way", dashed[1], color, 1.6, 1.0, "dash"),
            _mean("validation, mean", dashed[0], color, "dash"),
        ]
        notes += _names(done, dashed[0], frame, steps)
    drawn = [curve for curves in (done, growing, *(dashed or ())) for curve in curves.values()]
    beyond = [point for curve in drawn for point in curve if point[1] > frame.high]
    out, most = min((step for step, _ in beyond), default=0), f"up to {max((v for _, v in beyond), default=0.0):.3g}"
    if beyond:
        traces.append(_marks("leaves", [out], [frame.high], "triangle-up", color, [most]))
    if stopped is not None:
        last = {seed: curve[-1][1] for seed, curve in done.items() if curve}
        ends = {seed: min(last.get(seed, frame.high), frame.high) for seed in stopped.steps}
        words = [f"seed {seed}, step {step:,}: {stopped.why}" for seed, step in stopped.steps.items()]
        traces.append(_marks("stopped", list(stopped.steps.values()), list(ends.values()), "x", STOP_COLOR, words))
        first = min(stopped.steps, key=lambda seed: stopped.steps[seed])
        notes.append(_note([stopped.steps_in_words, stopped.why], stopped.steps[first], ends[first], frame, steps))
    elif beyond:
        notes.append(_note(["leaves the figure,", most], out, frame.high, frame, steps))
    down: dict[str, Any] = {"range": [low - margin, high + margin], "type": "log" if frame.log else "linear"}
    if frame.log:
        down |= {"exponentformat": "power", "dtick": max(1, round((high - low) / 4))}
    return figure(  # a small one of many, so axis titles are once above them all
        traces,
        xaxis=axis("", range=[0, steps], tickformat=",d", nticks=5, automargin=False),
        yaxis=axis("", nticks=5, automargin=False, **down),
        showlegend=False,
        margin={"l": 46, "r": 14, "t": 10, "b": 26},
        shapes=[_level(name, value, within=dashed is not None) for name, value in (levels or {}).items()],
        annotations=notes,
    )


def _level(name: str, value: float, *, within: bool) -> dict[str, Any]:
    side = {"textposition": "middle", "xanchor": "right"} if within else {}
    return across_line("y", value, name, yanchor="top" if name.startswith("floor") else "bottom", **side)


def _lines(name: str, curves: Seeds, color: Pair, width: float, opacity: float, dash: str = "solid") -> go.Scatter:
    # One trace with gaps, which a browser draws faster than sixteen.
    x: list[int | None] = []
    y: list[float | None] = []
    words: list[str] = []
    for seed, curve in sorted(curves.items()):
        x += [step for step, _ in curve] + [None]
        y += [*rounded((value for _, value in curve), 4), None]
        words += [f"seed {seed}"] * (len(curve) + 1)
    hover = "%{text}, step %{x}: %{y:.3g}<extra></extra>"
    return go.Scatter(
        x=x, y=y, text=words, mode="lines", opacity=opacity, connectgaps=False, hovertemplate=hover,
        **_identity(name), **painted(color, name, width=width, dash=dash),
    )  # fmt: skip


def _mean(name: str, curves: Seeds, color: Pair, dash: str = "solid") -> go.Scatter:
    by_step: dict[int, list[float]] = {}
    for curve in curves.values():
        for step, value in curve:
            by_step.setdefault(step, []).append(value)
    means = {step: fmean(values) for step, values in sorted(by_step.items()) if len(values) > 1}
    hover = f"{name}, step %{{x}}: %{{y:.3g}}<extra></extra>"
    numbers = {"x": list(means), "y": rounded(means.values(), 4)}
    return go.Scatter(
        **numbers, mode="lines", hovertemplate=hover, **_identity(name), **painted(color, name, width=2.8, dash=dash)
    )


def _identity(name: str) -> Trace:
    return {"name": name, "uid": uid_of(name)}


def _marks(name: str, x: list[int], y: list[float], symbol: str, color: Pair, words: list[str]) -> go.Scatter:
    return go.Scatter(
        x=x, y=y, text=words, mode="markers", cliponaxis=False, hovertemplate="%{text}<extra></extra>",
        **_identity(name), **painted(color, name, size=12, symbol=symbol),
    )  # fmt: skip


def _note(lines: Sequence[str], x: int, y: float, frame: Frame, steps: int) -> dict[str, Any]:
    on_left, low, high = x > steps / 2, frame.at(frame.low), frame.at(frame.high)
    below = frame.at(y) > (low + high) / 2
    return {
        "text": "<br>".join(wrapped(line, WORDS) for line in lines), "x": x, "y": frame.at(y), "showarrow": False, "font": {"size": FONT},
        "xanchor": "right" if on_left else "left", "align": "right" if on_left else "left", "xshift": -9 if on_left else 9,
        "yanchor": "top" if below else "bottom", "yshift": 9 if below else -9,
    }  # fmt: skip


def _names(training: Seeds, validation: Seeds, frame: Frame, steps: int) -> list[dict[str, Any]]:
    ends = {
        name: fmean(curve[-1][1] for curve in curves.values() if curve)
        for name, curves in (("training", training), ("validation", validation))
        if any(curves.values())
    }
    if len(ends) < 2:
        return []
    heights = {name: frame.at(value) for name, value in ends.items()}
    if abs(heights["training"] - heights["validation"]) < NEAR * (frame.at(frame.high) - frame.at(frame.low)):
        return []
    upper = max(heights, key=lambda name: heights[name])
    return [
        {
            "text": name, "x": steps, "y": height, "showarrow": False, "font": {"size": FONT}, "xanchor": "right",
            "yanchor": "bottom" if name == upper else "top",
        }
        for name, height in heights.items()
    ]  # fmt: skip
