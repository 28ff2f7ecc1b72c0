"""An SVG drawing in the colours of the page: Streamlit's own elements either drop SVG or isolate it from the theme."""

from __future__ import annotations

from typing import Any

import streamlit as st

SCRIPT = """
export default function ({ data: [drawing], parentElement }) {
  parentElement.querySelector(".drawing").innerHTML = drawing
}
"""
STYLE = ".drawing { color: var(--st-text-color); font-family: var(--st-font); }"


@st.cache_resource
def _component() -> Any:
    return st.components.v2.component("attention_lab_drawing", html='<div class="drawing"></div>', css=STYLE, js=SCRIPT)


def show_drawing(svg: str, key: str) -> None:
    """Put ``svg`` into the page unchanged: names in it must be escaped already."""
    _component()(key=key, data=[svg])
