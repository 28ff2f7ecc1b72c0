"""The view of the classic faults, switched on in this model, and the checks that detect them."""

from __future__ import annotations

import streamlit as st

from engine.analysis.attention.asked import FAULTS, WIDTHS, why_not
from engine.analysis.attention.jobs import CheckResult, FaultySeen, MeasureEntropyAtFirst, SwitchFaultsOn
from pages.parts.app.questions import ask_once
from pages.parts.attention.change_view import show_metrics
from pages.parts.attention.state import CELLS, SETTINGS, LookedAt, name_of_head
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.attention import Line, difference_picture, influence_picture, lines_picture, pattern_picture

HEIGHT = 340
WIDTHS_AXIS = {"type": "log", "tickvals": list(WIDTHS), "ticktext": ["4", "16", "64", "256"]}


def show(at: LookedAt) -> None:
    faults = switches(at)
    seen = ask_once(SwitchFaultsOn(at.model, at.sample, at.place, faults))
    before, after = seen["before"], seen["after"]
    for name in faults:
        st.caption(f":material/arrow_right: {FAULTS[name].label}: {FAULTS[name].explanation}")
    show_metrics(before["metrics"], after["metrics"], before["entropy"], after["entropy"])
    show_badges(after["checks"])
    panels(
        _figures(at, before, after, bool(faults)),
        key="attention.faults",
        name="faults",
        subject=at.subject,
        least=440,
        level=2,
    )
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
    if name in on:
        SETTINGS.put({"faults": tuple(other for other in on if other != name)})
    else:
        others = tuple(other for other in on if FAULTS[other].group != FAULTS[name].group)
        SETTINGS.put({"faults": tuple(fault for fault in FAULTS if fault in {*others, name})})


def _figures(at: LookedAt, before: FaultySeen, after: FaultySeen, faulty: bool) -> list[Panel]:
    queries, keys, name = at.queries, at.keys, name_of_head(at.place)
    own = at.queries if at.place.which != "encoder" else [str(place) for place in range(len(after["influence"]))]
    leaks = next(check for check in after["checks"] if check["name"] == "future")
    high = float(max(before["influence"].max(), after["influence"].max()))
    change = after["pattern"] - before["pattern"]
    said = "" if leaks["value"] is None else f"; at most {leaks['value']:.3g} where a later token was changed"
    return [
        Panel(
            "fault.pattern", f"{name}, {'with the faults' if faulty else 'as trained'}",
            pattern_picture(after["pattern"], queries, keys, at.color, query=at.query), height=HEIGHT, link=CELLS,
            alt=f"Pattern of {name}; mean entropy {after['entropy']:.2f} nats.",
        ),
        Panel(
            "fault.change", "Minus the pattern as trained", difference_picture(change, queries, keys, query=at.query),
            height=HEIGHT, link=CELLS, alt=f"The largest change of one weight is {abs(change).max():.2f}.",
        ),
        Panel(
            "fault.influence", "Which output moves", influence_picture(after["influence"], own, high), height=HEIGHT, link="influence",
            alt=f"Movement of the logits of each output for each changed token{said}.",
            note="One token is changed at a time. Right of the diagonal it came later: nothing may move there in a causal model.",
        ),
        entropy_panel(at),
    ]  # fmt: skip


def entropy_panel(at: LookedAt) -> Panel:
    """The reason for the scale: the entropy of random q and k by head width."""
    found = ask_once(MeasureEntropyAtFirst())
    names = {"scaled_dot": "with 1/√d_head", "dot": "without"}
    lines = [Line(names[score], WIDTHS, values, strong=score == "scaled_dot") for score, values in found.items()]
    ends = "; ".join(f"{line.name} {line.y[0]:.2f} to {line.y[-1]:.2f}" for line in lines)
    return Panel(
        "fault.entropy", "Why the scale: entropy by head width",
        lines_picture(lines, x="d_head", y="entropy (nats)", color=at.color, xaxis=WIDTHS_AXIS), height=HEIGHT,
        alt=f"Entropy over 32 keys before any training, from the narrowest to the widest head: {ends}.",
        note="Softmax over 32 keys of random q and k whose numbers have variance one, as before training.",
    )  # fmt: skip


def show_badges(checks: list[CheckResult]) -> None:
    ran = [check for check in checks if check["passed"] is not None]
    badges = [
        f":green-badge[:material/check_circle: {check['label']}]" if check["passed"] else f":red-badge[:material/cancel: {check['label']}]"
        for check in ran
    ]  # fmt: skip
    st.markdown(f"**{sum(bool(check['passed']) for check in ran)} of {len(ran)} tests pass.** " + " ".join(badges))


def show_tests(checks: list[CheckResult]) -> None:
    st.markdown("**The tests, as they were executed**")
    for check in checks:
        if check["passed"] is None:
            st.caption(f":material/remove: {check['label']}: does not apply. {check['reason']}")
            continue
        color, icon = ("green", ":material/check_circle:") if check["passed"] else ("red", ":material/cancel:")
        value = f"{check['value']:.3g} {check['unit']}, allowed is {check['bound']}"
        with st.expander(f":{color}[{icon} {check['label']}]", expanded=check["passed"] is False):
            st.caption(f"Measured: {value}.")
            st.code(check["code"], language="python", wrap_lines=True)
