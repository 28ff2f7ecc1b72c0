"""Which notebook is read, and which play of it: a link names both and never starts a play; and the state of its steps."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import streamlit as st

from engine.notebooks import NOTEBOOKS, Notebook
from engine.notebooks.cells import NotebookStep
from engine.notebooks.player import Play
from engine.notebooks.players import Players
from engine.settings.errors import ConfigError, Problem
from pages.parts.app import server
from pages.parts.app.in_markdown import refused_in_words
from pages.parts.app.page_state import ModelSettings, PageState, one_of
from pages.parts.app.visitor import mine, visitor

PLAYERS = Players(lambda: server.pool().allowances)
"""The one registry of this process."""
PLAYS = "notebooks.plays"
"""Session key: the play's id by the notebook's slug."""

StepState = Literal["not run", "running", "passed", "failed", "stopped"]
STATES: dict[StepState, tuple[str, Literal["gray", "blue", "green", "red", "orange"]]] = {
    "not run": (":material/radio_button_unchecked:", "gray"),
    "running": (":material/hourglass_top:", "blue"),
    "passed": (":material/check_circle:", "green"),
    "failed": (":material/cancel:", "red"),
    "stopped": (":material/stop_circle:", "orange"),
}
"""The icon and the colour of each state."""
PAGE, NOTEBOOK_PAGE = "notebooks.py", "notebook.py"


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


def step_state(step: NotebookStep, play: Play | None) -> StepState:
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


def state_badge(state: StepState) -> str:
    """A state as a coloured icon in Markdown."""
    icon, color = STATES[state]
    return f":{color}[{icon}]"


class NotebookState(PageState):
    """The slug of a notebook and the id of a play."""

    notebook: Annotated[str | None, one_of(NOTEBOOKS)] = None
    play: str | None = None

    def check(self) -> None:
        """Raises ConfigError where the play is not one of this notebook."""
        found = PLAYERS.find(self.play) if self.play is not None else None
        if self.play is not None and (found is None or found.notebook.slug != self.notebook):
            raise ConfigError([Problem("play", self.play, "a play of this notebook that this server still holds")])


class NotebookSettings(ModelSettings[NotebookState]):
    """Of each notebook the page shows the play that was seen last."""

    def fill(self, values: Mapping[str, Any]) -> None:
        super().fill(values)
        if values["play"] is not None:
            st.session_state.setdefault(PLAYS, {})[values["notebook"]] = values["play"]

    def asked_for(self) -> dict[str, Any]:
        notebook = self.notebook()
        play = play_of(notebook) if notebook is not None else None
        return {**self.values(), "play": play.id if play is not None else None}

    def notebook(self) -> Notebook | None:
        return NOTEBOOKS.get(self.values()["notebook"])


SETTINGS = NotebookSettings("notebook", NotebookState)
OVERVIEW = ModelSettings("notebooks", PageState)
"""Nothing is set in the overview."""
