"""Loss, accuracy and gradient norms over the steps of a run, in the colour of its encoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, exp, floor, log
from typing import Any

import numpy as np
import plotly.graph_objects as go

from engine.foundation.formatting import in_digits
from pages.parts.charts.base import LEGEND, Axis, SeriesByName, Trace, across_line, axis, figure, line, uid_of
from pages.parts.charts.colors import MUTED, SURFACE, mix, muted, shade

TONES = (0.0, 0.5, 0.8, 0.25)
DASHES = ("solid", "dot", "dashdot", "dash")
OVERLAY_DASHES = ("dash", "dot", "dashdot", "longdash", "longdashdot")
PERPLEXITIES = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000)  # on the loss axis of a text task
PARTS = {"q": "solid", "k": "dash", "v": "dot"}
NAME_LETTERS = 18  # of an earlier run in the legend, so that two names fit in a row
NAMED_RUNS = 2  # earlier runs in the legend, which would scroll with more; the others are named in the hover
MAX_LEGEND_LAYERS = 6  # layers in the legend, at most; the others are named only in the hover
REST = {"embedding": "dash", "encoding": "dot", "head": "dashdot"}


def loss_figure(steps: int, color: str, chance: float | None, floor: float | None, *, text: bool = False) -> go.Figure:
    """Cross-entropy in nats: training thin, validation bold, dashed lines at chance and at the floor.

    A ``text`` task has an axis of perplexities, and the panel their name.
    """
    value_axis, called = axis("loss (nats)", rangemode="tozero"), "loss"
    if text:  # not from zero, which is far below any text's loss
        value_axis, called = perplexity_axis([log(p) for p in PERPLEXITIES]), "perplexity"
    levels = (
        []
        if chance is None
        else [across_line("y", chance, f"chance {exp(chance):,.0f}" if text else f"chance {chance:.3g}")]
    )
    levels += [] if floor is None else [across_line("y", floor, f"floor {floor:.3g}", yanchor="top")]
    traces = [
        line("loss", "training", shade(color), width=1.2, opacity=0.6, perplexity=text),
        line("validation.loss", "validation", shade(color, 0.25), width=2.8, perplexity=text),
    ]
    return _over_steps(traces, steps, value_axis, shapes=levels, meta={"called": called})


def _over_steps(traces: list[Any], steps: int, values: Axis, **layout: Any) -> go.Figure:
    across = axis("step", range=[0, steps], tickformat=",d")  # fixed while the lines grow
    return figure(traces, xaxis=across, yaxis=values, hovermode="x unified", **layout)


def perplexity_axis(ticks: Sequence[float]) -> Axis:
    return axis("perplexity", tickvals=list(ticks), ticktext=[f"{exp(nats):,.0f}" for nats in ticks])


def level_lines(levels: Mapping[str, tuple[str, float]]) -> list[dict[str, Any]]:
    """Lines at the losses of other models on the same text. ``levels``: short name and nats, by name."""
    return [
        across_line("y", value, f"{name}, perplexity {in_digits(exp(value))}", text=f"{short} {in_digits(exp(value))}")
        for name, (short, value) in levels.items()
    ]


def accuracy_figure(steps: int, color: str, chance: Mapping[str, float]) -> go.Figure:
    metrics = [name for name in chance if name != "loss"]
    traces = []
    for index, name in enumerate(metrics):
        tone, dash = TONES[index % len(TONES)], DASHES[index % len(DASHES)]
        label = name.replace("_", " ").removesuffix(" accuracy")  # which the title says
        common: Trace = {"dash": dash, "hover": ".3f", "group": name}
        thin: Trace = {"width": 1.2, "opacity": 0.6, "legend": False}
        traces += [
            line(f"metrics.{name}", f"{label}, training", shade(color, tone), **common, **thin),
            line(f"validation.{name}", label, shade(color, tone), width=2.8, legend=len(metrics) > 1, **common),
        ]
    levels = [
        across_line("y", value, f"chance {value:.3g}") for value in sorted({round(chance[name], 4) for name in metrics})
    ]
    return _over_steps(traces, steps, axis("accuracy", range=[-0.02, 1.04], tickformat=".1f"), shapes=levels)


def overlay_traces(name: str, color: str, columns: SeriesByName, index: int) -> dict[str, list[go.Scatter]]:
    """An earlier run's validation lines, dashed, for the figures ``loss`` and ``accuracy``; the first have one legend entry in each."""
    dash = OVERLAY_DASHES[index % len(OVERLAY_DASHES)]
    by_figure: dict[str, list[go.Scatter]] = {"loss": [], "accuracy": []}
    for column in columns:
        kind, _, metric = column.partition(".")
        if kind == "validation":
            traces = by_figure["loss" if metric == "loss" else "accuracy"]
            label = f"{name}: {metric.replace('_', ' ')}" if traces else name
            short = label if len(label) <= NAME_LETTERS else f"{label[: NAME_LETTERS - 1].rstrip(', ')}…"
            trace = line(
                column, escape(short, quote=False), shade(color, 0.1), columns=columns, width=1.8, dash=dash, hover=".3g",
                group=f"earlier {index}", overlay=True, label=label,
            )  # fmt: skip
            traces.append(
                trace.update(uid=uid_of("earlier", index, column), showlegend=not traces and index < NAMED_RUNS)
            )
    return by_figure


