"""The page's settings as widgets; a change lands in the session's one place at once."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from engine.settings import Setting
from pages.parts.encodings.address import value, values, widget_key
from pages.parts.encodings.settings import settings


def control(name: str, **more: Any) -> None:
    """The widget of a setting that exists now; nothing where it does not."""
    row = settings(values()).get(name)
    if row is None:
        return
    key = widget_key(name)
    if key not in st.session_state:
        st.session_state[key] = value(name)
    common: dict[str, Any] = {"key": key, "help": row.help, "on_change": _take, "args": (name,), **more}
    match row.kind:
        case "choice" if len(row.choices) < 4:
            st.segmented_control(
                row.label, row.choices, format_func=row.label_of, required=True, width="stretch", **common
            )
        case "choice":
            st.selectbox(row.label, row.choices, format_func=row.label_of, **common)
        case "bool":
            st.toggle(row.label, **common)
        case "text":
            st.text_input(row.label, **common)
        case _:
            _number(row, common)


def _number(row: Setting, common: dict[str, Any]) -> None:
    kind: type[int] | type[float] = int if row.kind == "int" else float
    limits: dict[str, Any] = {"min_value": kind(row.minimum or 0), "max_value": kind(row.maximum or 0)}
    if row.kind == "float":
        limits |= {
            "format": "%.6g",
            "step": 10.0 ** math.floor(math.log10(row.default)) if row.default else 0.1,
        }
    if row.optional:
        limits |= {"value": None, "placeholder": "auto"}
    st.number_input(row.label, **limits, **common)


def _take(name: str) -> None:
    values()[name] = st.session_state[widget_key(name)]
