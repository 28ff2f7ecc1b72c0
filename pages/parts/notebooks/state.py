"""Which notebook is read, and which play of it. A link names both and never starts a play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st
from pydantic import field_validator
from pydantic_core import PydanticCustomError

from engine.notebooks import NOTEBOOKS, Notebook
from engine.settings.errors import ConfigError, Problem
from pages.parts.app.page_state import ModelSettings, PageState
from pages.parts.notebooks.plays import PLAYERS, PLAYS, play_of

PAGE, NOTEBOOK_PAGE = "notebooks.py", "notebook.py"


class NotebookState(PageState):
    """The slug of a notebook and the id of a play."""

    notebook: str | None = None
    play: str | None = None

    @field_validator("notebook")
    @classmethod
    def _known(cls, slug: str | None) -> str | None:
        if slug is not None and slug not in NOTEBOOKS:
            raise PydanticCustomError("choice", "one of {names}", {"names": ", ".join(NOTEBOOKS)})
        return slug


def _held(state: NotebookState) -> None:
    """Raises ConfigError where the play is not one of this notebook."""
    found = PLAYERS.find(state.play) if state.play is not None else None
    if state.play is not None and (found is None or found.notebook.slug != state.notebook):
        raise ConfigError([Problem("play", state.play, "one of this notebook that this server still holds")])


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


SETTINGS = NotebookSettings("notebook", NotebookState, _held)
OVERVIEW = ModelSettings("notebooks", PageState, moved={"notebook": NOTEBOOK_PAGE})
"""Nothing is set in the overview. Each notebook once was shown there, by the link that its own page reads now."""
