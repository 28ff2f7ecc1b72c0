"""The parts as widgets: those in sight that the present design has."""

from __future__ import annotations

from collections.abc import Iterator

from engine.encodings.designed.spec import DesignedSettings
from pages.parts.design.state import SETTINGS, design


def parts_form() -> None:
    for name in ("design_features", "design_readout", "design_place", "design_learned"):
        SETTINGS.widget(name, disabled=decided(name, design()))
    for name in numbers_of(design()):
        SETTINGS.widget(name)


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
