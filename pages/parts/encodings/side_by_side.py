"""Two encodings side by side: shared controls, their formulas and facts, and every figure of both."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.analysis.encodings import jobs
from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.foundation.errors import JobError
from engine.foundation.job import Job
from engine.settings.errors import ConfigError
from pages.parts.app import server
from pages.parts.app.frame import as_fragment
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.questions import ask_once, asking_threads
from pages.parts.app.turn import in_turn, out_of_turn
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.encoding import Portrait
from pages.parts.encodings.panels import (
    Seen,
    curve_panels,
    matrix_panel,
    offer_times,
    portrait_facts,
    similarity_panel,
)
from pages.parts.encodings.state import FURTHEST, SETTINGS, SIDES, config_of, control, value

SHARED = ("d_model", "n_heads", "seq_len", "reach", "base")
"""What both encodings share."""
SEE = {
    "table": "each row is what one position adds to its token",
    "angles": "each row is how far one position turns queries and keys",
    "vectors": "each row is the vector of one distance or count",
    "bias": "each square is one head, and says what it adds to the score of each pair of positions",
}
"""What the picture of an encoding is, by the kind of its portrait."""
AT_ONCE = 0.15
"""Seconds to wait for the answer to a changed control before the rest of the page is written."""
FOLDED, DEEPER = "encodings.more", "encodings.deeper"
"""Session keys: whether the rarely used controls are open, and whether all figures are."""
LESS_ASKED = ("likeness", "sight", "token_init_std", "seed")


def compare() -> None:
    as_fragment(in_turn()(_compare))


def _compare() -> None:
    shown = min(value("seq_len") * value("reach"), FURTHEST)
    configs, problems = dict[str, RunConfig](), dict[str, str]()
    for side in SIDES:
        try:
            configs[side] = config_of(SETTINGS.values(), side)
        except ConfigError as error:
            problems[side] = in_markdown(error)
    top, waiting, board, words = st.container(), st.empty(), st.container(), st.container()
    with asking_threads(len(SIDES)) as together:
        pictures = _ask(together, jobs.ComputeMatrices, configs, shown)  # quick, and so shown first
        # While workers are starting, the answers do not arrive at once: the page is written meanwhile.
        with out_of_turn():
            at_once = server.pool().health().ready > 0 and not wait(pictures.values(), AT_ONCE).not_done
        if not at_once:
            _controls(top)
            waiting.caption(":material/hourglass_top: The workers are at it; the pictures come with the first of them.")
        seen = _found(pictures, problems)
        drawn = _drawn(configs, seen)
        waiting.markdown(_what_to_see(names_of({side: configs[side] for side in seen}), drawn) if seen else "")
        # Sent before anything else is written or asked for, which would slow it down.
        if drawn:
            with board:
                _board("compare", [matrix_panel(side, name, p, shown) for side, name, p, _ in drawn])
        if at_once:
            _controls(top)
        SETTINGS.write_address(SETTINGS.query())
        found = _found(_ask(together, jobs.ComputePortrait, {side: configs[side] for side in seen}, shown), problems)
    with words:
        _words(configs, found, problems, shown)
    both = _drawn(configs, found)
    if not both:
        return
    more = st.expander(
        "All figures: likeness, distance, spectra, components", icon=":material/stacks:", key=DEEPER, on_change="rerun"
    )
    if more.open:
        likeness = value("likeness")
        alike = [similarity_panel(side, name, p, likeness, shown) for side, name, p, _ in both]
        with more:
            _board("lines", [*alike, *curve_panels(both)])


def _what_to_see(names: Mapping[str, str], drawn: Sequence[Seen]) -> str:
    """One sentence on what the pictures are, and a question to look at them with. ``names``: those of all sides, also without a picture."""
    seen = {side: f"in **{name}**, {SEE[portrait['kind']]}" for side, name, portrait, _ in drawn}
    told = "; ".join(seen.get(side, f"**{name}** adds nothing, so it has no picture") for side, name in names.items())
    question = " Where are neighbours alike, and far positions not?" if seen else ""
    return f":material/visibility: {told[0].upper()}{told[1:]}.{question}"


def _board(key: str, items: list[Panel]) -> None:
    panels(items, key=f"encodings.{key}", name="encodings", least=440, level=2)


def _ask(
    together: ThreadPoolExecutor, what: Callable[[RunConfig, int], Job[Any]], configs: dict[str, RunConfig], shown: int
) -> dict[str, Future[Portrait]]:
    return {side: together.submit(ask_once, what(config, shown)) for side, config in configs.items()}


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


def _drawn(configs: dict[str, RunConfig], found: dict[str, Portrait]) -> list[Seen]:
    """The sides of which there is something to draw: not those that add nothing."""
    labels = names_of({side: configs[side] for side in found})
    return [
        (side, labels[side], p, ENCODINGS[configs[side].pos_encoding].color)
        for side, p in found.items()
        if configs[side].encoding.acts_on != "nowhere"
    ]


def _words(configs: dict[str, RunConfig], found: dict[str, Portrait], problems: dict[str, str], shown: int) -> None:
    """Each side's formula and facts, or the reason why there are none."""
    for side, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
        with column:
            if side in problems:
                st.error(problems[side], icon=":material/error:")
            else:
                config = configs[side]
                st.latex(config.encoding.equation_with_numbers(config, config.encoding_settings))
                portrait_facts(config, found[side], shown)
    offer_times([configs[side] for side in found])


def _controls(into: DeltaGenerator) -> None:
    with into, st.container(horizontal=True, vertical_alignment="bottom", key="encodings-sides"):
        for name in SIDES:
            with st.container(width=300):
                control(name)
        _less_asked()


def _in_a_row(names: Sequence[str], width: int) -> None:
    """The controls of settings side by side, each at least so many pixels wide."""
    if drawn := SETTINGS.drawn(*names):
        with st.grid(len(drawn), min_column_width=width):
            for name in drawn:
                control(name)


def _less_asked() -> None:
    rows = SETTINGS.rows()
    own = {side: [name for name in rows if name.startswith(f"{side}.")] for side in SIDES}
    if not SETTINGS.drawn(*SHARED, *LESS_ASKED, *own["a"], *own["b"]):
        return
    more = st.popover("Sizes and parameters", icon=":material/tune:", key=FOLDED, on_change="rerun")
    if not more.open:  # half of all controls: they cost nothing until they are opened
        return
    with more:
        _in_a_row(SHARED, 125)
        for side, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
            with column:
                if not own[side]:
                    st.caption(f"{ENCODINGS[value(side)].label} has none of its own.")
                for name in own[side]:
                    control(name)
        _in_a_row(LESS_ASKED, 160)


def names_of(configs: dict[str, RunConfig]) -> dict[str, str]:
    """The labels of the sides; two of one kind get different labels."""
    names = {side: ENCODINGS[config.pos_encoding].label for side, config in configs.items()}
    same = len(set(names.values())) < len(names)
    return {side: f"{name} ({side.upper()})" if same else name for side, name in names.items()}
