"""The view of one head at two steps of training, side by side."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from engine.analysis.attention.asked import SampleAsked, Which
from engine.analysis.attention.jobs import ComputePatterns
from engine.runs.events import Snapshot
from pages.parts.app.questions import ask_once
from pages.parts.attention.runs import asked_model, at_hand, ready, steps_to_show
from pages.parts.attention.state import CELLS, KEYS_ACROSS, SETTINGS, LookedAt, name_of_head, pick_query
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.attention import Line, difference_picture, lines_picture, pattern_picture, strips_picture

MOST_LINES = 16


def show(at: LookedAt) -> None:
    kept, samples = kept_patterns(at)
    there = kept or computed_patterns(at)
    if len(there) < 2:
        st.info(where_from(False, samples), icon=":material/inventory_2:")
        return
    steps = sorted(there)
    first = at.now.before if at.now.before in there else steps[0]
    second = at.now.after if at.now.after in there else steps[-1]
    for name, step, column in zip(("before", "after"), (first, second), st.columns(2, gap="medium"), strict=True):
        if SETTINGS.drawn(name):
            column.select_slider(options=steps, **SETTINGS.labelled(name, shown=step))
    layer, head = at.place.layer, at.place.head
    before, after = there[first][layer, head], there[second][layer, head]
    # Of a long sequence the snapshot holds only the corner that fits.
    queries, keys = at.queries[: len(before)], at.keys[: before.shape[1]]
    query = min(at.query, len(queries) - 1)
    row = np.stack([before[query], after[query]])
    change, change_here = (float(np.abs(b - a).sum(-1).mean() / 2) for a, b in ((before, after), row))
    name, moved = name_of_head(at.place), f"On average {change:.0%} of a query's weight moved."
    rows = [(f"step {first}", row[0]), (f"step {second}", row[1]), ("change", row[1] - row[0])]
    panels(
        [
            Panel(
                "step.before", f"{name} at step {first}", pattern_picture(before, queries, keys, at.color, query=query), height=340,
                alt=f"Pattern at step {first}: {in_effect(before):.1f} keys in effect.", below=f"{in_effect(before):.1f} keys in effect",
                link=CELLS, picks=True,
            ),
            Panel(
                "step.after", f"{name} at step {second}", pattern_picture(after, queries, keys, at.color, query=query), height=340,
                alt=f"Pattern at step {second}: {in_effect(after):.1f} keys in effect.", below=f"{in_effect(after):.1f} keys in effect",
                link=CELLS, picks=True,
            ),
            Panel(
                "step.change", f"Step {second} minus step {first}", difference_picture(after - before, queries, keys, query=query),
                height=340, alt=moved, below=moved, link=CELLS, picks=True,
            ),
            Panel(
                "step.query", f"Query {query} at both steps",
                strips_picture(rows, keys, np.all(row == 0, axis=0), at.color), height=340, link=KEYS_ACROSS,
                alt=f"Bars over the keys; {change_here:.0%} of this query's weight moved.", below=f"{change_here:.0%} of its weight moved.",
            ),
            Panel(
                "step.keys", "How many keys each head uses", effect_lines(at, there, steps), height=300, wide=True,
                alt=f"Effective number of keys by step; {name} goes from {in_effect(before):.1f} to {in_effect(after):.1f}.",
                note="Effective number: the exponential of the entropy, mean over the queries of this sequence.", term="entropy",
            ),
        ],
        key="attention.training", name="attention through training", subject=at.subject, least=440, level=2,
        on_pick=pick_query,
    )  # fmt: skip
    st.caption(where_from(bool(kept), samples))


def kept_patterns(at: LookedAt) -> tuple[dict[int, np.ndarray], int]:
    """This sequence's patterns [layer, head, query, key] by the steps at which the run stored them; empty where it stored only
    those of other sequences. And the number of sequences, counted from the first, of which it stored patterns.
    """
    kept = at.run.events.of(Snapshot)
    found = {event.step: patterns_of(event, at.place.which, at.sample) for event in kept}
    last = kept[-1] if kept else None
    samples = 1 + len(last.more_patterns.get(at.place.which, ())) if last and at.place.which in last.patterns else 0
    return {step: pattern for step, pattern in found.items() if pattern is not None}, samples


def patterns_of(event: Snapshot, which: Which, sample: SampleAsked) -> np.ndarray | None:
    if sample.text.strip():
        return None
    if sample.number == 0:
        return event.patterns.get(which)
    more = event.more_patterns.get(which, ())
    return more[sample.number - 1] if sample.number <= len(more) else None


def computed_patterns(at: LookedAt) -> dict[int, np.ndarray]:
    """The same patterns computed from weights, at the steps whose weights are available."""
    if not ready(at.run, asked_model(at.run, None)):
        return {}
    models = {step: asked_model(at.run, step) for step in steps_to_show(at.run)}
    here = {step: model for step, model in models.items() if at_hand(model)}
    return {step: ask_once(ComputePatterns(model, at.sample))[at.place.which] for step, model in here.items()}


def where_from(kept: bool, samples: int) -> str:
    if kept:
        return "These patterns were kept while the run trained."
    which = {0: "no patterns", 1: "the patterns of sequence 0"}.get(
        samples, f"the patterns of sequences 0 to {samples - 1}"
    )
    return (
        f"While it trained, this run kept {which}. Others are computed from weights, and so only at steps whose weights "
        "are there: those that were kept, and those that you trained again under “Steps”."
    )


def in_effect(pattern: np.ndarray) -> float:
    """The effective number of keys, the mean over queries of exp(entropy), from weights [query, key]."""
    logs = np.log(pattern, where=pattern > 0, out=np.zeros_like(pattern))
    return float(np.exp(-(pattern * logs).sum(-1)).mean())


def effect_lines(at: LookedAt, there: dict[int, np.ndarray], steps: list[int]) -> go.Figure:
    layers, heads = there[steps[0]].shape[:2]
    own = [(layer, head) for layer in range(layers) for head in range(heads)]
    if len(own) > MOST_LINES:
        own = [(at.place.layer, head) for head in range(min(heads, MOST_LINES))]
    lines = [
        Line(
            f"L{layer + 1} H{head + 1}",
            steps,
            [in_effect(there[step][layer, head]) for step in steps],
            strong=(layer, head) == (at.place.layer, at.place.head),
        )
        for layer, head in own
    ]
    return lines_picture(lines, x="step", y="keys in effect", color=at.color)
