"""What the text page asks for: a text, a vocabulary, an encoding, steps. Kept where it outlives the page's widgets."""

from __future__ import annotations

from typing import Any

import streamlit as st

from engine.config.run_config import RunConfig, settings_for
from engine.config.text_recipe import CHOSEN, RECIPE, TASK, text_config
from engine.settings.fields import Setting
from pages.parts.app.glossary import setting_help

FORM, RUN = "text.form", "text.run"
"""Session keys of the chosen values, and of the id of the run shown."""
PLAYS = "shakespeare"


def default_values() -> dict[str, Any]:
    """The recipe's own."""
    config = text_config()
    return {name: config.value(name) for name in CHOSEN}


def form_values() -> dict[str, Any]:
    values: dict[str, Any] = st.session_state.setdefault(FORM, default_values())
    return values


def fill_form(values: dict[str, Any]) -> None:
    """Put some values into the form; their widgets start from them."""
    form_values().update(values)
    for name in values:
        st.session_state.pop(_key(name), None)


def form_config() -> RunConfig:
    """Raises ConfigError where the values do not fit together."""
    return text_config(**form_values())


def show_form() -> None:
    """The widgets besides the text's."""
    rows = {row.name: row for row in settings_for(TASK, RECIPE["pos_encoding"])}
    encoding = rows["pos_encoding"]
    st.selectbox(
        encoding.label, encoding.choices, format_func=encoding.label_of, help=setting_help(encoding.name, encoding.help),
        **_bound("pos_encoding"),
    )  # fmt: skip
    left, right = st.columns(2)
    with left:
        _number(rows["vocab_size"], "Vocabulary", step=500)
    with right:
        _number(rows["steps"], "Steps", step=500)


def _number(row: Setting, label: str, step: int) -> None:
    low, high = int(row.minimum or 0), int(row.maximum or 0)
    st.number_input(label, low, high, step=step, help=setting_help(row.name, row.help), **_bound(row.name))


def _bound(name: str) -> dict[str, Any]:
    """A widget's key, which starts at the form's value, and the callback that puts a change into the form."""
    st.session_state.setdefault(_key(name), form_values()[name])
    return {"key": _key(name), "on_change": _take, "args": (name,)}


def _take(name: str) -> None:
    form_values()[name] = st.session_state[_key(name)]


def _key(name: str) -> str:
    return f"text.set.{name}"
