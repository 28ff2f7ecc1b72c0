"""The tasks in words: the name and the sample of each, the sentence of the chosen one, and all of them to choose from."""

from __future__ import annotations

import streamlit as st

from engine.tasks import BY_GROUP, TASKS
from engine.tasks.spec import GROUPS, Group, TaskSpec
from pages.parts.lab.state import SETTINGS

IN_GROUPS = tuple(task.name for tasks in BY_GROUP.values() for task in tasks)
"""All tasks by name, as readers choose among them."""


def choose_task() -> None:
    """The tasks by name and sample, the sentence of the chosen one, and the way to a list of all."""
    with st.container(gap="xsmall", key="lab-task"):
        SETTINGS.widget("task", choices=IN_GROUPS, format_func=_with_sample)
        _button()
        st.caption(TASKS[SETTINGS.asked_for()["task"]].summary)


def _with_sample(name: str) -> str:
    task = TASKS[name]
    return task.label if task.corpus else f"{task.label} · {task.sample}"


@st.fragment
def _button() -> None:
    """The button that opens the list. What is closed costs nothing, and opening it runs no more of the page."""
    if st.button("All tasks", key="lab.tasks", type="tertiary", disabled=SETTINGS.locks("task")):
        _list()


@st.dialog("All tasks", width="large")
def _list() -> None:
    """Every task under the heading of its group: one click chooses it."""
    for column, groups in zip(st.columns(2, gap="medium"), _halves(list(BY_GROUP)), strict=True):
        with column:
            for group in groups:
                with st.container(gap="xsmall"):
                    st.subheader(GROUPS[group], anchor=False)
                    for task in BY_GROUP[group]:
                        _show(task)


def _halves(groups: list[Group]) -> tuple[list[Group], list[Group]]:
    half = len(groups) // 2
    return groups[:half], groups[half:]


def _show(task: TaskSpec) -> None:
    here = task.name == SETTINGS.asked_for()["task"]
    with st.container(gap=None):
        if st.button(
            f"**{task.label}** · {task.sample}", key=f"lab.tasks.{task.name}", type="tertiary",
            icon=":material/check:" if here else None, on_click=_choose, args=(task.name,),
        ):  # fmt: skip
            st.rerun()  # closes the list
        st.caption(task.summary)


def _choose(name: str) -> None:
    """Choose a task as the select box does, and let the box start from it."""
    SETTINGS.take("task", name)
    SETTINGS.put({"task": name})
