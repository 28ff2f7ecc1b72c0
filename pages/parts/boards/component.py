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

from engine.foundation.provenance import stamp
from pages.parts.app.scripts import joined

FOLDER = "boards"
"""The scripts' folder in addresses, relative to the app."""
PLOTLY_ADDRESS = f"plotly-{__version__}.min.js"
"""The address of Plotly's script relative to the app; a new version has a new address."""
BASE = Path(__file__).parent / "base"
"""The scripts and the style that all boards share."""
ENTRY = BASE / "script" / "entry.js"
"""The script that is the component; it loads the others."""

Json = dict[str, Any]


@dataclass(frozen=True)
class BoardKind:
    """A kind of board: its style, ``<name>.css``, and its main script, which with all that it imports is sent as one module.

    The module exports ``draw(component)``, which returns a function to call when the board leaves the page.
    """

    name: str
    folder: Path
    main: str

    @cached_property
    def plain(self) -> bytes:
        """The module."""
        return (joined(self.folder / "script" / f"{self.main}.js") + "export { draw }\n").encode()

    @cached_property
    def address(self) -> str:
        """The module's address relative to the app; another content has another address."""
        return f"{FOLDER}/{self.name}-{hashlib.sha256(self.plain).hexdigest()[:16]}.js"

    @cached_property
    def packed(self) -> bytes:
        return gzip.compress(self.plain)


@st.cache_resource
def _component(source: BoardKind) -> Any:
    styles = (BASE / "base.css", source.folder / f"{source.name}.css")
    return st.components.v2.component(
        f"attention_lab_{source.name}",
        html=f'<div class="board {source.name}"></div>',
        css="\n".join(style.read_text(encoding="utf-8") for style in styles),
        js=joined(ENTRY),
    )


def show_board(source: BoardKind, key: str, data: Json, **listeners: Callable[[], None]) -> Any:
    """Send plain data to the board of that key; the same nodes show them on each rerun.

    ``on_<name>_change`` is called before the rerun that the browser's message of that name causes. Without such a listener the
    message would not be kept; :func:`pages.parts.app.frame.nothing` is one that does no more.
    """
    sent = {"script": source.address, "plotly": PLOTLY_ADDRESS, "stamp": stamp()}
    # In a list: a dictionary would be searched for data frames, each time.
    return _component(source)(key=key, data=[data | sent], **listeners)


def plotly_script() -> bytes:
    return files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()


@cache
def packed_plotly() -> bytes:
    """The compressed script, made once a process; compressing takes longer than a first page should wait."""
    return gzip.compress(plotly_script(), compresslevel=6)
