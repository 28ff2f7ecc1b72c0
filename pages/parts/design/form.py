"""The parts as widgets: those in sight that the present design has."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from engine.encodings.designed.spec import DesignedSettings
from engine.settings.fields import Setting
from pages.parts.app.setting_widget import setting_widget
from pages.parts.design.choice import PARTS, choice, set_part


def parts_form() -> None:
    for name in ("design_features", "design_readout", "design_place", "design_learned"):
        _part(PARTS[name], disabled=decided(name, choice().design))
    for name in numbers_of(choice().design):
        _part(PARTS[name])


def numbers_of(design: DesignedSettings) -> Iterator[str]:
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


def decided(name: str, design: DesignedSettings) -> bool:
    """Whether the other parts leave one choice only."""
    if name == "design_place":
        return design.design_features == "convolution"
    return name == "design_readout" and design.design_place == "rotation"


def _part(row: Setting, *, disabled: bool = False) -> None:
    key = f"design.set.{row.name}"
    value = choice().parts[row.name]
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    setting_widget(row, disabled=disabled, key=key, on_change=_take, args=(row.name,))


def _take(name: str) -> None:
    set_part(name, st.session_state[f"design.set.{name}"])
