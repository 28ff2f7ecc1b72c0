"""What the text page asks for besides a text: an encoding, a vocabulary, steps."""

from __future__ import annotations

import streamlit as st

from pages.parts.text.state import SETTINGS


def show_form() -> None:
    SETTINGS.widget("pos_encoding")
    if numbers := SETTINGS.drawn("vocab_size", "steps"):
        for column, name in zip(st.columns(len(numbers)), numbers, strict=True):
            with column:
                SETTINGS.widget(name, step=500)
