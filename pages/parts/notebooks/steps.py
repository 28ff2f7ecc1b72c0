"""The steps of a notebook: text, code, and below the code its outputs (text, numbers beside the given ones, figures, an error)."""

from __future__ import annotations

import re
from itertools import groupby

import streamlit as st

from engine.notebooks import Notebook
from engine.notebooks.cells import Cell, Step
from engine.notebooks.player import Outcome, Play
from pages.parts.app.in_markdown import escaped
from pages.parts.boards.panels import panels
from pages.parts.charts.table import table
from pages.parts.notebooks.figures import panel_of
from pages.parts.notebooks.state import COLORS, ICONS, PLAYERS, StepState, run_to, state_badge, step_state

GIVEN = re.compile(r"^(?P<what>.+): given (?P<given>.+), here (?P<here>.+)$")
"""A line that compares a number with the given one."""
TICK = 0.5
"""Seconds between two checks of the running cell."""


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
        st.markdown(f"{state_badge(outcome.state)} {escaped(cell.asserts)}")


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


def show_introduction(notebook: Notebook) -> None:
    st.markdown(notebook.steps[0].cells[0].source)


def show_notebook_step(notebook: Notebook, step: Step, play: Play | None) -> None:
    st.header(f"{step.number}. {step.title}", anchor=anchor(step))
    if step.code and PLAYERS.allowed:
        show_state(notebook, step, play)
    for cell in step.cells:
        if cell.kind == "markdown":
            st.markdown(cell.source)
        else:
            st.code(cell.source, language="python", wrap_lines=True)
            _show_output(notebook, cell, play)


def show_state(notebook: Notebook, step: Step, play: Play | None) -> None:
    state: StepState = step_state(step, play)
    asked_for = play is not None and play.state != "ended" and play.until >= step.code[-1].number
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.badge(state, icon=ICONS[state], color=COLORS[state])
        st.button(
            "Run to here", key=f"notebooks.run.{notebook.slug}.{step.number}", icon=":material/play_arrow:", type="tertiary",
            disabled=asked_for, on_click=run_to, args=(notebook, step.code[-1].number),
        )  # fmt: skip


def anchor(step: Step) -> str:
    return f"step-{step.number}"


def _show_output(notebook: Notebook, cell: Cell, play: Play | None) -> None:
    outcome = play.outcomes.get(cell.number) if play else None
    if play is None or outcome is None:
        return
    if outcome.state == "running":
        st.fragment(_follow, run_every=TICK)(play, cell)
    else:
        show_outcome(cell, outcome, notebook.slug)


def _follow(play: Play, cell: Cell) -> None:
    """The text of the running cell as it is printed."""
    outcome = play.outcomes[cell.number]
    show_text(outcome.text)
    st.caption(f":material/hourglass_top: Running for {play.cell_seconds:.0f} s")
