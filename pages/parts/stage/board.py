"""The board of an experiment: one component that draws results as they come in, without rerunning the script."""

from __future__ import annotations

import streamlit as st

from engine.experiments.running import ExperimentRun
from pages.parts.boards.panels import mount
from pages.parts.stage.panels import sections, status
from pages.parts.stage.plain import Plain, remembering
from pages.parts.stage.shown import Shown, of_run

POLL = 0.5
"""Seconds between two checks of an experiment."""


def experiment_board(name: str, run: ExperimentRun, *, curve: str = "loss", key: str = "evidence") -> None:
    """Follow the run of an experiment until it ends; then the script is rerun once."""
    running = run.state == "running"

    def draw() -> None:
        shown = of_run(run)
        _mount(key, name, shown, curve)
        if running and shown.state != "running":
            st.rerun()

    # Always a fragment, also when it need not be repeated: the browser would otherwise mount the board anew.
    st.fragment(draw, run_every=POLL if running else None)()


def kept_board(name: str, shown: Shown, *, curve: str = "loss", key: str = "evidence") -> None:
    """Show stored evidence."""
    st.fragment(lambda: _mount(key, name, shown, curve))()


def _mount(key: str, name: str, shown: Shown, curve: str) -> None:
    version, drawn = _drawn(name, shown, curve)
    mount(key, name, version, drawn, name=shown.experiment.slug, status=status(shown))


def _drawn(name: str, shown: Shown, curve: str) -> tuple[str, list[Plain]]:
    """Version and sections: the previous ones where nothing has changed; unchanged figures are reused."""
    last = st.session_state.get("stage.payload")
    stamp = (name, curve, shown.stamp)
    if last is None or last[0] != stamp:
        figures = last[2] if last is not None and last[0][0] == name else {}
        last = (stamp, sections(shown, curve, remembering(figures)), figures)
        st.session_state["stage.payload"] = last
    return str(hash(stamp)), last[1]
