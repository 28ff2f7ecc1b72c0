"""The address of a notebook's page: which notebook, and which play of it is looked at. It never starts one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from engine.notebooks import NOTEBOOKS, Notebook
from engine.notebooks.players import PLAYERS
from engine.settings.errors import Problem
from pages.parts.app.address import write_link, written
from pages.parts.notebooks.plays import PLAYS, play_of

NOTEBOOK, PLAY = "notebook", "play"


@dataclass(frozen=True)
class Asked:
    notebook: Notebook | None
    play: str | None
    ignored: list[Problem]


def read(query: Mapping[str, str]) -> Asked:
    """What a query asks for, as far as it is allowed, and what was ignored."""
    ignored = [Problem(name, query[name], "a name this page knows") for name in query if name not in (NOTEBOOK, PLAY)]
    slug, play = query.get(NOTEBOOK), query.get(PLAY)
    notebook = NOTEBOOKS.get(slug) if slug is not None else None
    if slug is not None and notebook is None:
        ignored.append(Problem(NOTEBOOK, slug, "one of " + ", ".join(NOTEBOOKS)))
    if play is not None:
        found = PLAYERS.find(play)
        if found is None or found.notebook != notebook:
            ignored.append(Problem(PLAY, play, "one of this notebook that this server still holds"))
            play = None
    return Asked(notebook, play, ignored)


def open_address() -> Asked:
    """What the address asks for; the play of a link is looked at from now on."""
    query = st.query_params.to_dict()
    asked = read(query)
    if query == written("notebook"):
        return Asked(asked.notebook, None, [])
    if asked.notebook is not None and asked.play is not None:
        st.session_state.setdefault(PLAYS, {})[asked.notebook.slug] = asked.play
    return asked


def write_address(notebook: Notebook | None) -> None:
    """Keep the address a link to what is on the page."""
    query: dict[str, str] = {}
    if notebook is not None:
        query[NOTEBOOK] = notebook.slug
        if (play := play_of(notebook)) is not None:
            query[PLAY] = play.id
    write_link("notebook", query)
