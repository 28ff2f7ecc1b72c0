"""The same head at two steps of training, side by side, from the patterns that were kept along the run."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from engine.events import Snapshot
from pages.parts.attention.chosen import bound, name_of_head
from pages.parts.attention.looked_at import LookedAt
from pages.parts.board.panels import Panel, panels
from pages.parts.figures.heads import Line, difference_picture, lines_picture, pattern_picture
from pages.parts.live.looks import tokens_of

MOST_LINES = 16


def show(at: LookedAt) -> None:
    kept = {event.step: event for event in at.run.events if isinstance(event, Snapshot)}
    patterns = {step: event.patterns.get(at.place.which) for step, event in kept.items()}
    there = {step: pattern for step, pattern in patterns.items() if pattern is not None}
    if len(there) < 2:
        st.info("This run kept no patterns along its training.", icon=":material/inventory_2:")
        return
    steps = sorted(there)
    first = at.now.before if at.now.before in there else steps[0]
    second = at.now.after if at.now.after in there else steps[-1]
    left, right = st.columns(2, gap="large")
    with left:
        st.select_slider("Before: step", steps, **bound("before", first))
    with right:
        st.select_slider("After: step", steps, **bound("after", second))
    layer, head = at.place.layer, at.place.head
    before, after = there[first][layer, head], there[second][layer, head]
    queries, keys = tokens_of(kept[second], at.place.which, before.shape)
    change = float(np.abs(after - before).sum(-1).mean() / 2)
    name, moved = name_of_head(at.place), f"On average {change:.0%} of a query's weight moved."
    panels(
        [
            Panel(
                "step.before", f"{name} at step {first}", pattern_picture(before, queries, keys, at.color), height=340, link="cells",
                alt=f"Pattern at step {first}: {in_effect(before):.1f} keys in effect.", below=f"{in_effect(before):.1f} keys in effect",
            ),
            Panel(
                "step.after", f"{name} at step {second}", pattern_picture(after, queries, keys, at.color), height=340, link="cells",
                alt=f"Pattern at step {second}: {in_effect(after):.1f} keys in effect.", below=f"{in_effect(after):.1f} keys in effect",
            ),
            Panel(
                "step.change", f"Step {second} minus step {first}", difference_picture(after - before, queries, keys),
                height=340, link="cells", alt=moved, below=moved,
            ),
            Panel(
                "step.keys", "How many keys each head uses", effect_lines(at, there, steps), height=300, wide=True,
                alt=f"Effective number of keys by step; {name} goes from {in_effect(before):.1f} to {in_effect(after):.1f}.",
                note="Effective number: the exponential of the entropy, mean over the queries of this sequence.", term="entropy",
            ),
        ],
        key="attention.training", name="attention through training", subject=at.subject, least=300,
    )  # fmt: skip
    st.caption("These are the patterns of the run's first probe sequence, as they were when it trained.")


def in_effect(pattern: np.ndarray) -> float:
    """Mean over queries of exp(entropy), from weights [query, key]."""
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
