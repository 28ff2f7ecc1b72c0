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
from pages.parts.boards.live.columns import Columns, columns_of
from pages.parts.boards.live.feed import Payload, feed
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
TITLED = {
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
    "written": ("What it writes", "temperature"),
}
"""The title of each panel, and the glossary term that it links to."""
LINES: dict[PanelName, Json] = {
    "loss": {"scales": "Loss axis"},
    "gradients": {"views": ["Gradients", {"layer": "By layer", "qkv": "q, k, v"}], "plain": True},
}
"""Of panels of lines over the steps: ``scales``, the name of a choice between a linear and a logarithmic axis; ``views``, the name of a
choice between groups of lines, and the label of each group, which a line has as its ``view``; ``plain``: no milestones are marked."""
POLL = 0.3
"""Seconds between two polls where the browser gets no event stream: a proxy swallows it, or the visitor has enough of them."""
IDLE_POLL = 1.0
"""The same while the run is paused or waits for others."""
OVERLAP = 10
"""The number of earlier polls whose updates each message repeats, in case the browser skipped some."""

HERE = Path(__file__).parent
LIVE = BoardKind("live", HERE, "board")


@dataclass(frozen=True)
class Overlay:
    """An earlier run drawn behind loss and accuracy, named by the settings that differ."""

    run: str
    """The run's id; empty for curves without a run."""
    name: str
    color: str
    columns: Columns


def overlay(run: ReadableRun, name: str) -> Overlay:
    """An earlier run in the form that the board draws behind another run."""
    return Overlay(run.id, name, color_of(run.config), columns_of(run.events))


@dataclass(frozen=True)
class Recording:
    """An ended run that came with the app, which its line of status says."""

    run: ReadableRun
    played: Payload | None = None
    """The whole :func:`feed` of the run, to be played once as if it were live, and only while it is seen; None: it is shown as it ended."""
    seconds: float = 0.0
    """How long it plays."""


@dataclass(frozen=True)
class Layout:
    """What stands where on a board."""

    panels: Sequence[PanelName] = ALL
    name: str = ""
    """A part of the names of downloads."""
    levels: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    """The lines across the loss: by name a short name and the nats."""
    top_panels: str = ""
    """The name of the place (:func:`top_panels`) that takes the picture of the model."""
    room: str = ""
    """Where the board is shown to a room, what is being shown, such as "picture"; it then fills the screen."""
    folded: Sequence[str] = ()
    """The ids of the panels behind "More figures", closed at first."""


@dataclass(frozen=True)
class Picture:
    """How the model is drawn."""

    model: Json | None = None
    """The description of the model (:mod:`pages.parts.boards.live.stack`); None for that of what is shown."""
    view: Json = field(default_factory=dict)
    """The attention and the gradient norms to begin with, by the names of :class:`engine.config.presets.PresetView`; also ``ablated``, the
    parts that are taken away, ``swaps``, the positions of symbols that change places, and ``marks``, the kind of part to be seen."""
    apart: Json | None = None
    """True if the page takes the model apart now (``open``), and the head, the position and the text that it takes (``which``, ``layer``,
    ``head``, ``position``, ``text``), which count from 1; None for what the picture shows. None altogether on a page that cannot."""
    on_act: Callable[[], None] = nothing
    """Called after a click on a part; finds what is asked under ``act`` in the session's key of the board."""


