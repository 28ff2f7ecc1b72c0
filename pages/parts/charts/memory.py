"""Memory of one training step by part: predicted by formula, and measured."""

from __future__ import annotations

import plotly.graph_objects as go

from engine.settings.costs import Memory
from pages.parts.charts.base import FONT, LEGEND, axis, figure, uid_of
from pages.parts.charts.colors import INK, MUTED, Pair, shade

UNITS = (("bytes", 1), ("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30))


def memory_figure(predicted: Memory | None, measured: Memory | None, color: str) -> go.Figure:
    """Two stacked bars. A part without a formula is left out of the predicted bar, with a note."""
    bars = {"predicted": predicted, "measured": measured}
    largest = max((sum(v or 0 for v in parts_of(memory).values()) for memory in bars.values() if memory), default=0)
    unit, size = next(((u, s) for u, s in reversed(UNITS) if largest >= s), UNITS[0])
    traces = []
    for part, pair in part_colors(color).items():
        values = [parts_of(memory)[part] if memory else None for memory in bars.values()]
        traces.append(
            go.Bar(
                y=list(bars), x=[None if v is None else v / size for v in values], name=part, orientation="h",
                uid=uid_of(part), marker={"color": pair["light"], "line": {"width": 0}}, meta={"color": pair},
                hovertemplate=f"{part}: %{{x:.3~f}} {unit}<extra></extra>",
            )
        )  # fmt: skip
    notes, title = [], f"memory of a training step ({unit})"
    if predicted is not None and predicted.saved is None:
        notes.append(_note("predicted", "saved for backward: no formula, measured only"))
    if measured is None:
        notes.append(_note("measured", "when the run has finished"))
    elif measured.peak is not None:
        title += f"<br>highest during a step: {measured.peak / size:.3g} {unit}"
    return figure(
        traces,
        barmode="stack",
        bargap=0.5,
        xaxis=axis(title, rangemode="tozero"),
        yaxis=axis("", autorange="reversed", ticks="", showgrid=False, automargin=True),
        legend={**LEGEND, "traceorder": "normal"},
        annotations=notes,
    )


def parts_of(memory: Memory) -> dict[str, int | None]:
    """Bytes by part, in the order of the bars; scores are listed apart from the rest saved for backward."""
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
    """Greys for the parts that every model has, the run's own colour for what attention saves."""
    return {
        "parameters": Pair(light=INK["light"], dark="#C9D2E0"),
        "gradients": Pair(light=MUTED["light"], dark="#8B97AB"),
        "optimizer": Pair(light="#98A3B5", dark="#5B677B"),
        "scores": shade(color),
        "other saved": shade(color, 0.5),
    }


def _note(bar: str, text: str) -> dict[str, object]:
    return {
        "x": 0, "y": bar, "xref": "paper", "yref": "y", "text": text, "showarrow": False, "xanchor": "left",
        "font": {"size": FONT, "color": MUTED["light"]}, "xshift": 4,
    }  # fmt: skip
