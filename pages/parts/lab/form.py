"""RunConfig's settings as widgets."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from engine.settings.fields import Setting
from pages.parts.lab.state import SETTINGS
from pages.parts.lab.tasks import choose_task

MAIN = (("task",), ("pos_encoding",), ("n_layers", "n_heads", "seq_len", "steps"))
"""The settings in sight, row by row; all others are grouped behind them."""
OPENED = "lab.opened"
"""The session key of the group of settings that stands open above the others."""


def main_settings() -> None:
    with st.container(gap="xsmall"):  # close together, so that all are in sight
        for names in MAIN:
            drawn = SETTINGS.drawn(*names)
            if drawn == ["task"]:
                choose_task()
            elif drawn:
                with st.grid(len(drawn), min_column_width=100):
                    for name in drawn:
                        SETTINGS.widget(name)


def other_settings() -> None:
    """Every setting that is not in sight, a group behind each heading, all behind one; nothing where the link hides all."""
    rest = [row for row in _rest() if row.group != st.session_state.get(OPENED)]
    if not rest:
        return
    # Tracked, so that what is folded away costs nothing: otherwise every click would wait for fifty widgets.
    everything = st.expander(_heading("All settings", rest), icon=":material/tune:", key="group.all", on_change="rerun")
    if not everything.open:
        return
    with everything:
        for group in dict.fromkeys(row.group for row in rest):
            own = [row for row in rest if row.group == group]
            folded = st.expander(_heading(group, own), icon=ICONS.get(group), key=f"group.{group}", on_change="rerun")
            if folded.open:
                with folded:
                    _widgets(group, own)


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
    in_sight, rows = {name for names in MAIN for name in names}, SETTINGS.rows()
    return [rows[name] for name in SETTINGS.drawn(*rows) if name not in in_sight]


def _widgets(group: str, rows: Iterable[Setting]) -> None:
    if group == "Faults":
        st.caption("Break the model on purpose: getting these details wrong is how one learns them.")
    for row in rows:
        SETTINGS.widget(row.name)


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


def _heading(group: str, rows: Iterable[Setting]) -> str:
    values = SETTINGS.asked_for()
    changed = sum(values[row.name] != row.default for row in rows)
    return f"{group} · {changed} changed" if changed else group
