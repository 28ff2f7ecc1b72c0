"""The state of one tab: the shown run, and earlier runs."""

from __future__ import annotations

import streamlit as st

from engine.runs.run import Run
from pages.parts.app import server

SHOWN = "run"
HISTORY = "history"
MAX_KEPT = 5
"""The number of earlier runs that are drawn behind the shown one."""


def shown_run() -> Run | None:
    run_id = st.session_state.get(SHOWN)
    return server.find(run_id) if run_id else None


def show_run(run_id: str) -> None:
    """Show a run and append it to the history."""
    st.session_state[SHOWN] = run_id
    history: list[str] = st.session_state.setdefault(HISTORY, [])
    if run_id not in history:
        st.session_state[HISTORY] = [*history, run_id][-(MAX_KEPT + 1) :]


def earlier_runs() -> list[Run]:
    """The runs before the shown one, the latest first, without those that never started."""
    found = [server.find(run_id) for run_id in reversed(st.session_state.get(HISTORY, []))]
    return [run for run in found if run is not None and run.id != st.session_state.get(SHOWN) and run.events]


def forget_run(run_id: str) -> None:
    """A run was deleted: this tab shows it no more."""
    if st.session_state.get(SHOWN) == run_id:
        del st.session_state[SHOWN]
    st.session_state[HISTORY] = [other for other in st.session_state.get(HISTORY, []) if other != run_id]
