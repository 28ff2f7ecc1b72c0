"""The page's settings as widgets."""

from __future__ import annotations

import streamlit as st

from engine.estimate.at_scale import WELL_KNOWN
from engine.sweeps import KINDS
from pages.parts.memory_and_time.state import SETTINGS

ALONG = {"length": ("longest", "n_layers"), "depth": ("deepest", "seq_len")}
"""What is asked for on each axis: how far to go, and what stays."""


def plan_settings(*, has_accelerator: bool, disabled: bool) -> None:
    """What is measured; what is rarely changed stands behind a heading."""
    values = SETTINGS.values()
    widget("axis", disabled=disabled)
    if sizes := SETTINGS.drawn(*ALONG[values["axis"]], "d_model", "n_heads", "batch_size"):
        with st.grid(2, min_column_width=110):
            for name in sizes:
                widget(name, disabled=disabled)
    several("kinds", "Models", {name: kind.label for name, kind in KINDS.items()}, disabled=disabled)
    # A link may name a device that is not here, which is said when it is used.
    if has_accelerator or values["device"] != "cpu":
        widget("device", disabled=disabled)
    if rare := SETTINGS.drawn("rounds", "patience"):
        with st.expander("How it is measured", icon=":material/timer:"):
            for name in rare:
                widget(name, disabled=disabled)
            st.caption(MEASURED)


MEASURED = """
Each point is a short job on a worker that does nothing else meanwhile. First all models go along the axis, each until
its next point would take too long or not fit twice into the free memory; then all points again, in shuffled order.
"""


def widget(name: str, *, disabled: bool = False) -> None:
    SETTINGS.widget(name, side_by_side=True, disabled=disabled)


def several(name: str, label: str, labels: dict[str, str], *, disabled: bool = False) -> None:
    """Any of some names."""
    if SETTINGS.drawn(name):
        st.pills(
            label, list(labels), selection_mode="multi", wrap=True, format_func=labels.__getitem__,
            default=SETTINGS.first_value(name), **SETTINGS.bound(name, disabled=disabled),
        )  # fmt: skip


def models() -> None:
    several("models", "Models", {name: model.label for name, model in WELL_KNOWN.items()})
