"""The live board: one component that draws a run as it trains, without rerunning the script."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import streamlit as st

from engine.config.link import to_query
from engine.config.run_config import RunConfig
from engine.foundation.glossary import TERMS
from pages.parts.app.frame import as_fragment, nothing
from pages.parts.app.scripts import joined
from pages.parts.boards.component import BASE, BoardKind, Json, show_board
from pages.parts.boards.live.board_updates import Payload, updates_after
from pages.parts.boards.live.columns import Columns, columns_of
from pages.parts.boards.live.readable_run import ReadableRun, controlled_as
from pages.parts.boards.live.stack import stack_of
from pages.parts.charts.colors import color_of
from pages.parts.charts.loss import level_lines, overlay_traces

PanelName = Literal[
    "stack",
    "loss",
    "accuracy",
    "attention",
    "pattern",
    "heads",
    "encoding",
    "gradients",
    "memory",
    "samples",
    "written",
]
ALL: tuple[PanelName, ...] = ("loss", "accuracy", "attention", "encoding", "gradients", "memory")
# by panel: its title and its glossary term
TITLES = {
    "stack": ("The model", "model-picture"),
    "loss": ("Loss", "loss"),
    "perplexity": ("Perplexity", "perplexity"),
    "accuracy": ("Accuracy", "accuracy"),
    "attention": ("Attention, every head", "head"),
    "pattern": ("One head", "attention-pattern"),
    "matrix": ("The encoding", "positional-encoding"),
    "similarity": ("Similarity of positions", "similarity"),
    "gradients": ("Gradient norms", "gradient-norm"),
    "memory": ("Memory", "memory"),
    "samples": ("Predictions", "token"),
    "written": ("Generated text", "temperature"),
}
LINES: dict[PanelName, Json] = {
    "loss": {"scales": "Loss axis"},
    "gradients": {"views": ["Gradients", {"layer": "By layer", "qkv": "q, k, v"}], "plain": True},
}
"""Panels of lines over the steps. ``scales``: the name of a choice between a linear and a logarithmic axis. ``views``:
the name of a choice between groups of lines, and the label of each group, which a line has as its ``view``. ``plain``:
without milestones."""
POLL = 0.3  # seconds between polls without an event stream: a proxy blocks it, or the visitor has too many
IDLE_POLL = 1.0  # while the run is paused or queued
OVERLAP = 10  # each message repeats the updates of so many polls, in case the browser skipped some

FOLDER = Path(__file__).parent
LIVE = BoardKind("live", FOLDER, "board")


@dataclass(frozen=True)
class Overlay:
    run: str  # empty for curves without a run
    name: str
    color: str
    columns: Columns


def overlay(run: ReadableRun, name: str) -> Overlay:
    return Overlay(run.id, name, color_of(run.config), columns_of(run.events))


@dataclass(frozen=True)
class RecordedRun:
    """An ended run that came with the app; its status line says so."""

    run: ReadableRun
    payload: Payload | None = None
    """The whole :func:`updates_after` of the run, to play once as if it were live, while the board is visible. None: the run as
    it ended."""
    seconds: float = 0.0  # of playback


@dataclass(frozen=True)
class BoardLayout:
    panels: Sequence[PanelName] = ALL
    name: str = ""  # part of the names of downloads
    # across the loss: by name a short label and nats
    levels: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    top_panels: str = ""  # name of the container for the picture of the model
    room: str = ""
    """The phase of a presentation, such as "picture"; the board then fills the screen."""
    folded: Sequence[str] = ()  # ids of the panels behind "More figures", closed at first


@dataclass(frozen=True)
class Picture:
    model: Json | None = None
    """The description of the model (:mod:`pages.parts.boards.live.stack`); None for the model on the board."""
    view: Json = field(default_factory=dict)
    """The first attention and gradient norms, by the names of :class:`engine.config.presets.PresetView`; also
    ``ablated``, the ablated parts, ``swaps``, the positions of symbols that are swapped, and ``marks``, a kind of part
    to highlight."""
    apart: Json | None = None
    """``open``: True while “Take it apart” is open; and its selected ``which``, ``layer``, ``head``, ``position`` and
    ``text``, which count from 1; None for the picture's default. None on a page without it."""
    on_act: Callable[[], None] = nothing
    """Called after a click on a part, which is under ``act`` in the session's key of the board."""


