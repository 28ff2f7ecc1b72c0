"""The text page's link: what is chosen, and the run that is looked at. It never starts one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from engine.config.text_recipe import CHOSEN, TASK, text_config
from engine.settings.errors import ConfigError, Problem
from engine.settings.fields import to_text
from engine.text import own
from pages.parts.app.address import take_link, write_link
from pages.parts.app.server import find
from pages.parts.text.form import PLAYS, RUN, default_values, fill_form, form_values
from pages.parts.text.own_text import show_which

RUN_NAME = "run"


@dataclass
class Asked:
    """What a query asks for, as far as it is allowed, and what was ignored."""

    values: dict[str, Any] = field(default_factory=dict)
    run: str | None = None
    ignored: list[Problem] = field(default_factory=list)


def read(query: Mapping[str, str]) -> Asked:
    """Settings in a link win over those of the run it names."""
    asked = Asked()
    if RUN_NAME in query:
        _read_run(query[RUN_NAME], asked)
    for name, given in query.items():
        if name in CHOSEN:
            _read_setting(name, given, asked)
        elif name != RUN_NAME:
            asked.ignored.append(Problem(name, given, f"one of {', '.join(CHOSEN)} or {RUN_NAME}"))
    return asked


def _read_run(run_id: str, asked: Asked) -> None:
    run = find(run_id)
    if run is None:
        asked.ignored.append(Problem(RUN_NAME, run_id, "the name of a run that is kept here"))
    elif run.config.task != TASK:
        asked.ignored.append(Problem(RUN_NAME, run_id, f"a run of task {TASK}; this one is of {run.config.task}"))
    else:
        asked.run = run.id
        asked.values = {name: run.config.value(name) for name in CHOSEN}


def _read_setting(name: str, given: str, asked: Asked) -> None:
    try:
        value = text_config(**{name: given}).value(name)
        if name == "text" and value != PLAYS:
            own.read(value)  # named here, not where it would be trained on
    except ConfigError as error:
        asked.ignored += error.problems
    except ValueError:
        asked.ignored.append(Problem(name, given, f"{PLAYS}, or the name of a text of your own that is kept here"))
    else:
        asked.values[name] = value


def open_address() -> list[Problem]:
    """Take a link at its word once; returns what in it was ignored."""
    query = take_link("text.address")
    if not query:
        return []
    asked = read(query)
    fill_form(default_values() | asked.values)
    show_which("plays" if form_values()["text"] == PLAYS else "own")
    st.session_state[RUN] = asked.run
    return asked.ignored


def address() -> dict[str, str]:
    """The query of what is on the page; what is as by default is left out unless the run has it otherwise."""
    values, run = form_values(), find(st.session_state.get(RUN) or "")
    usual = [default_values(), *([run.config.flat()] if run is not None else [])]
    query = {name: to_text(value) for name, value in values.items() if any(u[name] != value for u in usual)}
    return query | ({RUN_NAME: run.id} if run is not None else {})


def write_address() -> None:
    write_link("text.address", address())


def share_link() -> str:
    """Every choice stated, so that later defaults change nothing."""
    query = {name: to_text(value) for name, value in form_values().items()} | address()
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(query)}"
