"""The steps of a notebook: text, code, and below the code its outputs."""

from __future__ import annotations

import streamlit as st

from engine.notebooks import Notebook
from engine.notebooks.cells import Cell, Step
from engine.notebooks.player import Play
from pages.parts.notebooks.outputs import show_outcome, show_text
from pages.parts.notebooks.plays import COLORS, ICONS, PLAYERS, StepState, run_to, step_state

TICK = 0.5
"""Seconds between two checks of the running cell."""


def show_introduction(notebook: Notebook) -> None:
    st.markdown(notebook.steps[0].cells[0].source)


def show_step(notebook: Notebook, step: Step, play: Play | None) -> None:
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
