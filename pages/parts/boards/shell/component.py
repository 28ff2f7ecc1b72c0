"""The component behind every board: it draws panels on nodes that stay across reruns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import streamlit as st

from pages.parts.boards.shell.script_file import ScriptFile
from pages.parts.charts.plotly_file import ADDRESS

HERE = Path(__file__).parent
ENTRY = "entry"
"""The shell's script that is the component; it loads the others."""
BEFORE, AFTER = ("dom", "figure", "downloads", "status", "panel", "painter"), ("shell",)
"""The shell's scripts in the order in which they use each other: those before a source's own, and those after."""

Plain = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """What a kind of board shows: its scripts, of which one defines ``sourceOf(board)``, and its style, ``<name>.css``."""

    name: str
    folder: Path
    scripts: tuple[str, ...]
    """Their names in the order in which they use each other; with those of the shell they are one module."""

    @cached_property
    def file(self) -> ScriptFile:
        """The module of the shell's scripts and the source's own."""
        shell = HERE / "script"
        parts = (_joined(shell, BEFORE), _joined(self.folder / "script", self.scripts), _joined(shell, AFTER))
        return ScriptFile(self.name, "".join(parts).encode())


@st.cache_resource
def _component(source: Source) -> Any:
    return st.components.v2.component(
        f"attention_lab_{source.name}",
        html=f'<div class="board {source.name}"></div>',
        css=_joined(HERE, ("shell",), ".css") + _joined(source.folder, (source.name,), ".css"),
        js=_joined(HERE / "script", (ENTRY,)),
    )


def _joined(folder: Path, names: tuple[str, ...], suffix: str = ".js") -> str:
    return "".join((folder / f"{name}{suffix}").read_text(encoding="utf-8") + "\n" for name in names)


def show(source: Source, key: str, data: Plain, **listeners: Callable[[], None]) -> Any:
    """Send plain data to the board of that key; the same nodes show them on each rerun.

    ``on_<name>_change`` is called before the rerun that the browser's message of that name causes. Without such a listener the
    message would not be kept; :func:`nothing` is one that does no more.
    """
    # In a list: a dictionary would be searched for data frames, each time.
    return _component(source)(key=key, data=[data | {"script": source.file.address, "plotly": ADDRESS}], **listeners)


def follow(draw: Callable[[], None], every: float | None) -> None:
    """Draw a board now, and again ``every`` so many seconds; None for once. It is always a fragment: where only some reruns had one, the
    browser would mount the board anew."""
    st.fragment(draw, run_every=every)()


def nothing() -> None:
    """A listener for messages that are only read from the session state."""
