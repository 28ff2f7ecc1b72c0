"""The page Depth: its dial, the draws of initial weights, and their four figures."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from threading import Lock
from typing import Annotated, Any, Literal

import streamlit as st
from pydantic import field_validator

from engine.analysis.depth.jobs import (
    DEPTHS,
    DepthNumbers,
    MeasureDepth,
    MeasureOversquashing,
    OversquashingNumbers,
    dial,
)
from engine.analysis.depth.sentences import DEPTH_QUESTIONS
from engine.config.link import to_query
from engine.config.run_config import RunConfig, settings_for
from engine.encodings import ENCODINGS
from engine.foundation.errors import JobError
from engine.foundation.formatting import counted
from engine.foundation.job import Job
from engine.foundation.log import log_error
from engine.foundation.once import once_of_latest
from engine.settings.errors import Problem
from engine.settings.fields import setting
from pages.parts.app.frame import as_fragment
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.page_state import ModelSettings, PageState, not_allowed, one_of
from pages.parts.app.questions import ANSWER_SECONDS, SharedCache, ask, asking_threads
from pages.parts.app.turn import out_of_turn
from pages.parts.app.visitor import number_present
from pages.parts.boards.component import Json
from pages.parts.boards.depth import depth_panels
from pages.parts.boards.panels import mount, panel_json
from pages.parts.charts.depth import DepthLine

ROWS = {row.name: row for row in settings_for()}
SEEDS, LONG_SEEDS = 16, 4  # draws, and those that are then also measured at longer lengths
# Four figures side by side fit below the dial on a projector.
HEIGHT = 250  # pixels
POLL, CHECKS_PER_SECOND = 0.3, 20  # seconds between two checks, at least; of all pages together
# After a move the figures before it stay longer, instead of empty ones.
ARRIVAL_SECONDS, MOVE_SECONDS = 1.0, 4.0  # for a first draw before empty figures are shown: at first, and after a move
UNWATCHED_SECONDS = 10.0  # without a check of the draws, after which a session asks for no more
DRAWS = SharedCache(1024)  # some sixty settings, for all sessions; the engine stores more on disk


DrawJob = Job[Any]  # MeasureDepth or MeasureOversquashing


class DepthState(PageState):
    # fmt: off
    depth: int = setting(16, "Layers", "", ge=DEPTHS[0], le=DEPTHS[-1])
    pos_encoding: Annotated[str, one_of(ENCODINGS)] = setting("rope", "Encoding", "")
    skips: bool = setting(True, "Skips", ROWS["skips"].help)
    mlp: bool = setting(True, "MLP", ROWS["mlp"].help)
    norm: Literal["pre", "post", "none"] = setting(
        "pre", "Normalisation", ROWS["norm"].help, labels={name: ROWS["norm"].label_of(name) for name in ROWS["norm"].choices},
    )
    # fmt: on

    @field_validator("depth")
    @classmethod
    def _measured_depth(cls, value: int) -> int:
        if value not in DEPTHS:
            raise not_allowed("one of " + ", ".join(map(str, DEPTHS)))
        return value

    @property
    def config(self) -> RunConfig:
        return dial(pos_encoding=self.pos_encoding, skips=self.skips, mlp=self.mlp, norm=self.norm)


SETTINGS = ModelSettings("depth", DepthState)
IGNORED = "depth.ignored"


def open_address() -> list[Problem]:
    again = st.session_state.pop(IGNORED, [])
    return SETTINGS.open_address()[1] or again


def show_dial() -> None:
    now = SETTINGS.state()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="depth-dial"):
        for name in SETTINGS.visible("depth"):
            with st.container(width=330):
                st.select_slider(options=DEPTHS, **SETTINGS.labelled(name, display=now.depth))
        for name in SETTINGS.visible("pos_encoding"):
            with st.container(width=190):
                bound = SETTINGS.labelled(name, display=now.pos_encoding)
                st.selectbox(options=list(ENCODINGS), format_func=lambda kind: ENCODINGS[kind].label, **bound)
        with st.container(width="content", key="depth-switches", gap=None):
            SETTINGS.widget("skips")
            SETTINGS.widget("mlp")
        with st.container(width=250):
            SETTINGS.widget("norm", side_by_side=True)
        st.page_link(
            "lab.py", label="Train it", icon=":material/science:", query_params=to_query(now.config.replace(n_layers=now.depth)),
            help="Opens these settings in the lab.",
        )  # fmt: skip


def show_figures(ignored: list[Problem]) -> None:
    """Draw the figures of the draws so far, again with further draws. ``ignored``: the page's problems with its link."""
    state, asking = SETTINGS.state(), st.session_state.setdefault("depth.asking", Asking())
    until = time.monotonic() + (MOVE_SECONDS if asking.config else ARRIVAL_SECONDS)
    asking.ask(state.config)
    with out_of_turn():
        while not number_of_draws(state.config)[0] and asking.going and time.monotonic() < until:
            st.session_state.get("depth.asking")  # here Streamlit ends this script run if a control has moved on
            time.sleep(0.03)
    is_complete = asking.has_ended(state.config)
    every = None if is_complete else max(POLL, number_present() / CHECKS_PER_SECOND)
    as_fragment(_follow, state, asking, is_complete, ignored, every=every)


