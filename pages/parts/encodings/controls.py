"""The page's settings as widgets; a change is stored in the session at once."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts.app.setting_widget import setting_widget
from pages.parts.encodings.address import value, values, widget_key
from pages.parts.encodings.settings import settings


def control(name: str, **more: Any) -> None:
    """The widget of a setting, if the setting exists with the chosen encodings."""
    row = settings(values()).get(name)
    if row is None:
        return
    key = widget_key(name)
    if key not in st.session_state:
        st.session_state[key] = value(name)
    setting_widget(row, side_by_side=True, key=key, on_change=_take, args=(name,), **more)


def _take(name: str) -> None:
    values()[name] = st.session_state[widget_key(name)]
