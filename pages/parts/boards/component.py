"""The component behind every board, and the scripts that a browser loads once: it draws panels on nodes that stay across reruns.

A message to a board repeats everything that the component itself is made of; so a kind of board's script is a file of its own, as is
Plotly's, which comes from the installed package, so that no other host is contacted.
"""

import gzip
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import streamlit as st
from plotly import __version__

FOLDER = "boards"
"""The scripts' folder in addresses, relative to the app."""
PLOTLY_ADDRESS = f"plotly-{__version__}.min.js"
"""The address of Plotly's script relative to the app; a new version has a new address."""
SHELL = Path(__file__).parent / "shell"
"""The scripts and the style that all boards share."""
ENTRY = "entry"
"""The shell's script that is the component; it loads the others."""
BEFORE, AFTER = ("dom", "figure", "downloads", "status", "panel", "painter"), ("shell",)
"""The shell's scripts in the order in which they use each other: those before a source's own, and those after."""

Plain = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """A kind of board: its scripts, of which one defines ``sourceOf(board)``, and its style, ``<name>.css``.

    With the scripts of the shell its own are one module, which exports ``draw(component)``; this returns a function to call when the board
    leaves the page.
    """

    name: str
    folder: Path
    scripts: tuple[str, ...]
    """Their names in the order in which they use each other."""

    @cached_property
    def plain(self) -> bytes:
        """The module."""
        shared = SHELL / "script"
        parts = (_joined(shared, BEFORE), _joined(self.folder / "script", self.scripts), _joined(shared, AFTER))
        return "".join(parts).encode()

    @cached_property
    def address(self) -> str:
        """The module's address relative to the app; another content has another address."""
        return f"{FOLDER}/{self.name}-{hashlib.sha256(self.plain).hexdigest()[:16]}.js"

    @cached_property
    def packed(self) -> bytes:
        return gzip.compress(self.plain)


@st.cache_resource
def _component(source: Source) -> Any:
    return st.components.v2.component(
        f"attention_lab_{source.name}",
        html=f'<div class="board {source.name}"></div>',
        css=_joined(SHELL, ("shell",), ".css") + _joined(source.folder, (source.name,), ".css"),
        js=_joined(SHELL / "script", (ENTRY,)),
    )


def _joined(folder: Path, names: tuple[str, ...], suffix: str = ".js") -> str:
    return "".join((folder / f"{name}{suffix}").read_text(encoding="utf-8") + "\n" for name in names)


def show_board(source: Source, key: str, data: Plain, **listeners: Callable[[], None]) -> Any:
    """Send plain data to the board of that key; the same nodes show them on each rerun.

    ``on_<name>_change`` is called before the rerun that the browser's message of that name causes. Without such a listener the
    message would not be kept; :func:`pages.parts.app.frame.nothing` is one that does no more.
    """
    # In a list: a dictionary would be searched for data frames, each time.
    return _component(source)(key=key, data=[data | {"script": source.address, "plotly": PLOTLY_ADDRESS}], **listeners)


def as_fragment(draw: Callable[[], None], every: float | None) -> None:
    """Draw a board now, and again ``every`` so many seconds; None for once. It is always a fragment: where only some reruns had one, the
    browser would mount the board anew."""
    st.fragment(draw, run_every=every)()


def plotly_script() -> bytes:
    return files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()


@cache
def packed_plotly() -> bytes:
    """The compressed script, made once a process; compressing takes longer than a first page should wait."""
    return gzip.compress(plotly_script(), compresslevel=6)
