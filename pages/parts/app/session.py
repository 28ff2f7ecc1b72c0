"""The state of one tab: the shown run, the shelf of its runs, and that what is drawn fits what runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

import streamlit as st

from engine.runs.run import Run
from pages.parts.app import server

SHOWN = "run"
SHELF = "shelf"
MAX_KEPT = 6
"""The number of runs on the shelf; beyond it the oldest that is not pinned goes."""


@dataclass
class Shelf:
    """The runs of one tab, the oldest first, and what was chosen for each."""

    runs: list[str] = field(default_factory=list)
    pinned: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    beside: str = ""
    """The run whose attention stands beside that of the shown one; empty for none."""

    def turn(self, what: Literal["pinned", "hidden"], run_id: str) -> None:
        """Choose it for the run, or no longer."""
        chosen = self.pinned if what == "pinned" else self.hidden
        chosen.symmetric_difference_update({run_id})

    def put_beside(self, run_id: str) -> None:
        self.beside = run_id

    def add(self, run_id: str) -> None:
        """Add a run. Where there are too many, the oldest that is neither pinned nor this one goes."""
        if run_id not in self.runs:
            self.runs.append(run_id)
        while len(self.runs) > MAX_KEPT:
            oldest = next((one for one in self.runs[:-1] if one not in self.pinned), self.runs[0])
            self.remove(oldest)

    def remove(self, run_id: str) -> None:
        """Take a run off the shelf; it is not deleted."""
        self.runs = [other for other in self.runs if other != run_id]
        self.pinned.discard(run_id)
        self.hidden.discard(run_id)
        if self.beside == run_id:
            self.beside = ""


def run_shelf() -> Shelf:
    shelf: Shelf = st.session_state.setdefault(SHELF, Shelf())
    return shelf


def shown_run() -> Run | None:
    run_id = st.session_state.get(SHOWN)
    return server.find(run_id) if run_id else None


def show_run(run_id: str) -> None:
    """Show a run and put it on the shelf."""
    st.session_state[SHOWN] = run_id
    run_shelf().add(run_id)


def leave_run() -> None:
    """Show no run, as before the first; the one that was shown stays on the shelf."""
    st.session_state.pop(SHOWN, None)


def kept_runs() -> list[Run]:
    """The runs on the shelf, the latest first, without those that are gone or never started."""
    found = [server.find(run_id) for run_id in reversed(run_shelf().runs)]
    return [run for run in found if run is not None and (run.events or run.id == st.session_state.get(SHOWN))]


def forget_run(run_id: str) -> None:
    """A run was deleted: this tab shows it no more."""
    if st.session_state.get(SHOWN) == run_id:
        del st.session_state[SHOWN]
    run_shelf().remove(run_id)


@contextmanager
def in_step_with(state: Callable[[], object]) -> Iterator[None]:
    """Rerun the script where the state of what runs has changed while the page was drawn, so that the buttons match."""
    before = state()
    yield
    if state() != before:
        st.rerun()
