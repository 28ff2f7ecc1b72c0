"""The component behind every board, and the scripts that a browser loads once: it draws panels on nodes that survive
reruns.

Each message to a board repeats the component's own source; so the script of a kind of board is a separate file, as is
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

FOLDER = "boards"  # of the scripts in addresses, relative to the app
PLOTLY_ADDRESS = f"plotly-{__version__}.min.js"  # relative to the app; a new version has a new address
BASE = Path(__file__).parent / "base"
ENTRY = BASE / "script" / "entry.js"  # the component's script, which loads the others

Json = dict[str, Any]


@dataclass(frozen=True)
class BoardKind:
    """A kind of board: its style, ``<name>.css``, and its main script, which is sent with all its imports as one
    module.

    The module exports ``draw(component)``, which returns a function to call when the board leaves the page.
    """

    name: str
    folder: Path
    main: str

    @cached_property
    def plain(self) -> bytes:
        return (joined(self.folder / "script" / f"{self.main}.js") + "export { draw }\n").encode()

    @cached_property
    def address(self) -> str:
        """Relative to the app; another content has another address."""
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
    """Send JSON to the board of that key; its nodes survive reruns.

    ``on_<name>_change`` is called before the rerun that a browser's message of that name causes. Without such a
    listener Streamlit discards the message; :func:`pages.parts.app.frame.nothing` is a listener that does nothing.
    """
    addresses = {"script": source.address, "plotly": PLOTLY_ADDRESS, "stamp": stamp()}
    # In a list: Streamlit would search a dictionary for data frames, each time.
    return _component(source)(key=key, data=[data | addresses], **listeners)


def plotly_script() -> bytes:
    return files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()


@cache  # compressing takes longer than a first page should wait
def packed_plotly() -> bytes:
    return gzip.compress(plotly_script(), compresslevel=6)
