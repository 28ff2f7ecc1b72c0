"""The view of all heads: patterns side by side, their numbers and kinds, and the rollout through the layers."""

from __future__ import annotations

import streamlit as st

from engine.analysis.attention.asked import Place
from engine.analysis.attention.jobs import DescribeHeads, HeadNumbers, Heads
from pages.parts.app.questions import ask_once
from pages.parts.attention.state import CELLS, SETTINGS, LookedAt, name_of_head
from pages.parts.boards.panels import Panel, Picked, panels
from pages.parts.charts.attention import pattern_picture

MOST_PICTURES = 24
"""The number of heads above which only those of the chosen layer are shown."""


def show(at: LookedAt) -> None:
    seen = ask_once(DescribeHeads(at.model, at.sample))
    rows = {Place(row["which"], row["layer"], row["head"]): row for row in seen["rows"]}
    own = [place for place in rows if place.which == at.place.which]
    pictured = own if len(own) <= MOST_PICTURES else [place for place in own if place.layer == at.place.layer]
    if pictured != own:
        st.caption(f"There are {len(own)} heads: these are those of layer {at.place.layer + 1}.")
    pattern = seen["patterns"][at.place.which]
    queries, keys = (
        names[:size] for names, size in zip(seen["tokens"][at.place.which], pattern.shape[-2:], strict=True)
    )
    items = []
    for place in pictured:
        row = rows[place]
        items.append(
            Panel(
                f"head.{place.layer}.{place.head}", name_of_head(place),
                pattern_picture(pattern[place.layer, place.head], queries, keys, at.color, bare=True),
                alt=f"Pattern of {name_of_head(place)}: {kind_in_words(row)}, {row['effective_keys']:.1f} keys in effect.", height=170,
                note=kind_in_words(row), below=f"{row['effective_keys']:.1f} keys in effect", link=CELLS, picks=True,
            )
        )  # fmt: skip
    panels(
        items,
        key="attention.heads",
        name="heads",
        subject=at.subject,
        least=narrowest(at.config.n_heads),
        level=2,
        on_pick=pick,
    )
    st.caption(
        f"This sequence above; the numbers are means over {seen['sequences']} held-out sequences. A head is named by its best score from "
        f"{seen['named_from']:g} on: 0 is what uniform attention over the keys in sight would put there, 1 is all of its weight. "
        "For “uniform”, 0 is as uneven as random weights are. Click a picture to take that head."
    )
    _show_numbers(list(rows.values()))
    show_rollout(at, seen)


def narrowest(heads: int) -> int:
    """The smallest width of a figure in pixels, so that the heads of a layer fit into one row on a laptop."""
    return min(285, max(190, 1180 // heads - 12))


def pick(picked: Picked) -> None:
    _, layer, head = picked.panel.split(".")
    SETTINGS.put({"layer": int(layer) + 1, "head": int(head) + 1, "query": int(float(picked.y))})


def kind_in_words(row: HeadNumbers) -> str:
    score = row["scores"].get(row["kind"])
    return row["kind"] if score is None else f"{row['kind']} {score:.2f}"


def _show_numbers(rows: list[HeadNumbers]) -> None:
    """A row for each head, with its best scores; readers can sort by a column."""
    number = st.column_config.NumberColumn
    st.dataframe(
        {
            "Head": [name_of_head(Place(row["which"], row["layer"], row["head"])) for row in rows],
            "Kind": [row["kind"] for row in rows],
            "Entropy (nats)": [row["entropy"] for row in rows],
            "Keys in effect": [row["effective_keys"] for row in rows],
            "Mean distance": [row["distance"] for row in rows],
            "Scores": [_best_scores(row) for row in rows],
        },
        column_config={
            "Head": st.column_config.TextColumn(pinned=True),
            "Entropy (nats)": number(format="%.2f"),
            "Keys in effect": number(format="%.1f"),
            "Mean distance": number(format="%.1f"),
            "Scores": st.column_config.TextColumn(width="large"),
        },
        hide_index=True,
    )


def _best_scores(row: HeadNumbers) -> str:
    ranked = sorted(row["scores"].items(), key=lambda item: -item[1])
    return ", ".join(f"{label} {score:z.2f}" for label, score in ranked[:4])


def show_rollout(at: LookedAt, seen: Heads) -> None:
    which = at.place.which
    if which not in seen["rollout"]:
        st.caption("Roll-out follows self-attention through the layers; choose one of the self-attentions to see it.")
        return
    st.header("Roll-out: what reaches each position through all layers", anchor=False)
    flow, mean = seen["rollout"][which]["flow"][-1], seen["rollout"][which]["mean"][-1]
    queries, keys = at.queries, at.keys
    panels(
        [
            Panel(
                "rollout.flow", "Roll-out to the last layer", pattern_picture(flow, queries, keys, at.color), height=340,
                alt=f"Share of each token in each position after {len(seen['rollout'][which]['flow'])} layers.", link="rollout",
                note="Heads averaged, half of each layer carried by the skip connection (Abnar and Zuidema 2020).", term="roll-out",
            ),
            Panel(
                "rollout.last", "The last layer alone", pattern_picture(mean, queries, keys, at.color), height=340,
                alt="Attention of the last layer, averaged over heads.", link="rollout",
                note="Its heads averaged. What it reads are no longer tokens, but mixtures of them.",
            ),
        ],
        key="attention.rollout", name="roll-out", subject=at.subject, least=340,
    )  # fmt: skip
    if which == "self" and at.config.family == "encoder_decoder":
        st.caption("Cross-attention is left out of it: the decoder's own tokens only.")
