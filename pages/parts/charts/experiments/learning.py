"""The learning curves behind a key figure: per row the mean and spread of stored long runs, over steps on a
logarithmic axis, and live seeds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import numpy as np
import plotly.graph_objects as go

from engine.foundation.formatting import counted
from pages.parts.charts.base import LEGEND, Trace, across_line, axis, band, figure, painted, rounded, uid_of
from pages.parts.charts.colors import Pair
from pages.parts.charts.experiments.curves import Curve
from pages.parts.charts.experiments.key_figure import TICKS

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")  # for rows of one colour, in order
SHARES = {"range": [-0.03, 1.05], "tickvals": [0, 0.25, 0.5, 0.75, 1]}  # the axis of numbers between 0 and 1
AROUND = 1.15  # the empty factor of steps at either end of the axis


@dataclass(frozen=True)
class LearningCurve:
    name: str
    color: Pair
    steps: Sequence[int]  # of the long runs; they span the axis even without numbers
    # lowest, mean and highest of the seeds at each step; empty while hidden
    numbers: Sequence[tuple[float, float, float]] = ()
    live: Mapping[int, Curve] = field(default_factory=dict)  # running and finished live seeds, by seed

    @property
    def mean(self) -> list[float]:
        return [mean for _, mean, _ in self.numbers]

    def at(self, step: int) -> float:
        return float(np.interp(math.log(step), np.log(self.steps), self.mean))


def learning_figure(
    curves: Sequence[LearningCurve],
    *,
    level: float | None,
    steps: Sequence[int],
    chance: float | None = None,
    share: bool = True,
) -> go.Figure:
    """``level``: the number to which steps are counted; None where there is none. ``steps``: those of the comparison in
    the first view. ``share``: the numbers lie between 0 and 1."""
    drawn: list[Trace] = []
    for index, curve in enumerate(curves):
        dash = DASHES[sum(other.color == curve.color for other in curves[:index]) % len(DASHES)]
        drawn += _traces(curve, dash)
    marks = [step for curve in curves for step in curve.steps]
    low, high = min(marks) / AROUND, max(marks) * AROUND
    ticks = [tick for power in range(7) for tick in (10**power, 3 * 10**power) if low <= tick <= high]
    font = {"size": TICKS}
    levels = [across_line("y", level, f"{level:g}", font={"size": TICKS - 2})] if level is not None else []
    if chance is not None:
        levels.append(across_line("y", chance, f"chance {chance:.3g}", dash="dot", font={"size": TICKS - 2}))
    levels += [across_line("x", step, f"{step:,} steps", font={"size": TICKS - 2}) for step in steps]
    return figure(
        sorted(drawn, key=lambda trace: -trace.get("zorder", 0)),  # arrow keys follow the first one
        xaxis=axis(
            "steps of training", type="log", range=[math.log10(low), math.log10(high)], tickvals=ticks,
            ticktext=[f"{tick:,}" for tick in ticks], tickfont=font,
        ),
        yaxis=axis("", **(SHARES if share else _range_of(curves)), tickfont=font),
        font={"size": TICKS},
        legend=LEGEND | {"maxheight": 0.5, "tracegroupgap": 0, "font": {"size": TICKS - 2}},
        margin={"l": 8, "r": 14, "t": 26, "b": 28},
        shapes=levels,
    )  # fmt: skip


def _range_of(curves: Sequence[LearningCurve]) -> dict[str, Any]:
    """The axis of numbers that are no shares, as far as they reach; without numbers while there are none."""
    spreads = [value for curve in curves for numbers in curve.numbers for value in (numbers[0], numbers[-1])]
    known = [*spreads, *(value for curve in curves for points in curve.live.values() for _, value in points)]
    if not known:
        return {"range": [0, 1], "showticklabels": False}
    low, high = min(0.0, *known), max(0.0, *known)
    margin = 0.05 * (high - low)
    return {"range": [low - margin, high + margin]}


def _traces(curve: LearningCurve, dash: str) -> list[Trace]:
    x: Sequence[int | None] = curve.steps if curve.numbers else [None]
    mean: Trace = {
        "type": "scatter", "x": list(x), "y": rounded(curve.mean, 4) or [None], "mode": "lines", "name": curve.name,
        "uid": uid_of("mean", curve.name), "zorder": 2, "legendgroup": curve.name, "showlegend": True,
        "hovertemplate": f"{curve.name}, step %{{x:,d}}: %{{y:.2f}}<extra></extra>",
        **painted(curve.color, f"{curve.name}, mean", width=2.8, dash=dash),
    }  # fmt: skip
    traces = [mean]
    if curve.numbers:
        spread = band(
            curve.steps,
            [low for low, _, _ in curve.numbers],
            [high for *_, high in curve.numbers],
            curve.color["light"],
        )
        traces += [
            {**trace, "name": f"{curve.name}, {end}", "uid": uid_of(end, curve.name), "legendgroup": curve.name}
            for trace, end in zip(spread, ("lowest seed", "highest seed"), strict=True)
        ]
    if curve.live:
        traces.append(_live(curve, dash))
    return traces


def _live(curve: LearningCurve, dash: str) -> Trace:
    """A thin line for each seed with a dot at its end, in one trace with gaps. A seed with a final number only is a
    dot."""
    x: list[int | None] = []
    y: list[float | None] = []
    words: list[str] = []
    sizes: list[int] = []
    for seed, points in sorted(curve.live.items()):
        x += [*(step for step, _ in points), None]
        y += [*rounded((value for _, value in points), 4), None]
        words += [f"seed {seed}"] * (len(points) + 1)
        sizes += [*[0] * (len(points) - 1), 8, 0]
    name = f"{curve.name}, trained here"
    color = painted(curve.color, name, width=1.2, dash=dash, size=0)
    return {
        "type": "scatter", "x": x, "y": y, "text": words, "mode": "lines+markers", "connectgaps": False, "name": name,
        "uid": uid_of("live", curve.name), "legendgroup": curve.name, "showlegend": False, "zorder": 1,
        "hovertemplate": f"{curve.name}, %{{text}}, step %{{x:,d}}: %{{y:.2f}}<extra></extra>",
        **color, "marker": color["marker"] | {"size": sizes},
    }  # fmt: skip


def in_words(curves: Sequence[LearningCurve], steps: Sequence[int]) -> str:
    return "; ".join(f"{curve.name}: {', '.join(_facts(curve, steps)) or 'not shown yet'}" for curve in curves)


def _facts(curve: LearningCurve, steps: Sequence[int]) -> Iterator[str]:
    if curve.numbers:
        yield from (f"{curve.at(step):.2f} at step {step:,}" for step in sorted({*steps, curve.steps[-1]}))
    if curve.live:
        ends = [points[-1][1] for points in curve.live.values()]
        yield f"trained here {fmean(ends):.2f} in {counted(len(ends), 'seed')}"
