"""Two encodings side by side: shared controls, what each is, and every figure of both."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import streamlit as st

from engine.config import RunConfig
from engine.encodings import ENCODINGS
from engine.encodings.formula import with_numbers
from engine.problems import ConfigError
from engine.workers.pool import JobError
from pages.parts import server
from pages.parts.board.panels import Panel, panels
from pages.parts.encodings import asked
from pages.parts.encodings.address import value, values, write_address
from pages.parts.encodings.controls import control
from pages.parts.encodings.facts import offer_times, show_facts
from pages.parts.encodings.panels import (
    component_panels,
    matrix_panel,
    profile_panel,
    similarity_panel,
    spectrum_panels,
)
from pages.parts.encodings.settings import SIDES, config_of, positions_shown, settings
from pages.parts.figures.portrait import Portrait

Told = tuple[str, str, Portrait, str]
"""Side, name, portrait, colour."""
SHARED = ("d_model", "n_heads", "seq_len", "reach", "base")
LESS_ASKED = ("sight", "token_init_std", "seed")


@st.fragment
def compare() -> None:
    shown = positions_shown(values())
    drawn: dict[str, tuple[RunConfig, Portrait]] = {}
    with ThreadPoolExecutor(len(SIDES)) as together:  # two workers answer at once, while the controls are written
        answers = {side: together.submit(_drawn, dict(values()), side, shown) for side in SIDES}
        _controls()
        write_address()
        columns = dict(zip(SIDES, st.columns(2, gap="large"), strict=True))
        below, waiting = st.container(), st.empty()
        if not server.pool().health().ready:
            waiting.caption(
                ":material/hourglass_top: The workers are waking up; the pictures come with the first of them."
            )
        for side, answer in answers.items():
            try:
                drawn[side] = answer.result()
            except (ConfigError, JobError) as error:
                columns[side].error(str(error), icon=":material/error:")
    waiting.empty()
    configs = {side: config for side, (config, _) in drawn.items()}
    labels = names_of(configs)
    told = [(side, labels[side], p, ENCODINGS[config.pos_encoding].color) for side, (config, p) in drawn.items()]
    if told:  # two boards, and the words after the first: it is on its way while the rest is made
        panels(_pictures(told, shown), key="encodings.compare", name="encodings", least=440)
    for side, (config, portrait) in drawn.items():
        with columns[side]:
            st.latex(with_numbers(config))
            show_facts(config, portrait, shown)
    with below:
        offer_times(list(configs.values()))
    if told:
        panels(_lines(told), key="encodings.lines", name="encodings", least=440)


def _drawn(settings: dict[str, Any], side: str, shown: int) -> tuple[RunConfig, Portrait]:
    config = config_of(settings, side)
    return config, asked.portrait(config, shown)


def _controls() -> None:
    with st.grid(2, min_column_width=300):
        for side in SIDES:
            control(side)
    with st.grid(len(SHARED), min_column_width=110):
        for name in SHARED:
            control(name)
    control("likeness")
    own = {side: [name for name in settings(values()) if name.startswith(f"{side}.")] for side in SIDES}
    with st.expander("The encodings' own parameters, and more", icon=":material/tune:"):
        for side, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
            with column:
                if not own[side]:
                    st.caption(f"{ENCODINGS[value(side)].label} has none of its own.")
                for name in own[side]:
                    control(name)
        with st.grid(len(LESS_ASKED), min_column_width=160):
            for name in LESS_ASKED:
                control(name)


def _pictures(told: list[Told], shown: int) -> list[Panel]:
    """Row by row: a picture of the one beside the same of the other."""
    return [
        *(matrix_panel(side, name, p, shown) for side, name, p, _ in told),
        *(similarity_panel(side, name, p, value("likeness"), shown) for side, name, p, _ in told),
    ]


def _lines(told: list[Told]) -> list[Panel]:
    parts = [component_panels(side, name, p, color) for side, name, p, color in told]
    return [
        *(profile_panel(side, name, p, color) for side, name, p, color in told),
        *spectrum_panels([(name, color, p) for _, name, p, color in told]),
        *(own[place] for place in range(2) for own in parts if own),
    ]


def names_of(configs: dict[str, RunConfig]) -> dict[str, str]:
    """The labels; two of one kind are told apart."""
    names = {side: ENCODINGS[config.pos_encoding].label for side, config in configs.items()}
    same = len(set(names.values())) < len(names)
    return {side: f"{name} ({side.upper()})" if same else name for side, name in names.items()}
