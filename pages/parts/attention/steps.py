"""The view of one query, step by step: from its vector to the output of the head."""

from collections.abc import Sequence
from math import floor, log10
from typing import Literal

import numpy as np
import pandas as pd
import streamlit as st

from engine.analysis.attention.jobs import Steps, TraceSteps
from engine.foundation.formatting import counted, percent
from pages.parts.app.in_markdown import escaped
from pages.parts.app.questions import ask_once
from pages.parts.attention.state import KEYS_ACROSS, KEYS_DOWN, LookedAt, pick_query
from pages.parts.boards.panels import Panel
from pages.parts.charts.attention import numbers_picture, strips_picture

WHOLE = 20
"""The most keys for which the table shows every row at once; with more it scrolls."""
SCALES = {
    "scaled_dot": "divided by √d_head = {root:.3g}",
    "dot": "not scaled: this run compares without 1/√d_head",
    "cosine": "of vectors of length one, times √d_head = {root:.3g}",
    "additive": "w · tanh(q + k) with this run's own w",
}
PLACES = {
    "nowhere": "This run has no encoding: positions reach the scores through the mask alone.",
    "embedding": (
        "{label} is added to the embedding, so it is inside q and k already. The column says how much higher the score is than with no "
        "positions added to the embedding."
    ),
    "rotation": "{label} turns q and k by their positions before they are compared. The column says what the turn added to the score.",
    "scores": "{label} adds a number to each score.",
}


def show_steps(at: LookedAt) -> None:
    s = ask_once(TraceSteps(at.model, at.sample, at.place, at.query))
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
        _show_numbers(at, s)


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
    return "nowhere" if at.place.which == "cross" and acts != "embedding" else acts


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
    said = PLACES[acts].format(label=row.label)
    if at.place.which == "cross" and acts == "nowhere":
        said = "Cross-attention has no encoding of its own."
    return "\n".join(f"{place}. {step}" for place, step in enumerate(steps, 1)) + f"\n\n{said}"


def _show_numbers(at: LookedAt, s: Steps) -> None:
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
