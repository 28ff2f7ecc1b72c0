"""What one visitor's session knows: who it is, which run is shown, which runs came before."""

from __future__ import annotations

import secrets

import streamlit as st

from engine.config.run_config import RunConfig, changes_between
from engine.runs.store import Run
from engine.settings.fields import Setting, to_text
from pages.parts import server

SHOWN = "run"
HISTORY = "history"
KEPT = 5
"""Earlier runs that are laid over the present one."""


def session_id() -> str:
    """An unguessable name by which the pool counts this visitor's runs."""
    name: str = st.session_state.setdefault("session", secrets.token_urlsafe(9))
    return name


def shown_run() -> Run | None:
    run_id = st.session_state.get(SHOWN)
    return server.find(run_id) if run_id else None


def show_run(run_id: str) -> None:
    """Show a run and put it at the end of the history."""
    st.session_state[SHOWN] = run_id
    history: list[str] = st.session_state.setdefault(HISTORY, [])
    if run_id not in history:
        st.session_state[HISTORY] = [*history, run_id][-(KEPT + 1) :]


def earlier_runs() -> list[Run]:
    """The runs before the one shown, the latest first; those that were never started are left out."""
    found = [server.find(run_id) for run_id in reversed(st.session_state.get(HISTORY, []))]
    return [run for run in found if run is not None and run.id != st.session_state.get(SHOWN) and run.events]


def difference(before: RunConfig, after: RunConfig) -> str:
    """What differs, in words: "Depth 1 → 2, Heads 1 → 4"; the parameters of a new choice go without saying."""
    old, parts = before.flat(), []
    for row, was, now in changes_between(before, after):
        if row.name in old:
            parts.append(f"{row.label} {_shown(row, was)} → {_shown(row, now)}")
    return ", ".join(parts)


def named_by_difference(earlier: RunConfig, present: RunConfig) -> str:
    """An earlier run by what it has that the present one has not: "Depth 1, Heads 1"."""
    now = present.flat()
    rows = [(row, value) for row, _, value in changes_between(present, earlier) if row.name in now]
    return ", ".join(f"{row.label} {_shown(row, value)}" for row, value in rows) or "the same settings"


def _shown(row: Setting, value: object) -> str:
    return row.label_of(to_text(value)) if row.kind == "choice" else to_text(value)
