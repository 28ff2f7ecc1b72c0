"""Widgets that pages share: the one for a setting, by the setting's kind, and the one for a file."""

import math
from collections.abc import Callable, Sequence
from mimetypes import guess_type
from typing import Any

import streamlit as st

from engine.foundation.provenance import stamped
from engine.settings.fields import Setting, Value
from pages.parts.app.glossary import setting_help

SEGMENTS = 3
"""The most choices that are shown side by side."""


def setting_widget(
    row: Setting, value: Any, *, side_by_side: bool = False, choices: Sequence[str] = (), **common: Any
) -> None:
    """The widget of a setting, which starts at a value, with help that links to the glossary. ``common``: arguments such as
    key and ``on_change``.

    A list of whole numbers is entered as text. ``side_by_side``: show a few choices all at once. ``choices``: the setting's choices
    in the order that a reader is shown.
    """
    common = {"help": setting_help(row.name, row.help), **common}
    match row.kind:
        case "choice" if side_by_side and len(row.choices) <= SEGMENTS:
            st.segmented_control(
                row.label, row.choices, default=value, format_func=row.label_of, required=True, width="stretch",
                **common,
            )  # fmt: skip
        case "choice":
            choices = choices or row.choices
            st.selectbox(row.label, choices, choices.index(value), **{"format_func": row.label_of, **common})
        case "bool":
            st.toggle(row.label, value, **common)
        case "text":
            st.text_input(row.label, value, **common)
        case "ints":
            st.text_input(row.label, value, placeholder="for example 8, 12, 24", **common)
        case "int" | "float":
            st.number_input(row.label, value=value, **_limits(row), **common)


def _limits(row: Setting) -> dict[str, Any]:
    kind: type[int] | type[float] = int if row.kind == "int" else float
    limits: dict[str, Any] = {"min_value": kind(row.minimum or 0), "max_value": kind(row.maximum or 0)}
    if row.kind == "float":
        limits |= {"format": "%.6g", "step": _step(row.default)}
    if row.optional:
        limits |= {"placeholder": "auto"}
    return limits


def _step(default: Value) -> float:
    """A step that changes the first digit of the default."""
    return 10.0 ** math.floor(math.log10(default)) if isinstance(default, int | float) and default else 0.1


def offer_file(
    label: str, make: Callable[[], str | bytes], name: str, icon: str | None = ":material/download:"
) -> None:
    """A button that downloads a file, which is made only when somebody asks for it. Its name ends in version, commit and date: a comment in
    a CSV, or a column of one value, would be in the way of whoever reads its numbers."""
    st.download_button(label, make, stamped(name), guess_type(name)[0], icon=icon)
