"""A teacher's own lesson: steps in an order, each with its minutes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from engine.config.presets import PRESETS
from engine.experiments.issues import ISSUES
from engine.experiments.lessons import LESSONS, MOST_MINUTES, MOST_STEPS, Lesson, Step, lab_step, to_code
from engine.foundation.formatting import counted
from pages.parts.app.in_markdown import escaped
from pages.parts.lessons.state import keep, own_steps
from pages.parts.lessons.ways import show_ways

MINUTES = 7
"""The minutes of a step that was just added."""


def show_own(base: str) -> None:
    """The steps with their controls, what can be added, and the ways to hold the lesson. ``base``: see show_ways."""
    steps = own_steps()
    st.header("Your own lesson", anchor=False)
    for place, step in enumerate(steps):
        _row(steps, place, step)
    _add(steps)
    if steps:
        lesson = Lesson("Lesson", steps)
        st.markdown(f"**{counted(lesson.minutes, 'minute')}** in {counted(len(steps), 'step')}")
        show_ways(lesson, base)


def _row(steps: tuple[Step, ...], place: int, step: Step) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"{place + 1}. {escaped(step.title)}", width="stretch")
        key = f"lessons.minutes.{place}.{to_code(Lesson('', steps))}"
        minutes = st.number_input(
            f"Minutes of step {place + 1}", 1, MOST_MINUTES, step.minutes, key=key, label_visibility="collapsed", width=110
        )  # fmt: skip
        st.markdown("min")
        if minutes != step.minutes:
            keep((*steps[:place], replace(step, minutes=int(minutes)), *steps[place + 1 :]))
            st.rerun()
        for icon, words, changed in (
            ("arrow_upward", "Earlier", _moved(steps, place, place - 1)),
            ("arrow_downward", "Later", _moved(steps, place, place + 1)),
            ("close", "Remove", (*steps[:place], *steps[place + 1 :])),
        ):
            st.button(
                f"{words}: step {place + 1}", icon=f":material/{icon}:", key=f"lessons.{words}.{place}", type="tertiary",
                on_click=keep, args=(changed,), disabled=changed == steps and words != "Remove",
            )  # fmt: skip


def _moved(steps: tuple[Step, ...], place: int, to: int) -> tuple[Step, ...]:
    if not 0 <= to < len(steps):
        return steps
    order = list(steps)
    order.insert(to, order.pop(place))
    return tuple(order)


def _add(steps: tuple[Step, ...]) -> None:
    """What a step can be: an issue, or the lab as one of its presets shows it."""
    there: dict[str, Callable[[], Step]] = {issue.title: partial(Step, MINUTES, slug) for slug, issue in ISSUES.items()}
    there |= {f"Lab: {preset.title}": partial(lab_step, MINUTES, preset.config) for preset in PRESETS.values()}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.selectbox(
            "Add a step", list(there), index=None, placeholder="An issue, or the lab", key="lessons.add"
        )
        full = len(steps) >= MOST_STEPS
        if st.button("Add", icon=":material/add:", disabled=chosen is None or full) and chosen is not None:
            keep((*steps, there[chosen]()))
            st.rerun()
    if not steps:
        with st.container(horizontal=True, gap="small"):
            for lesson in LESSONS.values():
                st.button(f"Begin with “{lesson.title}”", on_click=keep, args=(lesson.steps,))


def titles(steps: Sequence[Step]) -> str:
    return " · ".join(f"{step.title} ({step.minutes} min)" for step in steps)
