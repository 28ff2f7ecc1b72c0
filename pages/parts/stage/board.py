"""The board of an experiment: one component that draws results as they come in, without rerunning the script."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import streamlit as st

from engine.experiments.running.experiment_run import ExperimentRun
from pages.parts.boards.panels import mount
from pages.parts.boards.shell.component import nothing
from pages.parts.stage.panels import status
from pages.parts.stage.plain import Plain, Remember, remembering
from pages.parts.stage.shown import Shown, of_run

POLL = 0.5
"""Seconds between two checks of an experiment."""


@dataclass(frozen=True)
class Drawing:
    """What a board draws of an experiment."""

    key: str
    """The name of the board on its page."""
    sections: Callable[[Shown, Remember], list[Plain]]
    depends_on: Hashable = None
    """What the sections depend on beside the experiment, such as the curve that the reader has chosen."""
    on_picked: Callable[[], None] = nothing
    """Called before the rerun that a click or a drag in a figure causes."""


def experiment_board(drawing: Drawing, name: str, run: ExperimentRun) -> None:
    """Follow the run of an experiment until it ends; then the script is rerun once."""
    running = run.state == "running"

    def draw() -> None:
        shown = of_run(run)
        _mount(drawing, name, shown)
        if running and shown.state != "running":
            st.rerun()

    # Always a fragment, also when it need not be repeated: the browser would otherwise mount the board anew.
    st.fragment(draw, run_every=POLL if running else None)()


def kept_board(drawing: Drawing, name: str, shown: Shown) -> None:
    """Show an experiment that does not run: stored evidence, or one that was not run yet."""
    st.fragment(lambda: _mount(drawing, name, shown))()


def _mount(drawing: Drawing, name: str, shown: Shown) -> None:
    version, drawn = _drawn(drawing, name, shown)
    told = mount(
        drawing.key, name, version, drawn, name=shown.experiment.slug, status=status(shown), on_picked=drawing.on_picked
    )
    if drawing.on_picked is not nothing and told.picked:
        st.rerun()  # what was picked changes the page around the board


def _drawn(drawing: Drawing, name: str, shown: Shown) -> tuple[str, list[Plain]]:
    """Version and sections: the previous ones where nothing has changed; unchanged figures are reused."""
    key = f"stage.payload.{drawing.key}"
    last = st.session_state.get(key)
    stamp = (name, drawing.depends_on, shown.stamp)
    if last is None or last[0] != stamp:
        figures = last[2] if last is not None and last[0][0] == name else {}
        last = (stamp, drawing.sections(shown, remembering(figures)), figures)
        st.session_state[key] = last
    return str(hash(stamp)), last[1]
