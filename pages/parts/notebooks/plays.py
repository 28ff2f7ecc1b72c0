"""The play of each notebook that this visitor sees, and the state of its steps."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from engine.notebooks import Notebook
from engine.notebooks.cells import Step
from engine.notebooks.player import Play
from engine.notebooks.players import Players
from pages.parts.app import server
from pages.parts.app.in_markdown import refused_in_words
from pages.parts.app.visitor import mine, visitor

PLAYERS = Players(lambda: server.pool().allowances)
"""The one registry of this process."""
PLAYS = "notebooks.plays"
"""Session key: the play's id by the notebook's slug."""

StepState = Literal["not run", "running", "passed", "failed", "stopped"]
ICONS: dict[StepState, str] = {
    "not run": ":material/radio_button_unchecked:",
    "running": ":material/hourglass_top:",
    "passed": ":material/check_circle:",
    "failed": ":material/cancel:",
    "stopped": ":material/stop_circle:",
}
COLORS: dict[StepState, Literal["gray", "blue", "green", "red", "orange"]] = {
    "not run": "gray",
    "running": "blue",
    "passed": "green",
    "failed": "red",
    "stopped": "orange",
}


def play_of(notebook: Notebook) -> Play | None:
    """The visitor's play of a notebook, running or ended, while the server still holds it."""
    name = st.session_state.setdefault(PLAYS, {}).get(notebook.slug)
    return PLAYERS.find(name) if name else None


def run_to(notebook: Notebook, cell: int) -> None:
    """Continue to this cell, or start again where the last play has ended or is somebody else's."""
    play = play_of(notebook)
    with refused_in_words():
        if play is None or play.state == "ended" or not mine(play.owner):
            play = PLAYERS.begin(notebook, visitor())
            st.session_state[PLAYS][notebook.slug] = play.id
        play.go(cell)


def stop(notebook: Notebook) -> None:
    """End the visitor's play; the outputs stay. Somebody else's, which a link shows, goes on."""
    if (play := play_of(notebook)) is not None and mine(play.owner):
        play.stop()


def forget(notebook: Notebook) -> None:
    """Discard the outputs; the next play starts from the first step. Somebody else's play goes on."""
    stop(notebook)
    st.session_state[PLAYS].pop(notebook.slug, None)


def step_state(step: Step, play: Play | None) -> StepState:
    """The state of a step; "running" also between two cells, while the play continues past its last."""
    outcomes = play.outcomes if play else {}
    states = [outcomes[cell.number].state for cell in step.code if cell.number in outcomes]
    for state in ("failed", "stopped", "running"):
        if state in states:
            return state
    if states and len(states) == len(step.code):
        return "passed"
    on_its_way = play is not None and play.state == "running" and play.until >= step.code[-1].number
    return "running" if states and on_its_way else "not run"


def badge(state: StepState) -> str:
    """A state as a coloured icon in Markdown."""
    return f":{COLORS[state]}[{ICONS[state]}]"
