"""The page's address: its settings, and the measurement looked at. A link never starts one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.settings.errors import Problem
from engine.settings.fields import to_text
from engine.sweeps.plan import Plan, checked, leniently, read_plan
from pages.parts.app.address import take_link, write_link
from pages.parts.memory_and_time.form import FORM, defaults, fill, values
from pages.parts.memory_and_time.sweeps import result_of
from pages.parts.memory_and_time.view import View

SWEEP = "sweep"
SHOWN = "costs.sweep"
"""Session key of the measurement that is looked at."""


def read(query: Mapping[str, str]) -> tuple[dict[str, Any], str | None, list[Problem]]:
    """The settings that a query asks for, the measurement, and what was ignored."""
    plan, wrong_plan = leniently({k: v for k, v in query.items() if k in Plan.model_fields}, read_plan)
    view, wrong_view = leniently(
        {k: v for k, v in query.items() if k in View.model_fields}, lambda flat: checked(View, flat)
    )
    ignored = [*wrong_plan, *wrong_view]
    sweep = query.get(SWEEP)
    if sweep is not None and result_of(sweep) is None:
        ignored.append(Problem(SWEEP, sweep, "a measurement that is kept here"))
        sweep = None
    known = {SWEEP, *defaults()}
    ignored += [Problem(name, value, "a name this page knows") for name, value in query.items() if name not in known]
    return {**plan.model_dump(), **view.model_dump()}, sweep, ignored


def open_address() -> list[Problem]:
    """A link is taken at its word once; then the page decides. Returns what was ignored."""
    query = take_link("costs")
    if query is None or (not query and FORM in st.session_state):
        return []
    settings, sweep, ignored = read(query)
    fill(settings)
    st.session_state[SHOWN] = sweep
    found = result_of(sweep) if sweep else None
    if found is not None and not query.keys() & Plan.model_fields.keys():
        fill({**settings, **found.plan.model_dump()})  # the link names only the measurement: its settings go with it
    return ignored


def write_address() -> None:
    """Keep the address a link to what is on the page; what is as by default is left out."""
    usual = defaults()
    query = {name: to_text(value) for name, value in values().items() if value != usual[name]}
    if name := st.session_state.get(SHOWN):
        query[SWEEP] = name
    write_link("costs", query)