def _follow(state: DepthState, asking: "Asking", is_complete: bool, ignored: list[Problem]) -> None:
    asking.ask(state.config)
    number, longer = number_of_draws(state.config)
    if asking.problem:
        st.error(in_markdown(asking.problem), icon=":material/error:")
    version, drawn = f"{state} {number} {longer}", section(state.config, state.depth, number, longer)
    mount("depth.figures", "depth", version, [drawn], name="depth", level=2)
    if not is_complete and asking.has_ended(state.config):
        st.session_state[IGNORED] = ignored
        st.rerun()  # without a timer


# cached, so that a class that moves its dials together has each section drawn once
@once_of_latest(256)
def section(config: RunConfig, depth: int, number: int, longer: int) -> Json:
    draws, color = draws_of(config)[:number], config.encoding.color
    at_more: list[DepthNumbers] = [
        {**one, **more} for one, more in zip(draws, longer_of(config)[:longer], strict=False)
    ]
    oversquashing = [DepthLine("", at_more, color)] if at_more else []
    items = depth_panels(
        [DepthLine("", draws, color)], depth, config.norm, height=HEIGHT, mark=True, oversquashing=oversquashing
    )
    spread = f" Median and range of {counted(number, 'model')}." if number else ""
    note = f"Untrained, {config.seq_len} tokens.{spread}"
    return {"id": "depth", "title": "", "note": note, "width": 250, "panels": list(map(panel_json, items))}


def show_sources() -> None:
    with st.expander("Sources"):
        st.markdown("\n".join(f"- {one.question} [{one.source}]({one.address})" for one in DEPTH_QUESTIONS.values()))
        st.caption("The initial weights use Xavier initialisation.")


# The draws, one seed after the other


def draws_of(config: RunConfig) -> list[DepthNumbers]:
    """The known draws of these settings, up to the first unknown seed."""
    return _known_draws(_jobs(config)[:SEEDS])


def longer_of(config: RunConfig) -> list[OversquashingNumbers]:
    return _known_draws(_jobs(config)[SEEDS:])


def number_of_draws(config: RunConfig) -> tuple[int, int]:
    """The number of known draws, and of those also measured at longer lengths."""
    known = sum(1 for _ in takewhile(DRAWS.knows, _jobs(config)))
    return min(known, SEEDS), max(0, known - SEEDS)


def _known_draws(jobs: Sequence[DrawJob]) -> list[Any]:
    return list(takewhile(lambda numbers: numbers is not None, map(DRAWS.if_known, jobs)))


@once_of_latest(256)
def _jobs(config: RunConfig) -> tuple[DrawJob, ...]:
    draws = [MeasureDepth(config.replace(seed=seed)) for seed in range(SEEDS)]
    return (*draws, *(MeasureOversquashing(config.replace(seed=seed)) for seed in range(LONG_SEEDS)))


@dataclass
class Asking:
    """The requests of a session, one at a time in a thread of its own. All sessions share the answers."""

    config: RunConfig | None = None
    going: bool = False
    until: float = 0.0  # monotonic seconds, after which the page counts as closed
    problem: str = ""  # why draws of these settings are missing; empty without a reason
    _lock: Lock = field(default_factory=Lock)

    def ask(self, config: RunConfig) -> None:
        """Request the draws of these settings only, as long as this is called again and again."""
        with self._lock:
            self.until = time.monotonic() + UNWATCHED_SECONDS
            if config != self.config:
                self.config, self.problem = config, ""
            if self.going or self.has_ended(config):
                return
            self.going = True
        # One at a time, so that a moving dial leaves at most one request behind it.
        asking_threads(1).submit(self._work)

    def has_ended(self, config: RunConfig) -> bool:
        """True if all draws are known or no further one comes."""
        return bool(self.problem) or number_of_draws(config) == (SEEDS, LONG_SEEDS)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            problem = ""
            try:
                DRAWS.get(job, partial(ask, job, timeout=ANSWER_SECONDS))
            except JobError as error:
                problem = str(error)
            except Exception as error:
                log_error("Measuring the effect of depth", error)
                problem = f"Measuring the effect of depth ended by an error ({type(error).__name__})."
            with self._lock:
                if self.config is not None and job in _jobs(self.config):
                    self.problem = problem

    def _next(self) -> DrawJob | None:
        with self._lock:
            if self.config is None or self.has_ended(self.config) or time.monotonic() > self.until:
                self.going = False
                return None
            return _jobs(self.config)[sum(number_of_draws(self.config))]
