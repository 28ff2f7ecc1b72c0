"""The page's settings as widgets. Their values live in one place, ``st.session_state[FORM]``, which outlives the page."""

from __future__ import annotations

from typing import Any

import streamlit as st

from engine.estimate.published import WELL_KNOWN
from engine.sweeps import KINDS
from engine.sweeps.plan import SETTINGS as PLAN_SETTINGS
from engine.sweeps.plan import Plan, checked, read_plan
from pages.parts.app.setting_widget import setting_widget
from pages.parts.memory_and_time.view import SETTINGS as VIEW_SETTINGS
from pages.parts.memory_and_time.view import View

FORM = "costs"
ALONG = {"length": ("longest", "n_layers"), "depth": ("deepest", "seq_len")}
"""What is asked for on each axis: how far to go, and what stays."""


def defaults() -> dict[str, Any]:
    return {**Plan().model_dump(), **View().model_dump()}


def values() -> dict[str, Any]:
    found: dict[str, Any] = st.session_state.setdefault(FORM, defaults())
    return found


def fill(flat: dict[str, Any]) -> None:
    st.session_state[FORM] = flat
    for key in [key for key in st.session_state if str(key).startswith(f"{FORM}.set.")]:
        del st.session_state[key]


def plan() -> Plan:
    """Raises ConfigError where the settings do not go together."""
    return read_plan({name: value for name, value in values().items() if name in Plan.model_fields})


def view() -> View:
    return checked(View, {name: value for name, value in values().items() if name in View.model_fields})


def plan_settings(*, has_accelerator: bool, disabled: bool) -> None:
    """What is measured; what is rarely changed stands behind a heading."""
    widget("axis", disabled=disabled)
    along = ALONG[values()["axis"]]
    with st.grid(2, min_column_width=110):
        for name in (*along, "d_model", "n_heads", "batch_size"):
            widget(name, disabled=disabled)
    several("kinds", "Models", {name: kind.label for name, kind in KINDS.items()}, disabled=disabled)
    if (
        has_accelerator or values()["device"] != "cpu"
    ):  # a link may name one that is not here, which is said when it is used
        widget("device", disabled=disabled)
    with st.expander("How it is measured", icon=":material/timer:"):
        for name in ("rounds", "patience"):
            widget(name, disabled=disabled)
        st.caption(
            "Each point is a short job on a worker that does nothing else meanwhile. First all models go along the axis, each until its"
            " next point would take too long or not fit twice into the free memory; then all points again, in shuffled order."
        )


def widget(name: str, *, disabled: bool = False) -> None:
    """One setting's widget; a change is kept at once."""
    setting_widget({**PLAN_SETTINGS, **VIEW_SETTINGS}[name], side_by_side=True, disabled=disabled, **_kept(name))


def several(name: str, label: str, labels: dict[str, str], *, disabled: bool = False) -> None:
    """Any of some names."""
    st.pills(
        label,
        list(labels),
        selection_mode="multi",
        wrap=True,
        format_func=labels.__getitem__,
        disabled=disabled,
        **_kept(name),
    )


def models() -> None:
    several("models", "Models", {name: model.label for name, model in WELL_KNOWN.items()})


def _kept(name: str) -> dict[str, Any]:
    key = f"{FORM}.set.{name}"
    if key not in st.session_state:
        value = values()[name]
        st.session_state[key] = list(value) if isinstance(value, tuple) else value
    return {"key": key, "on_change": _take, "args": (name,)}


def _take(name: str) -> None:
    value = st.session_state[f"{FORM}.set.{name}"]
    st.session_state[FORM] = {**values(), name: tuple(value) if isinstance(value, list) else value}