def gradients_figure(steps: int, layers: Sequence[str], color: str) -> go.Figure:
    """L2 norms before clipping, on a logarithmic axis. ``layers``: names in Progress.grad_norms; deeper layers are
    darker."""
    traces, common = list[go.Scatter](), Trace({"hover": ".2e"})
    named, apart = (some_of(layers, most) for most in (MAX_LEGEND_LAYERS, MAX_LEGEND_LAYERS // len(PARTS)))
    for index, layer in enumerate(layers):
        tone = 0.85 * index / max(1, len(layers) - 1)
        label = f"{'E' if layer.startswith('e') else 'L'}{int(layer.removeprefix('e')) + 1}"  # E1: on the encoder side
        levels: Trace = {"color": shade(color, tone), **common}
        traces.append(line(f"grad_norms.{layer}.total", label, view="layer", legend=layer in named, **levels))
        levels |= {"width": 1.8, "view": "qkv", "legend": layer in apart}
        traces += [
            line(f"grad_norms.{layer}.{part}", f"{label} {part}", dash=dash, **levels) for part, dash in PARTS.items()
        ]
    traces += [
        line(f"grad_norms.{part}", part, muted(), width=1.4, dash=dash, view="layer", **common)
        for part, dash in REST.items()
    ]
    legend = {**LEGEND, "entrywidth": 62}  # three columns, because two would scroll
    return _over_steps(
        traces, steps, axis("gradient norm", type="log", exponentformat="power", nticks=3), legend=legend
    )


def some_of(layers: Sequence[str], most: int) -> set[str]:
    """At most ``most`` layers, with the first and the last: 24 legend entries would leave no room for the lines."""
    if len(layers) <= most:
        return set(layers)
    return {layers[round(index * (len(layers) - 1) / (most - 1))] for index in range(most)}


# Over the tokens read, with counting models; and the likeliest next tokens


COUNTING_DASHES = {"unigram": "dot", "bigram": "dash", "trigram": "solid"}


def by_read_figure(by_read: Mapping[str, np.ndarray], names: Mapping[str, str], color: str) -> go.Figure:
    """Mean nats by the number of tokens read; the counting models, in grey, on the same tokens."""
    drawn = {which: nats for which, nats in by_read.items() if which != "unigram"}  # far above all others
    grey = shade(mix(MUTED["light"], SURFACE["light"], 0.15))
    traces = [
        go.Scatter(
            x=list(range(1, len(nats) + 1)), y=[round(float(value), 4) for value in nats], name=names[which], uid=uid_of(which),
            mode="lines+markers" if which == "model" else "lines", text=[f"{exp(value):.1f}" for value in nats],
            line={"width": 2.8 if which == "model" else 1.6, "dash": COUNTING_DASHES.get(which, "solid")},
            hovertemplate="%{y:.3f} nats, perplexity %{text}", meta={"color": shade(color) if which == "model" else grey},
        )
        for which, nats in drawn.items()
    ]  # fmt: skip
    ends = [float(value) for nats in drawn.values() for value in (nats.min(), nats.max())]
    return figure(
        traces,
        xaxis=axis("tokens of the window read so far", rangemode="tozero", tickformat=",d"),
        yaxis=perplexity_axis(_ticks(min(ends), max(ends))),
        hovermode="x unified",
    )


def _ticks(low: float, high: float) -> list[float]:
    """At most seven ticks, in nats, at round perplexities."""
    first, last = exp(low), exp(high)
    step = next(size for size in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10_000) if last - first <= 5 * size)
    return [log(max(1, step * n)) for n in range(floor(first / step), ceil(last / step) + 1)]


def next_figure(likeliest: Sequence[tuple[str, float]], color: str) -> go.Figure:
    names = [f"{name} " for name, _ in likeliest]  # the space keeps tokens that are numbers from making a number axis
    bars = go.Bar(
        x=[round(p, 5) for _, p in likeliest], y=names, orientation="h", uid="next", hovertemplate="%{y}: %{x:.3f}<extra></extra>",
        meta={"color": shade(color), "label": "probability"},
    )  # fmt: skip
    return figure(
        [bars],
        xaxis=axis("probability", rangemode="tozero"),
        yaxis=axis("", autorange="reversed", type="category", dtick=1, showgrid=False, ticks=""),
        margin={"l": 60, "r": 12, "t": 8, "b": 40},
        showlegend=False,
    )
