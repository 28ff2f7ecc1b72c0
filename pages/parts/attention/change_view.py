"""The view that changes a trained model's attention and shows the cost: heads off, another temperature, another score."""

from __future__ import annotations

import streamlit as st

from engine.analysis.attention.asked import Place, places_in
from engine.analysis.attention.jobs import CompareScores, SwitchEachHeadOff, SwitchHeadsOff
from pages.parts.app.questions import ask_once
from pages.parts.attention.state import CELLS, SETTINGS, TEMPERATURES, LookedAt, held_out_label, name_of_head
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.attention import bars_picture, difference_picture, pattern_picture

ROW, SPACE = 110, 4
"""The letters in a row of pills, and the letters that each pill takes besides its own."""
SCORES = {
    "scaled_dot": ("Scaled dot product", "q · k / √d_head"),
    "dot": ("Dot product", "q · k, without the scale"),
    "cosine": ("Cosine", "√d_head times the cosine of q and k"),
    "additive": ("Additive", "w · tanh(q + k)"),
}


def show(at: LookedAt) -> None:
    heads, temperature = st.columns([2.2, 1], gap="medium")
    with heads:
        off = heads_control(at)
    with temperature:
        if SETTINGS.drawn("temperature"):
            bound = SETTINGS.labelled("temperature", shown=at.now.temperature)
            st.select_slider(options=TEMPERATURES, format_func=lambda value: f"{value:g}", **bound)
    seen = ask_once(SwitchHeadsOff(at.model, at.sample, at.place, tuple(off), at.now.temperature))
    before, after = seen["before"], seen["after"]
    show_metrics(before["metrics"], after["metrics"], before["entropy"], after["entropy"])
    queries, keys, color, query = at.queries, at.keys, at.color, at.query
    name = name_of_head(at.place)
    panels(
        [
            Panel(
                "before", f"{name}, as trained", pattern_picture(before["pattern"], queries, keys, color, query=query), height=330,
                alt=f"Pattern as trained; mean entropy {before['entropy']:.2f} nats.", link=CELLS,
            ),
            Panel(
                "after", f"{name}, changed", pattern_picture(after["pattern"], queries, keys, color, query=query), height=330,
                alt=f"Pattern with the changes; mean entropy {after['entropy']:.2f} nats.", link=CELLS,
            ),
            Panel(
                "change", "Changed minus trained", difference_picture(after["pattern"] - before["pattern"], queries, keys, query=query),
                height=330, alt=f"The largest change of one weight is {abs(after['pattern'] - before['pattern']).max():.2f}.", link=CELLS,
            ),
        ],
        key="attention.change", name="attention changed", subject=at.subject, least=300, level=2,
    )  # fmt: skip
    show_each_head(at)
    show_scores(at)


def heads_control(at: LookedAt) -> list[Place]:
    """The heads that the reader has switched off."""
    config = at.config
    layers = 1 if config.share_layers else config.n_layers
    places = {
        f"{which}.{layer + 1}.{head + 1}": Place(which, layer, head)
        for which in places_in(config) for layer in range(layers) for head in range(config.n_heads)
    }  # fmt: skip
    off = [name for name in at.now.off if name in places]
    if not SETTINGS.drawn("off"):
        return [places[name] for name in off]
    bound = SETTINGS.labelled("off", shown=off)
    if config.share_layers:
        bound["help"] += " The layers share their weights, and so a head is off in all of them."

    def label(name: str) -> str:
        return name_of_head(places[name])

    if sum(len(label(name)) + SPACE for name in places) <= ROW:
        st.pills(options=list(places), selection_mode="multi", format_func=label, **bound)
    else:
        st.multiselect(options=list(places), format_func=label, placeholder="none", **bound)
    return [places[name] for name in off]


def show_metrics(before: dict[str, float], after: dict[str, float], entropy: float, changed: float) -> None:
    columns = st.columns(len(before) + 1)
    for column, (name, value) in zip(columns, after.items(), strict=False):
        difference = value - before[name]
        column.metric(
            held_out_label(name), f"{value:.3f}", f"{difference:+.3f}" if abs(difference) > 5e-4 else None,
            delta_color="inverse" if name == "loss" else "normal",
        )  # fmt: skip
    difference = changed - entropy
    columns[-1].metric(
        "Entropy of this head (nats)",
        f"{changed:.3f}",
        f"{difference:+.3f}" if abs(difference) > 5e-4 else None,
        delta_color="off",
    )


def show_each_head(at: LookedAt) -> None:
    st.header("Each head switched off in turn", anchor=False)
    seen = ask_once(SwitchEachHeadOff(at.model))
    whole = seen["whole"]
    metric = next(name for name in whole if name != "loss")
    names = [name_of_head(Place(row["which"], row["layer"], row["head"])) for row in seen["rows"]]
    rises = [row["loss"] - whole["loss"] for row in seen["rows"]]
    falls = [row[metric] - whole[metric] for row in seen["rows"]]
    worst = max(range(len(rises)), key=rises.__getitem__)
    panels(
        [
            Panel(
                "each.loss", "Held-out loss without it", bars_picture(names, rises, x="head", y="rise of the loss (nats)", color=at.color),
                alt=f"The loss rises most without {names[worst]}: by {rises[worst]:.3f} nats.", height=240,
                note=f"With all heads {whole['loss']:.3f} nats. It rises most without {names[worst]}: by {rises[worst]:.3f}.",
            ),
            Panel(
                "each.accuracy", f"{held_out_label(metric)} without it",
                bars_picture(names, falls, x="head", y="change of the accuracy", color=at.color), height=240,
                alt=f"The accuracy changes most by {min(falls, key=lambda v: -abs(v)):+.3f}.", note=f"With all heads {whole[metric]:.3f}.",
            ),
        ],
        key="attention.each", name="each head off", subject=at.subject, least=340,
    )  # fmt: skip
    if seen["left_out"]:
        st.caption(f"{seen['left_out']} more heads are left out here.")


def show_scores(at: LookedAt) -> None:
    st.header("Other ways to compare the same q and k", anchor=False)
    seen = ask_once(CompareScores(at.model, at.sample, at.place))
    items = []
    for name, (title, formula) in SCORES.items():
        row = seen[name]
        numbers = [f"{held_out_label(metric)} {value:.3f}" for metric, value in list(row["metrics"].items())[:2]]
        trained = " (trained so)" if name == at.config.attention_score else ""
        items.append(
            Panel(
                f"score.{name}", title + trained, pattern_picture(row["pattern"], at.queries, at.keys, at.color, query=at.query, bar=False),
                alt=f"{title}: mean entropy {row['entropy']:.2f} nats, {', '.join(numbers)}.", height=300, link="scores",
                note=f"{formula}. Entropy {row['entropy']:.2f} nats.", below=" · ".join(numbers),
            )
        )  # fmt: skip
    panels(items, key="attention.scores", name="scores", subject=at.subject, least=270)
    untrained = at.config.attention_score != "additive"
    st.caption(
        "The pictures compare this head's very q and k. The numbers below them are of the whole model with every layer comparing so, "
        "without having been trained for it."
        + (
            " The additive score has a vector w of its own, which this run never trained: here all of it is 1/√d_head."
            if untrained
            else ""
        )
    )
