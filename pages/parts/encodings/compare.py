"""Two encodings side by side: shared controls, their formulas and facts, and every figure of both."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.analysis.encoding_jobs import ComputeMatrices, ComputePortrait
from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.encodings.formula import with_numbers
from engine.foundation.errors import JobError
from engine.foundation.job import Job
from engine.settings.errors import ConfigError
from pages.parts.app import server
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.questions import ask_once, asking_threads
from pages.parts.app.turn import in_turn, out_of_turn
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.portrait import Portrait
from pages.parts.encodings.panels import (
    component_panels,
    matrix_panel,
    offer_times,
    profile_panel,
    show_portrait_facts,
    similarity_panel,
    spectrum_panels,
)
from pages.parts.encodings.state import (
    SETTINGS,
    SIDES,
    config_of,
    control,
    positions_shown,
    settings_now,
    value,
    values,
    write_address,
)

Asked = Callable[[RunConfig, int], Job[Any]]
Told = tuple[str, str, Portrait, str]
"""Side, name, portrait, colour."""
SHARED = ("d_model", "n_heads", "seq_len", "reach", "base")
AT_ONCE = 0.15
"""Seconds to wait for the answer to a changed control before the rest of the page is written."""
FOLDED = "encodings.more"
"""Session key: whether the rarely used controls are open; a link that sets one of them opens them."""
LESS_ASKED = ("sight", "token_init_std", "seed")


@st.fragment
def compare() -> None:
    with in_turn():
        _compare()


def _compare() -> None:
    shown = positions_shown(values())
    configs, problems = _configs()
    top, words, waiting, board = st.container(), st.container(), st.empty(), st.container()
    with asking_threads(len(SIDES)) as together:
        pictures = _ask(together, ComputeMatrices, configs, shown)  # quick, and so shown first
        at_once = _come_at_once(pictures)
        if not at_once:
            _controls(top)
            waiting.caption(":material/hourglass_top: The workers are at it; the pictures come with the first of them.")
        seen = _found(pictures, problems)
        waiting.empty()
        # Sent before anything else is written or asked for, which would slow it down.
        if seen:
            with board:
                panels(
                    _pictures(_told(configs, seen), shown),
                    key="encodings.compare",
                    name="encodings",
                    least=440,
                    level=2,
                )
        if at_once:
            _controls(top)
        write_address()
        found = _found(_ask(together, ComputePortrait, {side: configs[side] for side in seen}, shown), problems)
    with words:
        _words(configs, found, problems, shown)
    if found:
        panels(_lines(_told(configs, found)), key="encodings.lines", name="encodings", least=440, level=2)


def _configs() -> tuple[dict[str, RunConfig], dict[str, str]]:
    """The config of each side, or the problem with it."""
    configs, problems = {}, {}
    for side in SIDES:
        try:
            configs[side] = config_of(values(), side)
        except ConfigError as error:
            problems[side] = in_markdown(error)
    return configs, problems


def _ask(
    together: ThreadPoolExecutor, what: Asked, configs: dict[str, RunConfig], shown: int
) -> dict[str, Future[Portrait]]:
    return {side: together.submit(ask_once, what(config, shown)) for side, config in configs.items()}


def _come_at_once(answers: dict[str, Future[Portrait]]) -> bool:
    """Whether the answers arrive at once. They do not while workers are starting: the page is written meanwhile."""
    with out_of_turn():
        return server.pool().health().ready > 0 and not wait(answers.values(), AT_ONCE).not_done


def _found(answers: dict[str, Future[Portrait]], problems: dict[str, str]) -> dict[str, Portrait]:
    """The answers that succeeded; the sentences of the others are added to ``problems``."""
    found = {}
    with out_of_turn():
        wait(answers.values())
    for side, answer in answers.items():
        try:
            found[side] = answer.result()
        except JobError as error:
            problems[side] = in_markdown(error)
    return found


def _told(configs: dict[str, RunConfig], found: dict[str, Portrait]) -> list[Told]:
    labels = names_of({side: configs[side] for side in found})
    return [(side, labels[side], p, ENCODINGS[configs[side].pos_encoding].color) for side, p in found.items()]


def _words(configs: dict[str, RunConfig], found: dict[str, Portrait], problems: dict[str, str], shown: int) -> None:
    """Each side's formula and facts, or the reason why there are none."""
    for side, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
        with column:
            if side in problems:
                st.error(problems[side], icon=":material/error:")
            else:
                config = configs[side]
                st.latex(with_numbers(config.encoding, config, config.encoding_settings))
                show_portrait_facts(config, found[side], shown)
    offer_times([configs[side] for side in found])


def _controls(into: DeltaGenerator) -> None:
    with into:
        _shared()
        _less_asked()


def _shared() -> None:
    for names, width in ((SIDES, 300), (SHARED, 110)):
        if drawn := SETTINGS.drawn(*names):
            with st.grid(len(drawn), min_column_width=width):
                for name in drawn:
                    control(name)
    control("likeness")


def _less_asked() -> None:
    rows = settings_now(values())
    own = {side: [name for name in rows if name.startswith(f"{side}.")] for side in SIDES}
    hidden = SETTINGS.drawn(*LESS_ASKED, *own["a"], *own["b"])
    if not hidden:
        return
    st.session_state.setdefault(FOLDED, any(value(name) != rows[name].default for name in hidden))
    more = st.expander("The encodings' own parameters, and more", icon=":material/tune:", key=FOLDED, on_change="rerun")
    if not more.open:  # half of all controls: they cost nothing until they are opened
        return
    with more:
        for side, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
            with column:
                if not own[side]:
                    st.caption(f"{ENCODINGS[value(side)].label} has none of its own.")
                for name in own[side]:
                    control(name)
        if drawn := SETTINGS.drawn(*LESS_ASKED):
            with st.grid(len(drawn), min_column_width=160):
                for name in drawn:
                    control(name)


def _pictures(told: list[Told], shown: int) -> list[Panel]:
    """The figures row by row: each figure of one side beside the same of the other."""
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
    """The labels of the sides; two of one kind get different labels."""
    names = {side: ENCODINGS[config.pos_encoding].label for side, config in configs.items()}
    same = len(set(names.values())) < len(names)
    return {side: f"{name} ({side.upper()})" if same else name for side, name in names.items()}
