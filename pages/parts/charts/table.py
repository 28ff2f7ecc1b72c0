"""Tables as Markdown. Streamlit's own would import pandas: 60 MB in the page's process and, in the second that it takes, an
error in every figure that somebody else's page draws, since Plotly meets a half imported module.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

LINE, TALLEST = 39, 720
"""Pixels: a line of a table, and the tallest table shown whole."""
TABLE = "table-frame"
"""The frame's key. Its lines are one line high: wrapped ones would leave a phone a single row to see."""
STYLE = f"<style>.st-key-{TABLE} :is(th, td) {{ white-space: nowrap }}</style>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Every column but the first is aligned to the right."""
    line = "|" + "|".join(["---", *["---:"] * (len(head) - 1)]) + "|"
    return "\n".join(["|" + "|".join(head) + "|", line, *("|" + "|".join(row) + "|" for row in rows)])


def show_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table in a frame of its own: what is too wide for a phone, or too long, scrolls there."""
    st.html(STYLE)
    with st.container(height=min(TALLEST, LINE * (len(rows) + 1) + 24), border=False, key=TABLE):
        st.markdown(table(head, rows))
