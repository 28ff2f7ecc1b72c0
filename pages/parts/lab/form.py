"""RunConfig's settings as widgets; the task with its sentence, and a list of all to choose from."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from engine.config.presets import PRESETS
from engine.settings.fields import Setting
from engine.tasks import BY_GROUP, TASKS
from engine.tasks.base import GROUPS, TaskSpec
from pages.parts.app.frame import as_fragment
from pages.parts.app.own_runs import SHOWN
from pages.parts.lab.state import LOOK_AT, PRESET, SETTINGS, fill_form

MAIN = (("task",), ("pos_encoding",), ("n_layers", "n_heads", "seq_len", "steps"))
"""The settings in sight, row by row; all others are grouped behind them."""
IN_SIGHT = [name for names in MAIN for name in names]
OPENED = "lab.opened"
"""The session key of the group of settings that stands open above the others."""
ICONS = {
    "Task": ":material/assignment:",
    "Shape": ":material/straighten:",
    "Encoding": ":material/pin_drop:",
    "Attention": ":material/visibility:",
    "Block": ":material/layers:",
    "Training": ":material/model_training:",
    "Data": ":material/database:",
    "Faults": ":material/bug_report:",
}
IN_GROUPS = tuple(task.name for tasks in BY_GROUP.values() for task in tasks)
"""All tasks by name, as readers choose among them."""


def main_settings() -> None:
    with st.container(gap="xsmall", key="lab-settings"):  # close together, so that all are in sight
        for names in MAIN:
            drawn = SETTINGS.drawn(*names)
            if drawn == ["task"]:
                choose_task()
            elif drawn:
                with st.grid(len(drawn), min_column_width=100, gap=("xxsmall", "small")):
                    for name in drawn:
                        SETTINGS.widget(name)


def other_settings() -> None:
    """The examples and every setting that is not in sight, all behind one heading; nothing where the link hides all."""
    rest = [row for row in _rest() if row.group != st.session_state.get(OPENED)]
    if not rest and not SETTINGS.drawn(PRESET):
        return
    # Tracked, so that what is folded away costs nothing: otherwise every click would wait for fifty widgets.
    label = _heading("Examples and all settings", rest)
    everything = st.expander(label, icon=":material/tune:", key="group.all", on_change="rerun")
    if not everything.open:
        return
    with everything:
        if SETTINGS.drawn(PRESET):
            st.selectbox(
                "Example", PRESETS, index=None, key="preset", placeholder="Start from an example", on_change=_take_preset,
                format_func=lambda slug: f"{'✓' if PRESETS[slug].expects == 'learns' else '✗'} {PRESETS[slug].title}",
                disabled=SETTINGS.locks(PRESET),
            )  # fmt: skip
        for group in dict.fromkeys(row.group for row in rest):
            own = [row for row in rest if row.group == group]
            folded = st.expander(_heading(group, own), icon=ICONS.get(group), key=f"group.{group}", on_change="rerun")
            if folded.open:
                with folded:
                    _widgets(group, own)


def _take_preset() -> None:
    """Fill the form with the chosen preset's settings; the picker becomes empty again."""
    if slug := st.session_state.pop("preset", None):
        fill_form(PRESETS[slug].config)
        st.session_state.pop(SHOWN, None)  # the run that was shown stays on the shelf
        st.session_state[LOOK_AT] = slug


def open_settings(group: str) -> None:
    """Show a group of settings above the others from the next drawing on."""
    st.session_state[OPENED] = group


def opened_settings() -> None:
    """The group of settings that a click on the model has opened, in sight, and a button that closes it."""
    group = st.session_state.get(OPENED)
    own = [row for row in _rest() if row.group == group]
    if not own:
        return
    with st.container(border=True, key="lab-opened"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"{ICONS.get(str(group), '')} **{group}**")
            st.button("Close", key="lab.close", type="tertiary", on_click=open_settings, args=("",))
        _widgets(str(group), own)


def _rest() -> list[Setting]:
    """The settings that the link leaves in sight and that stand behind the main ones."""
    rows = SETTINGS.rows()
    return [rows[name] for name in SETTINGS.drawn(*rows) if name not in IN_SIGHT]


def _widgets(group: str, rows: Iterable[Setting]) -> None:
    if group == "Faults":
        st.caption("Break the model on purpose: getting these details wrong is how one learns them.")
    for row in rows:
        SETTINGS.widget(row.name)


def _heading(group: str, rows: Iterable[Setting]) -> str:
    values = SETTINGS.asked_for()
    changed = sum(values[row.name] != row.default for row in rows)
    return f"{group} · {changed} changed" if changed else group


def choose_task() -> None:
    """The tasks by name and sample, the sentence of the chosen one, and the way to a list of all."""
    with st.container(gap="xsmall", key="lab-task"):
        SETTINGS.widget("task", choices=IN_GROUPS, format_func=partial(_with_sample, SETTINGS.asked_for()))
        as_fragment(_button)
        st.caption(TASKS[SETTINGS.asked_for()["task"]].summary)


def _with_sample(values: Mapping[str, Any], name: str) -> str:
    """A task with its worked sample; that of the chosen task has the settings in force, ``values``."""
    task = TASKS[name]
    if task.corpus:
        return task.label
    if name != values["task"]:
        return f"{task.label} · {task.sample}"
    own = task.settings(**{own: values[own] for own in task.settings.model_fields})
    return f"{task.label} · {own.sample(task.sample)}"


def _button() -> None:
    """The button that opens the list. What is closed costs nothing, and opening it runs no more of the page."""
    if st.button("All tasks", key="lab.tasks", type="tertiary", disabled=SETTINGS.locks("task")):
        _list()


@st.dialog("All tasks", width="large")
def _list() -> None:
    """Every task under the heading of its group: one click chooses it."""
    columns = st.columns(2, gap="medium")
    for place, (group, tasks) in enumerate(BY_GROUP.items()):
        with columns[place >= len(BY_GROUP) // 2], st.container(gap="xsmall"):
            st.subheader(GROUPS[group], anchor=False)
            for task in tasks:
                _show(task)


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
