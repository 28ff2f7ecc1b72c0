"""Two encodings side by side: shared controls, what each is, and every figure of both."""

from __future__ import annotations

import streamlit as st

from engine.config import RunConfig
from engine.encodings import ENCODINGS
from engine.encodings.formula import with_numbers
from engine.problems import ConfigError
from engine.workers.pool import JobError
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
from pages.parts.encodings.settings import SIDES, config_of, settings

SHARED = ("d_model", "n_heads", "seq_len", "reach", "base", "token_init_std", "seed")


@st.fragment
def compare() -> None:
    _controls()
    write_address()
    configs: dict[str, RunConfig] = {}
    portraits: dict[str, asked.Portrait] = {}
    shown = value("seq_len") * value("reach")
    for side, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
        with column:
            try:
                configs[side] = config_of(values(), side)
                portraits[side] = asked.portrait(configs[side], shown)
            except (ConfigError, JobError) as error:
                st.error(str(error), icon=":material/error:")
                continue
            st.latex(with_numbers(configs[side]))
            show_facts(configs[side], portraits[side], shown)
    offer_times(list(configs.values()))
    board = _board(configs, portraits, shown)
    if board:
        panels(board, key="encodings.compare", name="encodings", least=440)


def _controls() -> None:
    with st.grid(2, min_column_width=300):
        for side in SIDES:
            control(side)
    with st.grid(len(SHARED), min_column_width=110):
        for name in SHARED:
            control(name)
    with st.grid(2, min_column_width=240):
        control("sight")
        control("likeness")
    own = {side: [name for name in settings(values()) if name.startswith(f"{side}.")] for side in SIDES}
    if any(own.values()):
        with st.expander("The encodings' own parameters", icon=":material/tune:"):
            for side, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
                with column:
                    if not own[side]:
                        st.caption(f"{ENCODINGS[value(side)].label} has none.")
                    for name in own[side]:
                        control(name)


def _board(configs: dict[str, RunConfig], portraits: dict[str, asked.Portrait], shown: int) -> list[Panel]:
    """Row by row: a picture of the one beside the same of the other."""
    labels = names_of(configs)
    colors = {side: ENCODINGS[configs[side].pos_encoding].color for side in portraits}
    found = [matrix_panel(side, labels[side], p, shown) for side, p in portraits.items()]
    found += [similarity_panel(side, labels[side], p, value("likeness"), shown) for side, p in portraits.items()]
    found += [profile_panel(side, labels[side], p, colors[side]) for side, p in portraits.items()]
    if portraits:
        found += spectrum_panels([(labels[side], colors[side], p) for side, p in portraits.items()])
    parts = [component_panels(side, labels[side], p, colors[side]) for side, p in portraits.items()]
    return found + [own[place] for place in range(2) for own in parts if own]


def names_of(configs: dict[str, RunConfig]) -> dict[str, str]:
    """The labels; two of one kind are told apart."""
    names = {side: ENCODINGS[config.pos_encoding].label for side, config in configs.items()}
    same = len(set(names.values())) < len(names)
    return {side: f"{name} ({side.upper()})" if same else name for side, name in names.items()}
