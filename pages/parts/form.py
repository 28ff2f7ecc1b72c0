"""RunConfig's settings as widgets. The form's values live in one place: ``st.session_state[FORM]``, flat name to value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.config import COMPOSED, RunConfig, settings_for
from engine.settings import Setting, to_text

FORM = "form"
"""Session key of the form's values; it outlives the page, which widgets do not."""


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


def asked_for() -> dict[str, Any]:
    """What the form asks for: its values without the parameters of rows no longer chosen."""
    values = form_values()
    known = {row.name for row in current_settings(values)}
    return {name: value for name, value in values.items() if name in known}


def current_settings(values: Mapping[str, Any]) -> list[Setting]:
    return settings_for(values.get("task"), values.get("pos_encoding"))


def setting_widget(row: Setting) -> None:
    """One setting as the widget that fits its kind; a change lands in the form at once."""
    values, key = form_values(), f"set.{row.name}"
    value = values.setdefault(row.name, row.default)
    if key not in st.session_state:
        st.session_state[key] = to_text(value) if row.kind == "ints" else value
    common: dict[str, Any] = {"key": key, "help": row.help, "on_change": _take, "args": (row,)}
    match row.kind:
        case "choice":
            st.selectbox(row.label, row.choices, format_func=row.label_of, **common)
        case "bool":
            st.toggle(row.label, **common)
        case "ints":
            st.text_input(row.label, placeholder="for example 8, 12, 24", **common)
        case "int" | "float":
            _number(row, common)


def _number(row: Setting, common: dict[str, Any]) -> None:
    kind: type[int] | type[float] = int if row.kind == "int" else float
    limits: dict[str, Any] = {"min_value": kind(row.minimum or 0), "max_value": kind(row.maximum or 0)}
    if row.kind == "float":
        limits |= {"format": "%.6g", "step": 10 ** _exponent(row.default) if row.default else 0.1}
    st.number_input(row.label, placeholder="auto" if row.optional else None, **limits, **common)


def _exponent(value: float) -> int:
    """The power of ten below a value: a step that moves its first digit."""
    return len(f"{value:.0f}") - 1 if value >= 1 else -len(f"{1 / value:.0f}") + 1


def _take(row: Setting) -> None:
    values = form_values()
    values[row.name] = st.session_state[f"set.{row.name}"]
    if row.name in COMPOSED:
        # Parameters of a row that was chosen before must not haunt the next one's widgets.
        for own in current_settings(values):
            values.setdefault(own.name, own.default)
