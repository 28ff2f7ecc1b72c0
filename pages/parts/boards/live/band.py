"""A band: a place above a page's columns, into which the live board puts some of its panels (``board.ABOVE``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

HERE = Path(__file__).parent
SHELL = HERE.parent / "shell" / "shell.css"
SCRIPT = """
export default function ({ data: [name], parentElement }) {
  bands.set(name, parentElement.querySelector(".band"))
  bandsChanged.forEach((place) => place())
  return () => bands.delete(name)
}
"""


@st.cache_resource
def _component() -> Any:
    return st.components.v2.component(
        "attention_lab_band",
        html='<div class="board live"><div class="band"></div></div>',
        css=SHELL.read_text(encoding="utf-8") + (HERE / "live.css").read_text(encoding="utf-8"),
        js=(HERE / "script" / "band.js").read_text(encoding="utf-8") + SCRIPT,
    )


def band(name: str) -> None:
    """Draw the band of that name; the board that names it fills it."""
    _component()(key=f"band.{name}", data=[name])
