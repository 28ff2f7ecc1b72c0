"""A board of figures from the page, each with its title, its text, and axes that it shares with others."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from pages.parts.app.frame import nothing
from pages.parts.boards.component import BoardKind, Json, show_board

FIGURES = BoardKind("figures", Path(__file__).parent / "figures", "figures")
NOTHING_TO_FOLLOW: Json = {"state": "none", "share": 1.0, "words": "", "problem": ""}


@dataclass(frozen=True)
class Panel:
    """One figure on a board. ``id`` (letters, digits, dots, dashes) names its node; the part before the dot its kind."""

    id: str
    title: str
    figure: go.Figure
    alt: str  # the figure in words and numbers, for screen readers
    height: int = 280  # pixels
    note: str = ""  # lines under the title
    below: str = ""  # a line under the figure
    wide: bool = False
    link: str | tuple[str, str] = ""
    """The names of its columns and rows, or one name for both: figures with a common name highlight together."""
    picks: bool = False  # the page gets each click or Enter on the figure
    term: str = ""  # of the glossary


@dataclass(frozen=True)
class Pick:
    panel: str
    x: float | str
    y: float | str


def panels(
    items: Sequence[Panel],
    *,
    key: str,
    name: str,
    subject: str = "",
    least: int = 320,
    level: int = 3,
    on_pick: Callable[[Pick], None] | None = None,
) -> None:
    """Show the figures, or update them on the same nodes.

    ``level``: of the figures' headings, 2 directly below the page's title, 3 below a heading. ``on_pick`` is called
    before the script is rerun, so that widgets above the board can follow. ``least``: smallest width of a panel in
    pixels. Figures keep zoom and legend while the ``subject`` is the same. ``name``: part of the names of downloads.
    """
    panels = [panel_json(item) for item in items]
    version = f"{hash(json.dumps(panels)):x}"
    section = {"id": key, "title": "", "note": "", "width": least, "panels": panels}

    def send_pick() -> None:
        if on_pick is not None and (picked := pick_in(st.session_state.get(key))) is not None:
            on_pick(picked)

    mount(key, subject or key, version, [section], name=name, level=level, on_pick=send_pick)


def mount(
    key: str,
    subject: str,
    version: str,
    sections: list[Json],
    *,
    name: str = "",
    level: int = 3,
    status: Json | None = None,
    on_pick: Callable[[], None] = nothing,
) -> Any:
    """Send the sections to the board of that key: id, title, note, width, and panels as JSON.

    Figures keep zoom and legend while the ``subject`` is the same; nothing is redrawn while the ``version`` is.
    ``name``: part of the names of downloads. ``level``: of the highest headings, of sections or, if a section has no
    title, of its panels.
    """
    data = {"subject": subject, "version": version, "sections": sections, "name": name, "level": level}
    return show_board(FIGURES, key, data | {"status": status or NOTHING_TO_FOLLOW}, on_picked_change=on_pick)


def panel_json(item: Panel) -> Json:
    both = [f"{item.link} column", f"{item.link} row"] if item.link else ["", ""]
    figure = json.loads(item.figure.to_json(remove_uids=False))
    figure["layout"].pop("template", None)
    return {
        "id": item.id, "title": item.title, "alt": item.alt, "height": item.height, "lines": item.note.splitlines(),
        "words": item.below, "wide": item.wide, "link": both if isinstance(item.link, str) else list(item.link),
        "picks": item.picks, "term": item.term, "figure": figure,
    }  # fmt: skip


def pick_in(message: Mapping[str, Any] | None) -> Pick | None:
    """Return the pick in the browser's message, which a listener finds in the session by the board's key, or None."""
    index = (message or {}).get("picked")
    if not isinstance(index, dict) or not {"panel", "x", "y"} <= index.keys():
        return None
    return Pick(str(index["panel"]), index["x"], index["y"])
