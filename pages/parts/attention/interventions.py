"""The views that change the attention of a trained model and show the cost: heads off, another temperature, another score; and
the classic faults, with the checks that detect them."""

from typing import Any

import numpy as np
import streamlit as st

from engine.analysis.attention import jobs
from engine.analysis.attention.parts import Part, heads_in
from engine.analysis.attention.requests import FAULTS, WIDTHS, why_not
from pages.parts.app.questions import ask_once
from pages.parts.attention.state import CELLS, SETTINGS, TEMPERATURES, LookedAt, held_out_label, name_of_head
from pages.parts.boards.panels import Panel
from pages.parts.charts.attention import Line, bars_picture, difference_picture, influence_picture, lines_picture

ROW, SPACE = 110, 4
"""The letters in a row of pills, and the letters that each pill takes besides its own."""
SCORES = {
    "scaled_dot": ("Scaled dot product", "q · k / √d_head"),
    "dot": ("Dot product", "q · k, without the scale"),
    "cosine": ("Cosine", "√d_head times the cosine of q and k"),
    "additive": ("Additive", "w · tanh(q + k)"),
}
HEIGHT = 340
PASSED, FAILED = ("green", ":material/check_circle:"), ("red", ":material/cancel:")
WIDTHS_AXIS = {"type": "log", "tickvals": list(WIDTHS), "ticktext": list(map(str, WIDTHS))}


# Heads, temperature, scores


def show_change(at: LookedAt) -> None:
    heads, temperature = st.columns([2.2, 1], gap="medium")
    with heads:
        off = heads_control(at)
    with temperature:
        if SETTINGS.drawn("temperature"):
            bound = SETTINGS.labelled("temperature", shown=at.now.temperature)
            st.select_slider(options=TEMPERATURES, format_func=lambda value: f"{value:g}", **bound)
    seen = ask_once(jobs.SwitchHeadsOff(at.model, at.sample, at.part, tuple(off), at.now.temperature))
    before, after = seen["before"], seen["after"]
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


def _change_panel(at: LookedAt, id: str, title: str, change: np.ndarray, height: int) -> Panel:
    """The changes of weights [query, key]."""
    drawn, alt = difference_picture(change, at.queries, at.keys, query=at.query), f"{abs(change).max():.2f}"
    return Panel(id, title, drawn, f"The largest change of one weight is {alt}.", height=height, link=CELLS)


def heads_control(at: LookedAt) -> list[Part]:
    """The heads that the reader has switched off."""
    config = at.config
    heads = heads_in(config, 1 if config.share_layers else config.n_layers)
    places = {f"{one.which}.{one.layer + 1}.{one.head + 1}": one for one in heads}
    off = [name for name in at.now.off if name in places]
    if SETTINGS.drawn("off"):
        labels = {name: name_of_head(part) for name, part in places.items()}
        bound = SETTINGS.labelled("off", shown=off) | {"options": list(labels), "format_func": labels.__getitem__}
        if config.share_layers:
            bound["help"] += " The layers share their weights, and so a head is off in all of them."
        if sum(len(label) + SPACE for label in labels.values()) <= ROW:
            st.pills(selection_mode="multi", **bound)
        else:
            st.multiselect(placeholder="none", **bound)
    return [places[name] for name in off]


def show_metrics(before: dict[str, float], after: dict[str, float], entropy: float, changed: float) -> None:
    shown = [(name, held_out_label(name), before[name], value) for name, value in after.items()]
    shown.append(("entropy", "Entropy of this pattern (nats)", entropy, changed))
    colors: dict[str, Any] = {"loss": "inverse", "entropy": "off"}
    for column, (name, label, old, new) in zip(st.columns(len(shown)), shown, strict=True):
        difference = f"{new - old:+.3f}" if abs(new - old) > 5e-4 else None
        column.metric(label, f"{new:.3f}", difference, delta_color=colors.get(name, "normal"))


def show_each_head(at: LookedAt) -> None:
    st.header("Each head switched off in turn", anchor=False)
    seen = ask_once(jobs.SwitchEachHeadOff(at.model))
    whole = seen["whole"]
    metric = next(name for name in whole if name != "loss")
    names = [name_of_head(row["part"]) for row in seen["rows"]]
    rises = [row["loss"] - whole["loss"] for row in seen["rows"]]
    falls = [row[metric] - whole[metric] for row in seen["rows"]]
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
    if seen["left_out"]:
        st.caption(f"{seen['left_out']} more heads are left out here.")


def show_scores(at: LookedAt) -> None:
    st.header("Other ways to compare the same q and k", anchor=False)
    seen = ask_once(jobs.CompareScores(at.model, at.sample, at.part))
    items = []
    for name, (title, formula) in SCORES.items():
        row = seen[name]
        numbers = [f"{held_out_label(metric)} {value:.3f}" for metric, value in list(row["metrics"].items())[:2]]
        trained = " (trained so)" if name == at.config.attention_score else ""
        alt = f"{title}: mean entropy {row['entropy']:.2f} nats, {', '.join(numbers)}."
        items.append(at.pattern_panel(
            f"score.{name}", title + trained, row["pattern"], alt, height=300, link="scores", bar=False,
            note=f"{formula}. Entropy {row['entropy']:.2f} nats.", below=" · ".join(numbers),
        ))  # fmt: skip
    at.show("scores", "scores", items, least=270)
    by_follower = (
        "The pictures compare this head's very q and k. The numbers below them are of the whole model with every layer comparing so, "
        "without having been trained for it."
    )
    if at.config.attention_score != "additive":
        by_follower += (
            " The additive score has a vector w of its own, which this run never trained: here all of it is 1/√d_head."
        )
    st.caption(by_follower)


