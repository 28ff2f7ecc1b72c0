"""The address bar: a link's settings into the form, and the form's settings into the link."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from engine.config.link import from_query, to_query
from engine.config.presets import PRESETS
from engine.config.run_config import RunConfig, settings_for
from engine.runs.store import Run
from engine.settings.errors import Problem
from engine.settings.fields import to_text
from pages.parts.app.server import find
from pages.parts.lab.form import FORM, fill_form

RUN = "run"
PRESET = "preset"
VERSION_NAME = "v"
READ = "address"
"""Session key of the link that was read last; empty when the address bar has moved on."""


def read_address() -> tuple[str | None, list[Problem]]:
    """Once a link: fill the form from it; returns the run it names and what was ignored.

    The first address of a session is a link, and so is any later one that a page of this app wrote: those name a preset or
    the version, which the address bar of this page never does. A link never starts training. Settings in a link win
    over those of its preset, these over those of the run it names.
    """
    query = st.query_params.to_dict()
    link = urlencode(query) if VERSION_NAME in query or PRESET in query else ""
    # A click that overtakes the address bar arrives with the link once more: it has been read.
    if st.session_state.get(READ) == link or (not link and READ in st.session_state):
        st.session_state[READ] = link
        return None, []
    st.session_state[READ] = link
    run_id, preset = query.pop(RUN, None), query.pop(PRESET, None)
    problems: list[Problem] = []
    run = find(run_id) if run_id is not None else None
    base = to_query(run.config) if run is not None else {}
    if preset is not None and preset not in PRESETS:
        problems.append(Problem(PRESET, preset, "one of " + ", ".join(PRESETS)))
    elif preset is not None:
        base = to_query(PRESETS[preset].config)
    chosen = {**base, **query}
    known = {row.name for row in settings_for(chosen.get("task"), chosen.get("pos_encoding"))}
    # What the base set for a task or an encoding that the link replaces goes without saying.
    config, ignored = from_query({name: value for name, value in chosen.items() if name in known or name in query})
    if query or base or FORM not in st.session_state:
        fill_form(config)
    return run_id, problems + ignored


def write_address(asked: dict[str, object], run: Run | None) -> None:
    """Keep the address bar a link to what is on the page: the run, and settings away from their defaults or from it."""
    usual = [RunConfig().flat()] + ([run.config.flat()] if run is not None else [])
    query = {name: to_text(value) for name, value in asked.items() if any(u.get(name, ...) != value for u in usual)}
    if run is not None:
        query[RUN] = run.id
    if st.query_params.to_dict() != query:
        st.query_params.from_dict(query)


def share_link(config: RunConfig, run_id: str | None) -> str:
    """The full link: every setting and the version, so that later defaults change nothing."""
    query = to_query(config)
    if run_id is not None:
        query[RUN] = run_id
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(query)}"
