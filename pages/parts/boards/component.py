"""The component behind every board: it draws panels on nodes that stay across reruns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.charts.plotly_file import ADDRESS

HERE = Path(__file__).parent
SCRIPTS = ("dom", "figure", "downloads", "panel", "panels")
"""The scripts in the order in which they use each other; together they are one module."""
STYLES = ("plotly", "menu", "panels")
SHARED_SCRIPTS, SHARED_STYLES = SCRIPTS[:3], STYLES[:2]
"""The scripts and styles that the live board uses, too."""
NOTHING_TO_FOLLOW = {"state": "none", "share": 1.0, "words": "", "problem": ""}

Plain = dict[str, Any]


def joined(folder: Path, names: tuple[str, ...], suffix: str) -> str:
    return "\n".join((folder / f"{name}{suffix}").read_text(encoding="utf-8") for name in names)


@st.cache_resource
def _component() -> Any:
    return st.components.v2.component(
        "attention_lab_panels",
        html='<div class="figures"></div>',
        css=joined(HERE, STYLES, ".css"),
        js=joined(HERE / "script", SCRIPTS, ".js"),
    )


def mount(
    key: str,
    subject: str,
    version: str,
    sections: list[Plain],
    *,
    name: str = "",
    status: Plain | None = None,
    on_picked: Callable[[], None] | None = None,
) -> Any:
    """Send the sections to the board of that key: id, title, note, width, table, and panels as plain data.

    Figures keep zoom and legend as long as the ``subject`` is the same; nothing is redrawn while the ``version`` is.
    ``name`` is a part of the names of downloads.
    """
    told = {"subject": subject, "version": version, "sections": sections, "plotly": ADDRESS, "name": name}
    # In a list: a dictionary would be searched for data frames, each time.
    data = [told | {"status": status or NOTHING_TO_FOLLOW}]
    return _component()(key=key, data=data, on_picked_change=on_picked or _nothing)


def _nothing() -> None:
    """A placeholder callback: the picked point is read from the session state."""