# Faults


def show_faults(at: LookedAt) -> None:
    faults = switches(at)
    seen = ask_once(jobs.SwitchFaultsOn(at.model, at.sample, at.part, faults))
    before, after = seen["before"], seen["after"]
    for name in faults:
        st.caption(f":material/arrow_right: {FAULTS[name].label}: {FAULTS[name].explanation}")
    show_metrics(before["metrics"], after["metrics"], before["entropy"], after["entropy"])
    show_badges(after["checks"])
    at.show("faults", "faults", _figures(at, before, after, bool(faults)), least=440, level=2)
    show_tests(after["checks"])


def switches(at: LookedAt) -> tuple[str, ...]:
    """One toggle for each fault; at most one mask fault can be on."""
    possible = {name: why_not(at.config, name) for name in FAULTS}
    on = tuple(name for name in at.now.faults if not possible[name])
    if not SETTINGS.drawn("faults"):
        return on
    with st.container(horizontal=True, gap="small"):
        for name, fault in FAULTS.items():
            st.session_state[key := SETTINGS.widget_key(f"fault.{name}")] = name in on
            st.toggle(
                fault.label, key=key, on_change=switch, args=(name, on), help=possible[name] or fault.explanation,
                disabled=bool(possible[name]) or SETTINGS.locks("faults"),
            )  # fmt: skip
    return on


def switch(name: str, on: tuple[str, ...]) -> None:
    """Switch a fault on or off; it takes the place of the others of its group."""
    others = {other for other in on if FAULTS[other].group != FAULTS[name].group}
    now = {*on} - {name} if name in on else {*others, name}
    SETTINGS.put({"faults": tuple(fault for fault in FAULTS if fault in now)})


def _figures(at: LookedAt, before: jobs.FaultyHead, after: jobs.FaultyHead, faulty: bool) -> list[Panel]:
    name = at.head
    own = at.queries if at.part.which != "encoder" else [str(part) for part in range(1, len(after["influence"]) + 1)]
    leaks = next(check for check in after["checks"] if check["name"] == "future")
    high = float(max(before["influence"].max(), after["influence"].max()))
    sentence = "" if leaks["value"] is None else f"; at most {leaks['value']:.3g} where a later token was changed"
    alt = f"Pattern of {name}; mean entropy {after['entropy']:.2f} nats."
    title = f"{name}, {'with the faults' if faulty else 'as trained'}"
    return [
        at.pattern_panel("fault.pattern", title, after["pattern"], alt),
        _change_panel(at, "fault.change", "Minus the pattern as trained", after["pattern"] - before["pattern"], HEIGHT),
        Panel(
            "fault.influence", "Which output moves", influence_picture(after["influence"], own, high), height=HEIGHT, link="influence",
            alt=f"Movement of the logits of each output for each changed token{sentence}.",
            note="One token is changed at a time. Right of the diagonal it came later: nothing may move there in a causal model.",
        ),
        entropy_panel(at),
    ]  # fmt: skip


def entropy_panel(at: LookedAt) -> Panel:
    """The reason for the scale: the entropy of random q and k by head width."""
    found = ask_once(jobs.MeasureEntropyAtFirst())
    names = {"scaled_dot": "with 1/√d_head", "dot": "without"}
    lines = [Line(names[score], WIDTHS, values, strong=score == "scaled_dot") for score, values in found.items()]
    ends = "; ".join(f"{line.name} {line.y[0]:.2f} to {line.y[-1]:.2f}" for line in lines)
    return Panel(
        "fault.entropy", "Why the scale: entropy by head width",
        lines_picture(lines, x="d_head", y="entropy (nats)", color=at.color, xaxis=WIDTHS_AXIS), height=HEIGHT,
        alt=f"Entropy over 32 keys before any training, from the narrowest to the widest head: {ends}.",
        note="Softmax over 32 keys of random q and k whose numbers have variance one, as before training.",
    )  # fmt: skip


def show_badges(checks: list[jobs.CheckResult]) -> None:
    looks = {True: PASSED, False: FAILED}
    ran = [(check, looks[check["passed"]]) for check in checks if check["passed"] is not None]
    badges = [f":{color}-badge[{icon} {check['label']}]" for check, (color, icon) in ran]
    st.markdown(f"**{sum(look is PASSED for _, look in ran)} of {len(ran)} tests pass.** " + " ".join(badges))


def show_tests(checks: list[jobs.CheckResult]) -> None:
    st.markdown("**The tests, as they were executed**")
    for check in checks:
        if check["passed"] is None:
            st.caption(f":material/remove: {check['label']}: does not apply. {check['reason']}")
            continue
        color, icon = PASSED if check["passed"] else FAILED
        value = f"{check['value']:.3g} {check['unit']}, allowed is {check['bound']}"
        with st.expander(f":{color}[{icon} {check['label']}]", expanded=check["passed"] is False):
            st.caption(f"Measured: {value}.")
            st.code(check["code"], language="python", wrap_lines=True)
