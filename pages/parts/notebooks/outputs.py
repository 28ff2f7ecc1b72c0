"""The outputs of a cell: its text, numbers beside the given ones, its figures, or its error."""

from __future__ import annotations

import re
from itertools import groupby

import streamlit as st

from engine.notebooks.cells import Cell
from engine.notebooks.player import Outcome
from pages.parts.app.in_markdown import escaped
from pages.parts.boards.panels import panels
from pages.parts.charts.table import table
from pages.parts.notebooks.figures import panel_of
from pages.parts.notebooks.plays import badge

GIVEN = re.compile(r"^(?P<what>.+): given (?P<given>.+), here (?P<here>.+)$")
"""A line that compares a number with the given one."""


def show_outcome(cell: Cell, outcome: Outcome, name: str) -> None:
    """Show the outputs of a cell. ``name`` is a part of the names of downloads."""
    show_text(outcome.text)
    if outcome.figures:
        panels(
            [panel_of(drawn, f"cell-{cell.number}.{place}") for place, drawn in enumerate(outcome.figures)],
            key=f"notebooks.board.{name}.{cell.number}",
            name=name,
        )
    if outcome.state == "failed":
        where = f"Line {outcome.line}. " if outcome.line else ""
        st.error(f"{where}{outcome.error}", icon=":material/cancel:")
    if cell.asserts:
        st.markdown(f"{badge(outcome.state)} {escaped(cell.asserts)}")


def show_text(text: str) -> None:
    """Printed lines as they are; lines that compare with a given number as a table."""
    for compares, lines in groupby(
        text.rstrip("\n").split("\n") if text.strip() else [], lambda line: bool(GIVEN.match(line))
    ):
        if compares:
            st.markdown(given_table(list(lines)))
        else:
            st.code("\n".join(lines), language=None, wrap_lines=True)


def given_table(lines: list[str]) -> str:
    """A Markdown table of given numbers and the numbers of this play."""
    rows = [found.groupdict() for line in lines if (found := GIVEN.match(line))]
    return table(
        ["", "given", "here"], [[row["what"].capitalize(), row["given"], f"**{row['here']}**"] for row in rows]
    )
