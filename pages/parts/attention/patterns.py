"""The views of the patterns: of all heads side by side, with their numbers, kinds and the rollout through the layers; of one head at two
steps of training; and of one query, step by step, from its vector to the output of the head."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from engine.analysis.attention.jobs import ComputePatterns, DescribeHeads, HeadNumbers, Heads, Steps, TraceSteps
from engine.foundation.formatting import counted, percent
from engine.runs.events import Snapshot
from pages.parts.app.in_markdown import escaped
from pages.parts.app.questions import ask_once
from pages.parts.attention.state import (
    CELLS,
    KEYS_ACROSS,
    KEYS_DOWN,
    SETTINGS,
    LookedAt,
    asked_model,
    at_hand,
    name_of_head,
    pick_query,
    ready,
    steps_to_show,
)
from pages.parts.boards.panels import Panel, Picked
from pages.parts.charts.attention import (
    Line,
    difference_picture,
    lines_picture,
    numbers_picture,
    pattern_picture,
    strips_picture,
)

MOST_PICTURES = 24
"""The number of heads above which only those of the chosen layer are shown."""
FEW = 3
"""The number of heads up to which the pictures are large: they fit into one row."""
MOST_LINES = 16


# All heads


def show_heads(at: LookedAt) -> None:
    seen = ask_once(DescribeHeads(at.model, at.sample))
    rows = {row["part"]: row for row in seen["rows"]}
    own = [part for part in rows if part.which == at.part.which]
    pictured = own if len(own) <= MOST_PICTURES else [part for part in own if part.layer == at.part.layer]
    if pictured != own:
        st.caption(f"There are {len(own)} heads: these are those of layer {at.part.layer + 1}.")
    pattern, tokens = seen["patterns"][at.part.which], seen["tokens"][at.part.which]
    queries, keys = (names[:size] for names, size in zip(tokens, pattern.shape[-2:], strict=True))
    items, height = [], 170 if len(pictured) > FEW else 300
    for part in pictured:
        row, name = rows[part], name_of_head(part)
        keys_used = f"{row['effective_keys']:.1f} keys in effect"
        drawn = pattern_picture(pattern[part.layer, part.head], queries, keys, bare=True)
        items.append(Panel(
            f"head.{part.layer}.{part.head}", name, drawn, f"Pattern of {name}: {kind_in_words(row)}, {keys_used}.", height=height,
            note=kind_in_words(row), below=keys_used, link=CELLS, picks=True,
        ))  # fmt: skip
    at.show("heads", "heads", items, least=narrowest(at.config.n_heads), level=2, on_pick=pick)
    st.caption(
        f"The pictures show this sequence; the numbers are means over {seen['sequences']} held-out sequences. A head gets the name of the "
        f"kind with the highest score, if that is {seen['named_from']:g} or more. A score of 1 means that all of its weight is where the "
        "kind says; 0, no more than if it read all keys equally. Click a picture to choose that head."
    )
    _show_numbers(list(rows.values()))
    show_rollout(at, seen)


def narrowest(heads: int) -> int:
    """The smallest width of a figure in pixels, so that the heads of a layer fit into one row on a laptop."""
    return min(285, max(190, 1180 // heads - 12))


def pick(picked: Picked) -> None:
    _, layer, head = picked.panel.split(".")
    SETTINGS.put({"layer": int(layer) + 1, "head": int(head) + 1, "position": int(float(picked.y))})


def kind_in_words(row: HeadNumbers) -> str:
    score = row["scores"].get(row["kind"])
    return row["kind"] if score is None else f"{row['kind']} {score:.2f}"


def _show_numbers(rows: list[HeadNumbers]) -> None:
    """A row for each head, with its best scores; readers can sort by a column."""
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    st.dataframe(
        {
            "Head": [name_of_head(row["part"]) for row in rows],
            "Kind": [row["kind"] for row in rows],
            "Entropy (nats)": [row["entropy"] for row in rows],
            "Keys in effect": [row["effective_keys"] for row in rows],
            "Mean distance": [row["distance"] for row in rows],
            "Scores": [_best_scores(row) for row in rows],
        },
        column_config={
            "Head": text(pinned=True), "Entropy (nats)": number(format="%.2f"), "Keys in effect": number(format="%.1f"),
            "Mean distance": number(format="%.1f"), "Scores": text(width="large"),
        },
        hide_index=True,
    )  # fmt: skip


def _best_scores(row: HeadNumbers) -> str:
    ranked = sorted(row["scores"].items(), key=lambda item: -item[1])
    return ", ".join(f"{label} {score:z.2f}" for label, score in ranked[:4]).replace(" -", " −")


def show_rollout(at: LookedAt, seen: Heads) -> None:
    which = at.part.which
    if which not in seen["rollout"]:
        st.caption("Roll-out follows self-attention through the layers; choose one of the self-attentions to see it.")
        return
    st.header("Roll-out: what reaches each position through all layers", anchor=False)
    flow, mean = seen["rollout"][which]["flow"], seen["rollout"][which]["mean"]
    items = [
        at.pattern_panel(
            "rollout.flow", "Roll-out to the last layer", flow[-1], f"Share of each token in each position after {len(flow)} layers.",
            framed=False, link="rollout", term="roll-out",
            note="Heads averaged, half of each layer carried by the skip connection (Abnar and Zuidema 2020).",
        ),
        at.pattern_panel(
            "rollout.last", "The last layer alone", mean[-1], "Attention of the last layer, averaged over heads.", framed=False,
            link="rollout", note="Its heads averaged. What it reads are no longer tokens, but mixtures of them.",
        ),
    ]  # fmt: skip
    at.show("rollout", "roll-out", items, least=340)
    if which == "self" and at.config.family == "encoder_decoder":
        st.caption("Cross-attention is left out of it: the decoder's own tokens only.")


# One head at two steps


def show_training(at: LookedAt) -> None:
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
    layer, head = at.part.layer, at.part.head
    before, after = there[first][layer, head], there[second][layer, head]
    # Of a long sequence the snapshot holds only the corner that fits.
    queries, keys = at.queries[: len(before)], at.keys[: before.shape[1]]
    query = min(at.query, len(queries) - 1)
    row = np.stack([before[query], after[query]])
    change, change_here = (float(np.abs(b - a).sum(-1).mean() / 2) for a, b in ((before, after), row))
    name, moved = at.head, f"On average {percent(change)} of a query's weight moved."
    rows = [(f"step {first}", row[0]), (f"step {second}", row[1]), ("change", row[1] - row[0])]
    items = []
    for id, step, pattern in (("step.before", first, before), ("step.after", second, after)):
        used = f"{in_effect(pattern):.1f} keys in effect"
        drawn = pattern_picture(pattern, queries, keys, query=query)
        alt = f"Pattern at step {step}: {used}."
        items.append(Panel(id, f"{name} at step {step}", drawn, alt, height=340, below=used, link=CELLS, picks=True))
    items += [
        Panel(
            "step.change", f"Step {second} minus step {first}", difference_picture(after - before, queries, keys, query=query), moved,
            height=340, below=moved, link=CELLS, picks=True,
        ),
        Panel(
            "step.query", f"Query {query + 1} at both steps",
            strips_picture(rows, keys, np.all(row == 0, axis=0), at.color), height=340, link=KEYS_ACROSS,
            alt=f"Bars over the keys; {percent(change_here)} of this query's weight moved.",
            below=f"{percent(change_here)} of its weight moved.",
        ),
        Panel(
            "step.keys", "How many keys each head uses", effect_lines(at, there, steps), height=300, wide=True,
            alt=f"Effective number of keys by step; {name} goes from {in_effect(before):.1f} to {in_effect(after):.1f}.",
            note="Effective number: the exponential of the entropy, mean over the queries of this sequence.", term="entropy",
        ),
    ]  # fmt: skip
    at.show("training", "attention through training", items, least=440, level=2, on_pick=pick_query)
    st.caption(where_from(bool(kept), samples))


def kept_patterns(at: LookedAt) -> tuple[dict[int, np.ndarray], int]:
    """This sequence's patterns [layer, head, query, key] by the steps at which the run stored them; empty where it stored only those of
    other sequences. And the number of sequences, counted from the first, of which it stored patterns."""
    which, number, found, samples = at.part.which, at.sample.number, dict[int, np.ndarray](), 0
    for event in at.run.events.of(Snapshot):
        first = event.patterns.get(which)
        patterns = [] if first is None else [first, *event.more_patterns.get(which, ())]
        samples = len(patterns)
        if number < samples and not at.sample.text.strip():
            found[event.step] = patterns[number]
    return found, samples


def computed_patterns(at: LookedAt) -> dict[int, np.ndarray]:
    """The same patterns computed from weights, at the steps whose weights are available."""
    if not ready(at.run, asked_model(at.run, None)):
        return {}
    models = {step: asked_model(at.run, step) for step in steps_to_show(at.run)}
    here = {step: model for step, model in models.items() if at_hand(model)}
    return {step: ask_once(ComputePatterns(model, at.sample))[at.part.which] for step, model in here.items()}


def where_from(kept: bool, samples: int) -> str:
    if kept:
        return "These patterns were kept while the run trained."
    several = f"the patterns of sequences 0 to {samples - 1}"
    which = {0: "no patterns", 1: "the patterns of sequence 0"}.get(samples, several)
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
    own = list(np.ndindex(layers, heads))
    if len(own) > MOST_LINES:
        own = [(at.part.layer, head) for head in range(min(heads, MOST_LINES))]
    lines = []
    for layer, head in own:
        used = [in_effect(there[step][layer, head]) for step in steps]
        lines.append(Line(f"L{layer + 1} H{head + 1}", steps, used, (layer, head) == (at.part.layer, at.part.head)))
    return lines_picture(lines, x="step", y="keys in effect", color=at.color)


# One query, step by step


WHOLE = 20
"""The most keys for which the table shows every row at once; with more it scrolls."""
SCALES = {
    "scaled_dot": "divided by √d_head = {root:.3g}",
    "dot": "not scaled: this run compares without 1/√d_head",
    "cosine": "of vectors of length one, times √d_head = {root:.3g}",
    "additive": "w · tanh(q + k) with this run's own w",
}
ATTENTIONS = {
    "nowhere": "This run has no encoding: positions reach the scores through the mask alone.",
    "embedding": (
        "{label} is added to the embedding, so it is inside q and k already. The column says how much higher the score is than with no "
        "positions added to the embedding."
    ),
    "rotation": "{label} turns q and k by their positions before they are compared. The column says what the turn added to the score.",
    "scores": "{label} adds a number to each score.",
}


def show_steps(at: LookedAt) -> None:
    s = ask_once(TraceSteps(at.model, at.sample, at.part, at.query))
    best = int(np.argmax(s["weight"]))
    says = f" Here the model answers **{escaped(s['predicted'])}**" if s["predicted"] else ""
    right = f"; right is **{escaped(s['target'])}**." if s["target"] else "." if says else ""
    st.markdown(
        f"Query {at.query + 1} (token **{escaped(at.queries[at.query])}**) looks most at key {best + 1} "
        f"(token **{escaped(at.keys[best])}**): **{percent(s['weight'][best])}** of its attention.{says}{right}"
    )
    at.show("steps", "attention", _figures(at, s), least=440, level=2, on_pick=pick_query)
    words, numbers = st.columns([1, 1.25], gap="large")
    with words:
        st.markdown("**The steps and their shapes**")
        st.markdown(_steps_in_words(at, s))
        digits = max(0, floor(-log10(max(s["gap"], 1e-12))))
        st.caption(f":material/check: Put together, these steps give the model's numbers, to {digits} decimal places.")
    with numbers:
        st.markdown("**The numbers, key by key**")
        _show_step(at, s)


def _figures(at: LookedAt, s: Steps) -> list[Panel]:
    keys, weight = s["keys"], s["weight"]
    strips = [("q · k", s["product"]), ("encoding", s["by_encoding"]), ("score", s["score"]), ("weight", weight)]
    if acts_on(at) == "nowhere":
        del strips[1]
    dims = [str(d) for d in range(1, s["d_head"] + 1)]
    values = np.vstack([s["weighted"], s["mixed"]])
    handed = np.vstack([s["projected"], s["out"]])
    heads = [f"head {head + 1}" for head in range(len(s["projected"]))]
    top = ", ".join(f"key {k + 1} ({keys[k]}) {weight[k]:.2f}" for k in np.argsort(-weight)[:3])
    inner, outer = "dimension of the head", "dimension of the model"
    products = numbers_picture(s["turned_k"] * s["turned_q"], "q × k", x=inner, y="key", columns=dims, rows=keys)
    weighted = numbers_picture(values, "weight × v", x=inner, y="key", columns=dims, rows=[*keys, "sum"])
    handed_on = numbers_picture(handed, "value", x=outer, y="head", rows=[*heads, "all"])
    return [
        at.pattern_panel(
            "pattern.one", "The pattern of this head", s["pattern"], height=330, picks=True, term="attention-pattern",
            alt=f"Attention weights of every query; the framed query {at.query + 1} reads most from {top}.",
            note="Each row is a query and adds up to one. Click a row, or press Enter on it, to take it.",
        ),
        Panel(
            "strips", "From product to weight, for this query", strips_picture(strips, keys, s["blocked"], at.color), height=330,
            alt=f"Four strips of bars over the keys; the weights are largest at {top}.", link=KEYS_ACROSS, term="softmax",
            note="One bar per key. Blocked keys are grey: the mask takes them out before the softmax.",
        ),
        Panel(
            "product", "q times k, dimension by dimension", products, height=320, link=KEYS_DOWN, term="query-key-value",
            alt=f"Products of q and each key in {s['d_head']} dimensions; a row adds up to q · k.",
            note=f"A row adds up to q · k{' after the rotation' if s['rotates'] else ''}: see which numbers make the match.",
        ),
        Panel(
            "values", "Weighted values, and their sum", weighted, height=320, link=KEYS_DOWN,
            alt="Each key's value times its weight; the last row is what the head has read.",
            note="Each row is a key's value times its weight; the last is their sum, the head's reading.",
        ),
        Panel(
            "handed", "What each head hands on", handed_on, height=240, wide=True,
            alt="Every head's part of the output in all dimensions of the model, and their sum with the bias.",
            note="The output projection brings each head's sum to the model's width; with the bias they add up to the last row.",
        ),
    ]  # fmt: skip


def acts_on(at: LookedAt) -> str:
    """The part of this attention that the encoding acts on; on cross-attention only through the embeddings."""
    acts = at.config.encoding.acts_on
    return "nowhere" if at.part.which == "cross" and acts != "embedding" else acts


def _steps_in_words(at: LookedAt, s: Steps) -> str:
    keys, d_head, d_model = len(s["keys"]), s["d_head"], s["d_model"]
    row = at.config.encoding
    acts = acts_on(at)
    scale = SCALES[at.config.attention_score].format(root=d_head**0.5)
    blocked = int(s["blocked"].sum())
    total = f"{s['weight'].sum():.3f}"
    steps = [
        f"**Project.** The token's vector `[{d_model}]` becomes q `[{d_head}]`; every key's becomes k and v, `[{keys} × {d_head}]` each."
    ]
    if at.config.qk_norm:
        steps.append(
            "**Normalise.** QK-norm brings q and each k to mean 0 and variance 1, times learned scales: these are the q and k below."
        )
    if acts == "rotation":
        turned = f"q by the angles of position {s['position'] + 1} and each k by those of its own"
        steps.append(f"**Turn.** {row.label} turns {turned}, `[{d_head}]` each.")
    steps.append(f"**Compare.** q `[{d_head}]` with every k: `[{keys}]` numbers, {scale}.")
    if acts == "scores":
        least, most = s["bias"].min(), s["bias"].max()
        steps.append(f"**Bias.** {row.label} adds `[{keys}]` numbers, here from {least + 0.0:.2f} to {most + 0.0:.2f}.")
    mask = "Nothing is blocked for this query."
    if blocked:
        mask = f"{blocked} of {keys} keys are blocked: their score becomes −∞."
    softmax = f"**Softmax.** exp(score), divided by its sum over the keys: weights `[{keys}]` that add up to {total}."
    if at.config.softmax_axis != "key":
        softmax = f"**Softmax, over queries (a fault of this run).** Weights `[{keys}]`, which here add up to {total}."
    extra = ", and what the encoding adds to the values" if s["value_term"] is not None else ""
    heads = counted(len(s["projected"]), "head")
    steps += [
        f"**Mask.** {mask}",
        softmax,
        f"**Mix.** Weights `[{keys}]` times v `[{keys} × {d_head}]`: one vector `[{d_head}]`{extra}.",
        f"**Project back.** `[{d_model} × {d_head}]` times that: `[{d_model}]`. The vectors of {heads} and the bias are added up.",
    ]
    sentence = ATTENTIONS[acts].format(label=row.label)
    if at.part.which == "cross" and acts == "nowhere":
        sentence = "Cross-attention has no encoding of its own."
    return "\n".join(f"{part}. {step}" for part, step in enumerate(steps, 1)) + f"\n\n{sentence}"


def _show_step(at: LookedAt, s: Steps) -> None:
    """A row for each key; an encoding inside q and k has a column with its part of the score."""
    columns: dict[str, Sequence[float] | np.ndarray] = {
        "q · k": s["product"],
        **({"turned": s["turned"]} if s["rotates"] else {}),
        "scaled": s["scaled"],
        **({"from the encoding": s["by_encoding"]} if acts_on(at) != "nowhere" else {}),
        "score": s["score"],
    }
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    signed = {**columns, "masked": np.where(s["blocked"], -np.inf, s["score"]), "weight": s["weight"]}
    frame = pd.DataFrame({"Key": range(1, len(s["keys"]) + 1), "Token": list(s["keys"]), **signed})
    drawn = frame.style.format(lambda value: f"{value:.3f}".replace("inf", "∞").replace("-", "−"), subset=list(signed))
    pinned = {"Key": number(pinned=True, width="small"), "Token": text(pinned=True, width="small")}
    height: Literal["content", "auto"] = "content" if len(s["keys"]) <= WHOLE else "auto"
    st.dataframe(drawn, column_config=pinned, hide_index=True, height=height)