def live_board(
    shown: ReadableRun | RunConfig | Recording | None,
    layout: Layout,
    *,
    earlier: Sequence[Overlay] = (),
    picture: Picture | None = None,
    key: str = "board",
) -> None:
    """Show a run from its present state and follow it until it ends; or the untrained model of a config, or a recording, or empty panels.
    ``earlier``: the runs whose curves stand behind.

    Call it on every rerun with the same ``key``: the figures stay the same nodes, also when another run replaces
    this one. The script is rerun only when the run pauses, goes on or ends. The first run does not have to wait for the untrained
    model before it. The board stands directly below the page's title: its headings are of level 2.
    """
    recording = shown if isinstance(shown, Recording) else None
    config = shown if isinstance(shown, RunConfig) else None
    run = None if isinstance(shown, RunConfig) else shown.run if isinstance(shown, Recording) else shown
    picture, drawn = picture or Picture(), run.config if run else config
    facts = _facts(run.id if run else "", layout.panels, earlier, layout.name) | {
        "level": 2, "levels": {"loss": level_lines(layout.levels)}, "top_panels": layout.top_panels, "room": layout.room,
        "view": picture.view, "apart": picture.apart, "folded": list(layout.folded),
        "untrained": urlencode(to_query(config)) if config else "", "model": picture.model or (stack_of(drawn) if drawn else None),
        "shipped": recording is not None and recording.played is None, "recording": recording.played if recording else None,
        "seconds": recording.seconds if recording else 0.0,
    }  # fmt: skip
    state, request = (controlled_as(run), _request(key, run)) if run else ("none", "")

    def draw() -> None:
        polled = {"polled": poll(run, request, key)} if run and request else {}
        # The present state: given an old one, the browser would answer with a second rerun during the one below.
        data = facts | {"state": run.state if run else "none"} | polled
        message = show_board(
            LIVE, key, data, on_state_change=nothing, on_fallback_change=nothing, on_act_change=picture.on_act
        )
        if message.act:
            st.rerun()  # a part of the model was clicked: the page's settings have changed
        if run and (controlled_as(run), _request(key, run)) != (state, request):
            st.rerun()

    as_fragment(draw, every=_seconds_to_next(run) if run and request and run.live else None)


def _facts(run_id: str, panels: Sequence[PanelName], earlier: Sequence[Overlay], name: str) -> Json:
    overlays: dict[str, list[Any]] = {"loss": [], "accuracy": []}
    for index, other in enumerate(earlier):
        for panel, traces in overlay_traces(other.name, other.color, other.columns, index).items():
            for trace in traces:
                plain = json.loads(trace.to_json())
                overlays[panel].append(plain | {"meta": plain["meta"] | {"run": other.run}})
    return {
        "run": run_id, "name": name, "panels": list(panels), "titled": TITLED, "lines": LINES, "overlays": overlays,
        "help": TERMS[TITLED["stack"][1]].text,
    }  # fmt: skip


def _request(key: str, run: ReadableRun) -> str:
    """``<run id>/<mount>`` where the browser asked for polling of this run, else empty."""
    request = str((st.session_state.get(key) or {}).get("fallback") or "")
    return request if request.partition("/")[0] == run.id else ""


def _seconds_to_next(run: ReadableRun) -> float:
    """Seconds between two polls in the present state; when it changes, the page runs anew."""
    waits = run.state == "queued" and run.queue_position is not None
    return IDLE_POLL if waits or run.state == "paused" else POLL


def poll(run: ReadableRun, request: str, key: str) -> Payload:
    """The events since some polls ago; the browser skips those that it has. A new mount gets all events."""
    name, (polled, starts) = f"{key}.polled", st.session_state.get(f"{key}.polled", ("", deque()))
    if polled != request:
        starts = deque([0], OVERLAP)
        st.session_state[name] = (request, starts)
    payload, last = feed(run, starts[0])
    starts.append(last)
    return payload | {"request": request}


@st.cache_resource
def _top_panels() -> Any:
    return st.components.v2.component(
        "attention_lab_top_panels",
        html='<div class="board live"><div class="top-panels"></div></div>',
        css=(BASE / "base.css").read_text(encoding="utf-8") + (HERE / "live.css").read_text(encoding="utf-8"),
        js=joined(HERE / "script" / "top_panels.js") + "export default holdTopPanels\n",
    )


def top_panels(name: str) -> None:
    """Draw the top panels of that name, a place above a page's columns; the board that names it puts its picture of the model there."""
    _top_panels()(key=f"top-panels.{name}", data=[name])
