"""The views of “Take it apart”: the steps of one query, from its vector to the output of the head; all heads, with
their numbers, kinds and the roll-out; the cost of changes to attention; and classic faults with the checks that detect
them."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import Any, Literal

import numpy as np
import pandas as pd
import streamlit as st

from engine.analysis.attention import jobs
from engine.analysis.attention.jobs import DescribeHeads, HeadNumbers, Heads, QuerySteps, TraceSteps
from engine.analysis.attention.parts import Part, heads_in
from engine.analysis.attention.requests import FAULTS, WIDTHS, why_not
from engine.foundation.formatting import counted, percent
from pages.parts.app.in_markdown import escaped
from pages.parts.app.questions import ask_once
from pages.parts.boards.panels import Panel, Pick
from pages.parts.charts.attention import (
    Line,
    bars_picture,
    difference_picture,
    influence_picture,
    lines_picture,
    numbers_picture,
    pattern_picture,
    strips_picture,
)
from pages.parts.lab.apart_state import (
    CELLS,
    KEYS_ACROSS,
    KEYS_DOWN,
    SETTINGS,
    TEMPERATURES,
    Inspected,
    held_out_label,
    name_of_head,
)

# One query, step by step


WHOLE = 20  # keys; a longer table scrolls
SCALES = {
    "scaled_dot": "divided by √d_head = {root:.3g}",
    "dot": "not scaled: this run compares without 1/√d_head",
    "cosine": "of vectors of length one, times √d_head = {root:.3g}",
    "additive": "w · tanh(q + k) with this run's own w",
}
WHERE_ENCODED = {
    "nowhere": "This run has no encoding. Only a causal mask tells positions apart.",
    "embedding": (
        "{label} is added to the embedding, so q and k contain it already. The column shows how much it raises the score."
    ),
    "rotation": "{label} turns q and k by their positions. The column shows how much this raises the score.",
    "scores": "{label} adds a number to each score.",
}


def show_steps(at: Inspected) -> None:
    s = ask_once(TraceSteps(at.model, at.sample, at.part, at.query))
    best = int(np.argmax(s["weight"]))
    says = f" Here the model answers **{escaped(s['predicted'])}**" if s["predicted"] else ""
    right = f"; right is **{escaped(s['target'])}**." if s["target"] else "." if says else ""
    st.markdown(
        f"{at.head}: query {at.query + 1} (token **{escaped(at.queries[at.query])}**) looks most at key {best + 1} "
        f"(token **{escaped(at.keys[best])}**): **{percent(s['weight'][best])}** of its attention.{says}{right}"
    )
    at.show("steps", "attention", _step_figures(at, s), least=440, level=2, on_pick=pick_query)
    words, numbers = st.columns([1, 1.25], gap="large")
    with words:
        st.markdown("**The steps and their shapes**")
        st.markdown(_steps_in_words(at, s))
        digits = max(0, floor(-log10(max(s["gap"], 1e-12))))
        st.caption(f":material/check: These steps give the model's numbers, to {digits} decimal places.")
    with numbers:
        st.markdown("**The numbers, key by key**")
        _show_step(at, s)


def _step_figures(at: Inspected, s: QuerySteps) -> list[Panel]:
    keys, weight = s["keys"], s["weight"]
    strips = [("q · k", s["product"]), ("encoding", s["by_encoding"]), ("score", s["score"]), ("weight", weight)]
    if acts_on(at) == "nowhere":
        del strips[1]
    dims = [str(d) for d in range(1, s["d_head"] + 1)]
    values = np.vstack([s["weighted"], s["mixed"]])
    at_most = "at most " if at.config.softmax_plus_one else ""
    total = "sum" if s["gate"] is None else "sum × gate"
    outputs = np.vstack([s["projected"], s["out"]])
    heads = [f"head {head + 1}" for head in range(len(s["projected"]))]
    top = ", ".join(f"key {k + 1} ({keys[k]}) {weight[k]:.2f}" for k in np.argsort(-weight)[:3])
    inner, outer = "dimension of the head", "dimension of the model"
    products = numbers_picture(s["turned_k"] * s["turned_q"], "q × k", x=inner, y="key", columns=dims, rows=keys)
    weighted = numbers_picture(values, "weight × v", x=inner, y="key", columns=dims, rows=[*keys, total])
    output_picture = numbers_picture(outputs, "value", x=outer, y="head", rows=[*heads, "all"])
    return [
        at.pattern_panel(
            "pattern.one", "The pattern of this head", s["pattern"], height=330, picks=True, term="attention-pattern",
            alt=f"Attention weights of every query; the framed query {at.query + 1} reads most from {top}.",
            note=f"Each row is a query and adds up to {at_most}one. Click a row, or press Enter on it, to choose it.",
        ),
        Panel(
            "strips", "From product to weight, for this query", strips_picture(strips, keys, s["blocked"], at.color), height=330,
            alt=f"Four strips of bars over the keys; the weights are largest at {top}.", link=KEYS_ACROSS, term="softmax",
            note="One bar per key. The mask blocks the grey keys before the softmax.",
        ),
        Panel(
            "product", "q times k, dimension by dimension", products, height=320, link=KEYS_DOWN, term="query-key-value",
            alt=f"Products of q and each key in {s['d_head']} dimensions; a row adds up to q · k.",
            note=f"A row adds up to q · k{' after the rotation' if s['rotates'] else ''}. Large numbers make the match.",
        ),
        Panel(
            "values", "Weighted values, and their sum", weighted, height=320, link=KEYS_DOWN,
            alt="Each key's value times its weight; the last row is what the head has read.",
            note=f"Each row is a key's value times its weight. The last row is their {total.replace('×', 'times the')}.",
        ),
        Panel(
            "handed", "Output of each head", output_picture, height=240, wide=True,
            alt="Output of every head in all dimensions, and their sum with the bias.",
            note="The output projection gives each head's sum the model's width. The last row is their sum with the bias.",
        ),
    ]  # fmt: skip


def pick_query(picked: Pick) -> None:
    SETTINGS.put({"position": int(float(picked.y))})


def acts_on(at: Inspected) -> str:
    """Return the part of this attention that the encoding acts on; in cross-attention only the embeddings."""
    acts = at.config.encoding.acts_on
    return "nowhere" if at.part.which == "cross" and acts != "embedding" else acts


def _steps_in_words(at: Inspected, s: QuerySteps) -> str:
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
            "**Normalise.** QK-norm normalises q and each k and multiplies them by learned scales. The results are q and k below."
        )
    if acts == "rotation":
        turned = f"q by the angles of position {s['position'] + 1} and each k by its own"
        steps.append(f"**Turn.** {row.label} turns {turned}, `[{d_head}]` each.")
    steps.append(f"**Compare.** q `[{d_head}]` with every k: `[{keys}]` numbers, {scale}.")
    if acts == "scores":
        least, most = s["bias"].min(), s["bias"].max()
        steps.append(f"**Bias.** {row.label} adds `[{keys}]` numbers, here from {least + 0.0:.2f} to {most + 0.0:.2f}.")
    mask = "Nothing is blocked for this query."
    if blocked:
        mask = f"{blocked} of {keys} keys are blocked: their score becomes −∞."
    softmax = f"**Softmax.** exp(score), divided by its sum over the keys: weights `[{keys}]` that add up to {total}."
    if at.config.softmax_plus_one:
        softmax = f"**Softmax plus one.** exp(score), divided by 1 plus its sum over the keys: weights `[{keys}]` that add up to {total}."
    if at.config.softmax_axis != "key":
        softmax = f"**Softmax, over queries (a fault of this run).** Weights `[{keys}]`, which here add up to {total}."
    extra = ", and what the encoding adds to the values" if s["value_term"] is not None else ""
    gate = []
    if s["gate"] is not None:
        gate_range = f"from {s['gate'].min():.2f} to {s['gate'].max():.2f}"
        gate = [
            f"**Gate.** That vector times the sigmoid of a linear map of the token: `[{d_head}]` numbers, here {gate_range}."
        ]
    heads = counted(len(s["projected"]), "head")
    steps += [
        f"**Mask.** {mask}",
        softmax,
        f"**Mix.** Weights `[{keys}]` times v `[{keys} × {d_head}]`: one vector `[{d_head}]`{extra}.",
        *gate,
        f"**Project back.** `[{d_model} × {d_head}]` times that: `[{d_model}]`. The vectors of {heads} and the bias are added up.",
    ]
    sentence = WHERE_ENCODED[acts].format(label=row.label)
    if at.part.which == "cross" and acts == "nowhere":
        sentence = "Cross-attention has no encoding."
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1)) + f"\n\n{sentence}"


def _show_step(at: Inspected, s: QuerySteps) -> None:
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


# All heads


MAX_HEAD_PICTURES = 24  # more heads than this: only the selected layer
FEW = 3  # heads that fit into one row of large pictures


def show_heads(at: Inspected) -> None:
    answer = ask_once(DescribeHeads(at.model, at.sample))
    rows = {row["part"]: row for row in answer["rows"]}
    of_kind = [part for part in rows if part.which == at.part.which]
    drawn_parts = (
        of_kind if len(of_kind) <= MAX_HEAD_PICTURES else [part for part in of_kind if part.layer == at.part.layer]
    )
    if drawn_parts != of_kind:
        st.caption(f"There are {len(of_kind)} heads: these are those of layer {at.part.layer + 1}.")
    pattern, tokens = answer["patterns"][at.part.which], answer["tokens"][at.part.which]
    queries, keys = (names[:size] for names, size in zip(tokens, pattern.shape[-2:], strict=True))
    items, height = [], 170 if len(drawn_parts) > FEW else 300
    for part in drawn_parts:
        row, name = rows[part], name_of_head(part)
        keys_used = f"{row['effective_keys']:.1f} effective keys"
        drawn = pattern_picture(pattern[part.layer, part.head], queries, keys, bare=True)
        items.append(Panel(
            f"head.{part.layer}.{part.head}", name, drawn, f"Pattern of {name}: {kind_in_words(row)}, {keys_used}.", height=height,
            note=kind_in_words(row), below=keys_used, link=CELLS, picks=True,
        ))  # fmt: skip
    at.show("heads", "heads", items, least=narrowest(at.config.n_heads), level=2, on_pick=pick_head)
    st.caption(
        f"Pictures: this sequence. Numbers: means over {answer['sequences']} held-out sequences. The highest score of a head names its "
        f"kind, if it is {answer['named_from']:g} or more. At score 1, all weight is at the positions of this kind. At 0, the weight "
        "there is that of equal weights. Click a picture to choose its head."
    )
    _show_numbers(list(rows.values()))
    show_rollout(at, answer)


def narrowest(heads: int) -> int:
    """Return the smallest width of a figure in pixels, so that the heads of a layer fit into one row on a laptop."""
    return min(285, max(190, 1180 // heads - 12))


def pick_head(picked: Pick) -> None:
    _, layer, head = picked.panel.split(".")
    SETTINGS.put({"layer": int(layer) + 1, "head": int(head) + 1, "position": int(float(picked.y))})


def kind_in_words(row: HeadNumbers) -> str:
    score = row["scores"].get(row["kind"])
    return row["kind"] if score is None else f"{row['kind']} {score:.2f}"


def _show_numbers(rows: list[HeadNumbers]) -> None:
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


def show_rollout(at: Inspected, answer: Heads) -> None:
    which = at.part.which
    if which not in answer["rollout"]:
        st.caption("Roll-out needs self-attention. Choose one of the self-attentions.")
        return
    st.header("Roll-out: which tokens reach each position", anchor=False)
    flow, mean = answer["rollout"][which]["flow"], answer["rollout"][which]["mean"]
    carried = "half of each layer from the skip connection" if at.config.skips else "without a skip connection"
    items = [
        at.pattern_panel(
            "rollout.flow", "Roll-out to the last layer", flow[-1], f"Share of each token in each position after {len(flow)} layers.",
            framed=False, link="rollout", term="roll-out",
            note=f"Heads averaged, {carried} (Abnar and Zuidema 2020).",
        ),
        at.pattern_panel(
            "rollout.last", "The last layer alone", mean[-1], "Attention of the last layer, averaged over heads.", framed=False,
            link="rollout", note="Heads averaged. This layer reads mixtures of tokens.",
        ),
    ]  # fmt: skip
    at.show("rollout", "roll-out", items, least=340)
    if at.config.softmax_plus_one:
        st.caption("With softmax plus one, a row may add up to less than one.")
    if which == "self" and at.config.family == "encoder_decoder":
        st.caption("Only the decoder's own tokens, without cross-attention.")


# Heads, temperature, scores


ROW, SPACE = 110, 4  # letters in a row of pills, and around each label
SCORES = {
    "scaled_dot": ("Scaled dot product", "q · k / √d_head"),
    "dot": ("Dot product", "q · k, without the scale"),
    "cosine": ("Cosine", "√d_head times the cosine of q and k"),
    "additive": ("Additive", "w · tanh(q + k)"),
}


def show_change(at: Inspected) -> None:
    heads, temperature = st.columns([2.2, 1], gap="medium")
    with heads:
        off = heads_control(at)
    with temperature:
        bound = SETTINGS.labelled("temperature", display=at.now.temperature)
        st.select_slider(options=TEMPERATURES, format_func=lambda value: f"{value:g}", **bound)
    answer = ask_once(jobs.SwitchHeadsOff(at.model, at.sample, at.part, tuple(off), at.now.temperature))
    before, after = answer["before"], answer["after"]
    show_metrics(before["metrics"], after["metrics"], before["entropy"], after["entropy"])
    name, entropies = at.head, [f"mean entropy {one['entropy']:.2f} nats." for one in (before, after)]
    items = [
        at.pattern_panel("before", f"{name}, as trained", before["pattern"], f"Pattern as trained; {entropies[0]}", height=330),
        at.pattern_panel("after", f"{name}, changed", after["pattern"], f"Pattern with the changes; {entropies[1]}", height=330),
        _change_panel(at, "change", "Changed minus trained", after["pattern"] - before["pattern"], height=330),
    ]  # fmt: skip
    at.show("change", "attention changed", items, level=2)
    show_each_head(at)
    show_scores(at)


def _change_panel(at: Inspected, id: str, title: str, change: np.ndarray, height: int) -> Panel:
    """Return a panel of the changes of weights [query, key]."""
    drawn, alt = difference_picture(change, at.queries, at.keys, query=at.query), f"{abs(change).max():.2f}"
    return Panel(id, title, drawn, f"The largest change of one weight is {alt}.", height=height, link=CELLS)


def heads_control(at: Inspected) -> list[Part]:
    config = at.config
    heads = heads_in(config, 1 if config.share_layers else config.n_layers)
    parts = {f"{one.which}.{one.layer + 1}.{one.head + 1}": one for one in heads}
    off = [name for name in at.now.off if name in parts]
    labels = {name: name_of_head(part) for name, part in parts.items()}
    bound = SETTINGS.labelled("off", display=off) | {"options": list(labels), "format_func": labels.__getitem__}
    if config.share_layers:
        bound["help"] += " The layers share their weights, so a head is off in all of them."
    if sum(len(label) + SPACE for label in labels.values()) <= ROW:
        st.pills(selection_mode="multi", **bound)
    else:
        st.multiselect(placeholder="none", **bound)
    return [parts[name] for name in off]


def show_metrics(before: dict[str, float], after: dict[str, float], entropy: float, changed: float) -> None:
    metrics = [(name, held_out_label(name), before[name], value) for name, value in after.items()]
    metrics.append(("entropy", "Entropy of this pattern (nats)", entropy, changed))
    colors: dict[str, Any] = {"loss": "inverse", "entropy": "off"}
    for column, (name, label, old, new) in zip(st.columns(len(metrics)), metrics, strict=True):
        difference = f"{new - old:+.3f}" if abs(new - old) > 5e-4 else None
        column.metric(label, f"{new:.3f}", difference, delta_color=colors.get(name, "normal"))


def show_each_head(at: Inspected) -> None:
    st.header("Each head switched off in turn", anchor=False)
    answer = ask_once(jobs.SwitchEachHeadOff(at.model))
    whole = answer["whole"]
    metric = next(name for name in whole if name != "loss")
    names = [name_of_head(row["part"]) for row in answer["rows"]]
    rises = [row["loss"] - whole["loss"] for row in answer["rows"]]
    falls = [row[metric] - whole[metric] for row in answer["rows"]]
    worst = max(range(len(rises)), key=rises.__getitem__)
    loss = bars_picture(names, rises, y="rise of the loss (nats)", color=at.color)
    accuracy = bars_picture(names, falls, y="change of the accuracy", color=at.color)
    items = [
        Panel(
            "each.loss", "Rise of the held-out loss without it", loss, height=240,
            alt=f"The loss rises most without {names[worst]}: by {rises[worst]:.3f} nats.",
            note=f"With all heads {whole['loss']:.3f} nats. It rises most without {names[worst]}: by {rises[worst]:.3f}.",
        ),
        Panel(
            "each.accuracy", f"Change of the {held_out_label(metric).lower()} without it", accuracy, height=240,
            alt=f"The accuracy changes most by {min(falls, key=lambda v: -abs(v)):+.3f}.", note=f"With all heads {whole[metric]:.3f}.",
        ),
    ]  # fmt: skip
    at.show("each", "each head off", items, least=340)
    if answer["left_out"]:
        st.caption(f"{answer['left_out']} more heads are not shown.")


def show_scores(at: Inspected) -> None:
    st.header("Other ways to compare the same q and k", anchor=False)
    answer = ask_once(jobs.CompareScores(at.model, at.sample, at.part))
    items = []
    for name, (title, formula) in SCORES.items():
        row = answer[name]
        numbers = [f"{held_out_label(metric)} {value:.3f}" for metric, value in list(row["metrics"].items())[:2]]
        suffix = " (trained so)" if name == at.config.attention_score else ""
        alt = f"{title}: mean entropy {row['entropy']:.2f} nats, {', '.join(numbers)}."
        items.append(at.pattern_panel(
            f"score.{name}", title + suffix, row["pattern"], alt, height=300, link="scores", bar=False,
            note=f"{formula}. Entropy {row['entropy']:.2f} nats.", below=" · ".join(numbers),
        ))  # fmt: skip
    at.show("scores", "scores", items, least=270)
    note = "Pictures: this head, same q and k. Numbers: the whole model with this score in every layer, not retrained."
    if at.config.attention_score != "additive":
        note += " The additive score needs a vector w, which this run did not train: here it is 1/√d_head."
    st.caption(note)


# Faults


HEIGHT = 340
PASSED, FAILED = ("green", ":material/check_circle:"), ("red", ":material/cancel:")
WIDTHS_AXIS = {"type": "log", "tickvals": list(WIDTHS), "ticktext": list(map(str, WIDTHS))}


def show_faults(at: Inspected) -> None:
    faults = switches(at)
    answer = ask_once(jobs.SwitchFaultsOn(at.model, at.sample, at.part, faults))
    before, after = answer["before"], answer["after"]
    for name in faults:
        st.caption(f":material/arrow_right: {FAULTS[name].label}: {FAULTS[name].explanation}")
    show_metrics(before["metrics"], after["metrics"], before["entropy"], after["entropy"])
    show_badges(after["checks"])
    at.show("faults", "faults", _fault_figures(at, before, after, bool(faults)), least=440, level=2)
    show_tests(after["checks"])


def switches(at: Inspected) -> tuple[str, ...]:
    """Draw a toggle for each fault, and return the faults that are on. At most one mask fault can be on."""
    possible = {name: why_not(at.config, name) for name in FAULTS}
    on = tuple(name for name in at.now.faults if not possible[name])
    with st.container(horizontal=True, gap="small"):
        for name, fault in FAULTS.items():
            st.session_state[key := SETTINGS.widget_key(f"fault.{name}")] = name in on
            st.toggle(
                fault.label, key=key, on_change=switch, args=(name, on), help=possible[name] or fault.explanation,
                disabled=bool(possible[name]),
            )  # fmt: skip
    return on


def switch(name: str, on: tuple[str, ...]) -> None:
    """Switch a fault on or off; it replaces the others of its group."""
    others = {other for other in on if FAULTS[other].group != FAULTS[name].group}
    now = {*on} - {name} if name in on else {*others, name}
    SETTINGS.put({"faults": tuple(fault for fault in FAULTS if fault in now)})


def _fault_figures(at: Inspected, before: jobs.FaultyHead, after: jobs.FaultyHead, faulty: bool) -> list[Panel]:
    name = at.head
    moved = (
        at.queries
        if at.part.which != "encoder"
        else [str(position) for position in range(1, len(after["influence"]) + 1)]
    )
    leaks = next(check for check in after["checks"] if check["name"] == "future")
    high = float(max(before["influence"].max(), after["influence"].max()))
    sentence = "" if leaks["value"] is None else f"; at most {leaks['value']:.3g} where a later token was changed"
    alt = f"Pattern of {name}; mean entropy {after['entropy']:.2f} nats."
    title = f"{name}, {'with the faults' if faulty else 'as trained'}"
    return [
        at.pattern_panel("fault.pattern", title, after["pattern"], alt),
        _change_panel(at, "fault.change", "Minus the pattern as trained", after["pattern"] - before["pattern"], HEIGHT),
        Panel(
            "fault.influence", "Which output moves", influence_picture(after["influence"], moved, high), height=HEIGHT, link="influence",
            alt=f"Movement of the logits of each output for each changed token{sentence}.",
            note="Each column changes one token. In a causal model, nothing moves right of the diagonal.",
        ),
        entropy_panel(at),
    ]  # fmt: skip


def entropy_panel(at: Inspected) -> Panel:
    """Return a panel with the entropy of random q and k by head width: the reason for the scale."""
    entropies = ask_once(jobs.MeasureEntropyAtFirst())
    names = {"scaled_dot": "with 1/√d_head", "dot": "without"}
    lines = [Line(names[score], WIDTHS, values, strong=score == "scaled_dot") for score, values in entropies.items()]
    ends = "; ".join(f"{line.name} {line.y[0]:.2f} to {line.y[-1]:.2f}" for line in lines)
    return Panel(
        "fault.entropy", "Why the scale: entropy by head width",
        lines_picture(lines, x="d_head", y="entropy (nats)", color=at.color, xaxis=WIDTHS_AXIS), height=HEIGHT,
        alt=f"Entropy over 32 keys before any training, from the narrowest to the widest head: {ends}.",
        note="Softmax over 32 keys of random q and k with variance one, as before training.",
    )  # fmt: skip


def show_badges(checks: list[jobs.CheckResult]) -> None:
    badge_of = {True: PASSED, False: FAILED}
    ran = [(check, badge_of[check["passed"]]) for check in checks if check["passed"] is not None]
    badges = [f":{color}-badge[{icon} {check['label']}]" for check, (color, icon) in ran]
    st.markdown(f"**{sum(badge is PASSED for _, badge in ran)} of {len(ran)} tests pass.** " + " ".join(badges))


def show_tests(checks: list[jobs.CheckResult]) -> None:
    st.markdown("**The tests and their code**")
    for check in checks:
        if check["passed"] is None:
            st.caption(f":material/remove: {check['label']}: does not apply. {check['reason']}")
            continue
        color, icon = PASSED if check["passed"] else FAILED
        value = f"{check['value']:.3g} {check['unit']}; it must be {check['bound']}"
        with st.expander(f":{color}[{icon} {check['label']}]", expanded=check["passed"] is False):
            st.caption(f"Measured: {value}.")
            st.code(check["code"], language="python", wrap_lines=True)
