"""The final numbers of the arms as lines over x: means with the line's name at its end, and a small mark per seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import plotly.graph_objects as go

from pages.parts.charts.base import FONT, across_line, apart, axis, figure, painted, rounded
from pages.parts.charts.colors import Pair
from pages.parts.charts.experiments.arms import is_spread, wrapped
from pages.parts.charts.experiments.strip import AIR, EndNumbers, values_axis

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon", "triangle-down", "pentagon")
GLYPHS = "●■◆▲✚✖★⬢▼⬟"  # the symbols as letters, in the same order
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
HEIGHT, TOP, BOTTOM = 300, 16, 54  # pixels: the least height, and the margins
NAME = 16  # letters in a line of a name, at most
LETTER, LINE = 7.4, 18  # pixels of an average letter, and of a line of letters
MAX_NAMED_LINES = len(SYMBOLS)  # more lines get a legend
FAR = 0.15  # of the axis: a line that ends earlier has a name without a tie


@dataclass(frozen=True)
class OverX:
    name: str
    color: Pair
    points: Mapping[float, EndNumbers]

    @property
    def means(self) -> dict[float, float]:
        return {x: fmean(numbers.known) for x, numbers in sorted(self.points.items()) if numbers.known}


def over_x_height(lines: Sequence[OverX]) -> int:
    """The height in pixels, with room for the names, or for a legend in a panel of usual width."""
    if len(lines) <= MAX_NAMED_LINES:
        return max(HEIGHT, TOP + BOTTOM + sum(LINE * (_label_of(line).count("<br>") + 1) for line in lines))
    return HEIGHT + 22 * (sum(9 * len(line.name) + 50 for line in lines) // 400)


def over_x_figure(lines: Sequence[OverX], x_label: str, label: str, chance: float | None = None) -> go.Figure:
    at_ends = len(lines) <= MAX_NAMED_LINES
    values = [value for line in lines for numbers in line.points.values() for value in numbers.known]
    xs = sorted({x for line in lines for x in line.points})
    across = _ticks_axis(x_label, xs)
    down = _ranged(values_axis(label, values, chance), [*values, *([] if chance is None else [chance])])
    room = over_x_height(lines) - TOP - BOTTOM
    longest = max((len(part) for line in lines for part in _label_of(line).split("<br>")), default=0)
    return figure(
        [trace for index, line in enumerate(lines) for trace in _traces(index, line, legend=not at_ends)],
        xaxis=across,
        yaxis=down,
        margin={"l": 56, "b": BOTTOM}
        | ({"r": round(LETTER * (longest + 3)), "t": TOP} if at_ends else {"r": 14, "t": 38}),
        showlegend=not at_ends,
        shapes=[] if chance is None else [across_line("y", chance, f"chance {chance:.3g}")],
        annotations=_names(lines, across, down, room) if at_ends else [],
    )


def _traces(index: int, line: OverX, *, legend: bool) -> list[go.Scatter]:
    symbol, dash = SYMBOLS[index % len(SYMBOLS)], DASHES[index % len(DASHES)]
    named, means = line.name.replace("<", "&lt;"), line.means
    common = {"name": named, "legendgroup": str(index), "cliponaxis": False}
    seeds = [
        (x, seed, value)
        for x, numbers in sorted(line.points.items())
        for seed, value in zip(numbers.seeds, numbers.values, strict=True)
        if value is not None
    ]
    return [
        go.Scatter(
            x=[x for x, _, _ in seeds], y=rounded(value for _, _, value in seeds), uid=f"seeds-{index}", mode="markers", opacity=0.45,
            text=[f"{named}, seed {seed}" for _, seed, _ in seeds], hovertemplate="%{text}, %{x}: %{y:.4g}<extra></extra>",
            showlegend=False, **common, **painted(line.color, line.name, size=5, symbol=symbol),
        ),
        go.Scatter(
            x=list(means), y=rounded(means.values()), uid=f"line-{index}", mode="lines+markers", showlegend=legend,
            hovertemplate=f"{named}, mean at %{{x}}: %{{y:.4g}}<extra></extra>", **common,
            **painted(line.color, f"{line.name}, mean", width=2.6, dash=dash, size=9, symbol=symbol),
        ),
    ]  # fmt: skip


def _ticks_axis(label: str, xs: Sequence[float]) -> dict[str, Any]:
    # No scale fits a zero and a spread: such x are at equal distances.
    if xs[0] == 0 and is_spread(xs[1:]):
        return axis(label, type="category", categoryarray=xs, range=[-AIR * len(xs), len(xs) - 1 + AIR * len(xs)])
    far = is_spread(xs) or (len(xs) > 2 and xs[0] > 0 and xs[-1] / xs[0] >= 8)
    low, high = (math.log10(xs[0]), math.log10(xs[-1])) if far else (xs[0], xs[-1])
    air = AIR * (high - low) or 1.0
    ticks = {"tickvals": xs, "ticktext": [f"{x:g}" for x in xs], "type": "log" if far else "linear"}
    return axis(label, range=[low - air, high + air], **ticks)


def _ranged(down: dict[str, Any], values: Sequence[float]) -> dict[str, Any]:
    if "range" in down:
        return down
    # A fixed range, because the names need the positions of the line ends.
    ends = [_on(down, value) for value in (min(values), max(values))]
    air = AIR * (ends[1] - ends[0]) or abs(ends[0]) / 2 or 1.0
    return down | {"range": [ends[0] - air, ends[1] + air]}


def _on(scale: Mapping[str, Any], value: float) -> float:
    if scale.get("type") == "log":
        return math.log10(value)
    if scale.get("type") == "category":
        return float(list(scale["categoryarray"]).index(value))
    return value


# Names at the ends of lines


def _names(
    lines: Sequence[OverX], across: Mapping[str, Any], down: Mapping[str, Any], room: float
) -> list[dict[str, Any]]:
    """A name at the right edge for each line with a value, tied to the line's last point, without overlap."""
    left, right = across["range"]
    low, high = down["range"]
    known = [(index, line, list(line.means.items())[-1]) for index, line in enumerate(lines) if line.means]
    early = [right - _on(across, x) > FAR * (right - left) for _, _, (x, _) in known]
    texts = [
        wrapped(f"{line.name}, to {x:g}" if stops else line.name, NAME)
        for (_, line, (x, _)), stops in zip(known, early, strict=True)
    ]
    wanted = [room * (high - _on(down, y)) / (high - low) for _, _, (_, y) in known]
    heights = apart(wanted, [LINE * (text.count("<br>") + 1) for text in texts], room)
    notes = []
    for (index, line, (x, y)), stops, text, want, at in zip(known, early, texts, wanted, heights, strict=True):
        tie = {"x": right, "showarrow": False, "yshift": want - at}
        if not stops:  # a long tie would look like a part of the line
            tie = {"x": _on(across, x), "axref": "x", "ax": right, "ay": at - want}
            tie |= {"showarrow": True, "arrowhead": 0, "arrowwidth": 1}
        notes.append({
            **tie, "y": _on(down, y), "text": f"{GLYPHS[index % len(GLYPHS)]} {text}", "font": {"size": FONT},
            "name": f"{line.color['light']} {line.color['dark']}", "xanchor": "left", "align": "left",
        })  # fmt: skip
    return notes


def _label_of(line: OverX) -> str:
    return wrapped(line.name, NAME)
