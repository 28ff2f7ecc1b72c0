"""The memory of a training step by part: of one model, predicted and measured, and of well-known models."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from engine.foundation.formatting import in_bytes
from engine.settings.costs import Memory
from pages.parts.charts.base import FONT, LEGEND, axis, figure, uid_of
from pages.parts.charts.colors import INK, MUTED, Pair, shade

GREYS = (
    Pair(light=INK["light"], dark="#C9D2E0"),
    Pair(light=MUTED["light"], dark="#8B97AB"),
    Pair(light="#98A3B5", dark="#5B677B"),
)
"""Of what every model has: its weights, their gradients, and the optimizer."""
UNITS = (("bytes", 1), ("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30))
GIB = 2**30
COLOR = "#2A5BD7"
PARTS = ("weights", "gradients", "optimizer", "activations")


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
    return dict(zip(("parameters", "gradients", "optimizer"), GREYS, strict=True)) | {
        "scores": shade(color),
        "other saved": shade(color, 0.5),
    }


def _note(bar: str, text: str) -> dict[str, object]:
    return {
        "x": 0, "y": bar, "xref": "paper", "yref": "y", "text": text, "showarrow": False, "xanchor": "left",
        "font": {"size": FONT, "color": MUTED["light"]}, "xshift": 4,
    }  # fmt: skip


def scale_figure(predicted: pd.DataFrame, memory: int) -> go.Figure:
    """``predicted``: a row for each model by its label, in bytes; ``memory`` in bytes is drawn as a line."""
    labels = list(predicted.index)
    traces = [
        go.Bar(
            y=labels, x=(predicted[part] / GIB).tolist(), name=part, orientation="h", uid=uid_of(part),
            marker={"color": pair["light"], "line": {"width": 0}}, meta={"color": pair},
            customdata=predicted[part].map(in_bytes).tolist(),
            hovertemplate=f"%{{y}}, {part}: %{{customdata}}<extra></extra>",
        )
        for part, pair in zip(PARTS, (*GREYS, shade(COLOR)), strict=True)
    ]  # fmt: skip
    largest = max(memory / GIB, *(predicted["training"] / GIB))
    return figure(
        traces,
        barmode="stack",
        bargap=0.35,
        xaxis=axis("memory of a training step (GiB), predicted", range=[0, 1.06 * largest]),
        yaxis=axis("", autorange="reversed", showgrid=False),
        hovermode="closest",
        legend={**LEGEND, "traceorder": "normal"},
        margin={"l": 90, "r": 12, "t": 34, "b": 40},
        shapes=[
            {
                "type": "line", "xref": "x", "x0": memory / GIB, "x1": memory / GIB, "yref": "paper", "y0": 0, "y1": 1, "name": "accent",
                "line": {"width": 1.5, "dash": "dash"},
            }
        ],
    )  # fmt: skip
