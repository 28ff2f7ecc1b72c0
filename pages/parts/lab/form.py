"""RunConfig's settings as widgets. The form's values live in one place: ``st.session_state[FORM]``, flat name to value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import streamlit as st

from engine.config.run_config import RunConfig, changed, parse, settings_for
from engine.settings.fields import Setting, to_text
from pages.parts.app.setting_widget import setting_widget

FORM = "form"
"""Session key of the form's values; it outlives the page, which widgets do not."""
MAIN = (("task",), ("pos_encoding",), ("n_layers", "n_heads"), ("seq_len", "steps"))
"""The settings in sight, row by row; all others are grouped behind them."""


def form_values() -> dict[str, Any]:
    """The form's flat values, made from the defaults at first."""
    if FORM not in st.session_state:
        st.session_state[FORM] = RunConfig().flat()
    values: dict[str, Any] = st.session_state[FORM]
    return values


def fill_form(config: RunConfig) -> None:
    """Put a whole config into the form."""
    st.session_state[FORM] = config.flat()
    for key in [key for key in st.session_state if str(key).startswith("set.")]:
        del st.session_state[key]


def form_settings() -> tuple[Setting, ...]:
    """The settings that exist under the form's task and encoding."""
    values = form_values()
    return settings_for(values.get("task"), values.get("pos_encoding"))


def asked_for() -> dict[str, Any]:
    """What the form asks for: its values without the parameters of rows no longer chosen."""
    values = form_values()
    return {row.name: values.get(row.name, row.default) for row in form_settings()}


def form_config() -> RunConfig:
    """Raises ConfigError where the form's settings do not fit together."""
    return parse(asked_for())


def main_settings() -> None:
    rows = {row.name: row for row in form_settings()}
    for names in MAIN:
        with st.grid(len(names), min_column_width=100):
            for name in names:
                form_widget(rows[name])


def other_settings() -> None:
    """Every setting that is not in sight, a group behind each heading, all behind one."""
    in_sight = {name for names in MAIN for name in names}
    rows = [row for row in form_settings() if row.name not in in_sight]
    # Tracked, so that what is folded away costs nothing: otherwise every click would wait for fifty widgets.
    everything = st.expander(_heading("All settings", rows), icon=":material/tune:", key="group.all", on_change="rerun")
    if not everything.open:
        return
    with everything:
        for group in dict.fromkeys(row.group for row in rows):
            own = [row for row in rows if row.group == group]
            folded = st.expander(_heading(group, own), icon=ICONS.get(group), key=f"group.{group}", on_change="rerun")
            if not folded.open:
                continue
            with folded:
                if group == "Faults":
                    st.caption("Break the model on purpose: getting these details wrong is how one learns them.")
                for row in own:
                    form_widget(row)


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
    values = form_values()
    changed = sum(values.get(row.name, row.default) != row.default for row in rows)
    return f"{group} · {changed} changed" if changed else group


def form_widget(row: Setting) -> None:
    """One setting's widget; a change lands in the form at once."""
    key, value = f"set.{row.name}", form_values().setdefault(row.name, row.default)
    if key not in st.session_state:
        st.session_state[key] = to_text(value) if row.kind == "ints" else value
    setting_widget(row, key=key, on_change=_take, args=(row.name,))


def _take(name: str) -> None:
    before = dict(form_values())
    st.session_state[FORM] = changed(before, {name: st.session_state[f"set.{name}"]})
    for other, value in form_values().items():
        if other != name and value != before.get(other, value):
            st.session_state.pop(f"set.{other}", None)  # its widget, if it is unfolded, starts from the new value