def live_board(
    source: ReadableRun | RunConfig | RecordedRun | None,
    layout: BoardLayout,
    *,
    earlier: Sequence[Overlay] = (),
    picture: Picture | None = None,
    key: str = "board",
) -> None:
    """Show a run from its present state and follow it until it ends; or the untrained model of a config, a recording,
    or empty panels. ``earlier``: runs whose curves are behind.

    Call it on every rerun with the same ``key``: the figures keep their nodes, also when another run replaces this one.
    The script is rerun only when the run pauses, resumes or ends. A run does not wait for the untrained model before
    it. The board belongs directly below the page's title: its headings are of level 2.
    """
    recording = source if isinstance(source, RecordedRun) else None
    config = source if isinstance(source, RunConfig) else None
    run = None if isinstance(source, RunConfig) else source.run if isinstance(source, RecordedRun) else source
    picture, drawn = picture or Picture(), run.config if run else config
    facts = _facts(run.id if run else "", layout.panels, earlier, layout.name) | {
        "level": 2, "levels": {"loss": level_lines(layout.levels)}, "top_panels": layout.top_panels, "room": layout.room,
        "view": picture.view, "apart": picture.apart, "folded": list(layout.folded),
        "untrained": urlencode(to_query(config)) if config else "", "model": picture.model or (stack_of(drawn) if drawn else None),
        "shipped": recording is not None and recording.payload is None, "recording": recording.payload if recording else None,
        "seconds": recording.seconds if recording else 0.0,
    }  # fmt: skip
    state, request = (controlled_as(run), _request(key, run)) if run else ("none", "")

    def draw() -> None:
        update = {"polled": poll(run, request, key)} if run and request else {}
        # The present state: an old one would cause a second rerun from the browser during the one below.
        data = facts | {"state": run.state if run else "none"} | update
        message = show_board(
            LIVE, key, data, on_state_change=nothing, on_fallback_change=nothing, on_act_change=picture.on_act
        )
        if message.act:
            st.rerun()  # a click on a part has changed the settings of the page
        if run and (controlled_as(run), _request(key, run)) != (state, request):
            st.rerun()

    as_fragment(draw, every=_seconds_to_next(run) if run and request and run.live else None)


def _facts(run_id: str, panels: Sequence[PanelName], earlier: Sequence[Overlay], name: str) -> Json:
    overlays: dict[str, list[Any]] = {"loss": [], "accuracy": []}
    for index, other in enumerate(earlier):
        for panel, traces in overlay_traces(other.name, other.color, other.columns, index).items():
            for trace in traces:
                drawn = json.loads(trace.to_json())
                overlays[panel].append(drawn | {"meta": drawn["meta"] | {"run": other.run}})
    return {
        "run": run_id, "name": name, "panels": list(panels), "titled": TITLES, "lines": LINES, "overlays": overlays,
        "help": TERMS[TITLES["stack"][1]].text,
    }  # fmt: skip


def _request(key: str, run: ReadableRun) -> str:
    """Return ``<run id>/<mount>`` if the browser asked for polling of this run, else an empty text."""
    request = str((st.session_state.get(key) or {}).get("fallback") or "")
    return request if request.partition("/")[0] == run.id else ""


def _seconds_to_next(run: ReadableRun) -> float:
    waits = run.state == "queued" and run.queue_position is not None
    return IDLE_POLL if waits or run.state == "paused" else POLL


def poll(run: ReadableRun, request: str, key: str) -> Payload:
    """Return the events since some polls ago; the browser skips those that it has. A new mount gets all events."""
    name, (last_request, starts) = f"{key}.polled", st.session_state.get(f"{key}.polled", ("", deque()))
    if last_request != request:
        starts = deque([0], OVERLAP)
        st.session_state[name] = (request, starts)
    payload, last = updates_after(run, starts[0])
    starts.append(last)
    return payload | {"request": request}


@st.cache_resource
def _top_panels() -> Any:
    return st.components.v2.component(
        "attention_lab_top_panels",
        html='<div class="board live"><div class="top-panels"></div></div>',
        css=(BASE / "base.css").read_text(encoding="utf-8") + (FOLDER / "live.css").read_text(encoding="utf-8"),
        js=joined(FOLDER / "script" / "top_panels.js") + "export default holdTopPanels\n",
    )


def top_panels(name: str) -> None:
    """Draw the container of that name, above a page's columns, for the picture of the model of a board that names it."""
    _top_panels()(key=f"top-panels.{name}", data=[name])
