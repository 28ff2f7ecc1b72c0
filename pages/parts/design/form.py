"""The parts as widgets: those in sight that the present design has."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import streamlit as st

from engine.encodings.parameters import DesignedParameters
from engine.settings import Setting
from pages.parts.design.choice import PARTS, choice, set_part


def parts_form() -> None:
    for name in ("design_features", "design_readout", "design_place", "design_learned"):
        _select(PARTS[name])
    for name in numbers_of(choice().design):
        _number(PARTS[name])


def numbers_of(design: DesignedParameters) -> Iterator[str]:
    """The numbers that this design has."""
    features, readout, place = design.design_features, design.design_readout, design.design_place
    waves = features in ("sinusoids", "fourier")
    if readout != "direct" and features != "convolution":
        yield "design_width"
    if "network" in (features, readout):
        yield "design_hidden"
    if features == "sinusoids":
        yield "design_base"
    if features == "fourier":
        yield "design_length_scale"
    if features == "convolution":
        yield "design_reach"
    if not (waves and place == "rotation"):
        yield "design_init_std"


def decided(name: str, design: DesignedParameters) -> bool:
    """Whether the other parts leave one choice only."""
    if name == "design_place":
        return design.design_features == "convolution"
    return name == "design_readout" and design.design_place == "rotation"


def _common(row: Setting) -> dict[str, Any]:
    key = f"design.set.{row.name}"
    value = choice().parts[row.name]
    if st.session_state.get(key) != value or key not in st.session_state:
        st.session_state[key] = value
    return {"key": key, "help": row.help, "on_change": _take, "args": (row.name,)}


def _take(name: str) -> None:
    set_part(name, st.session_state[f"design.set.{name}"])


def _select(row: Setting) -> None:
    fixed = decided(row.name, choice().design)
    st.selectbox(row.label, row.choices, format_func=row.label_of, disabled=fixed, **_common(row))


def _number(row: Setting) -> None:
    kind: type[int] | type[float] = int if row.kind == "int" else float
    limits: dict[str, Any] = {"min_value": kind(row.minimum or 0), "max_value": kind(row.maximum or 0)}
    if row.kind == "float":
        step = 10.0 ** math.floor(math.log10(row.default)) if row.default else 0.1
        limits |= {"format": "%.6g", "step": step}
    if row.optional:
        limits |= {"placeholder": "auto"}
    st.number_input(row.label, value=None if row.optional else "min", **limits, **_common(row))
