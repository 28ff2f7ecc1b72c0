"""Measuring a row of the table “Which one should I use?” on this machine, also that of one's own design."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from engine.encodings import ENCODINGS
from engine.experiments.choice.qualities import COMPARED, SETS, row_of
from engine.experiments.comparison import DESIGN
from engine.experiments.evidence import store
from engine.experiments.running import trial_cache
from engine.experiments.running.tuned_run import TunedRun
from pages.parts.app.fragment import as_fragment
from pages.parts.app.in_markdown import in_markdown, refused_in_words, show_refusal
from pages.parts.app.visitor import visitor
from pages.parts.encodings.state import design_parts
from pages.parts.stage.experiments import ROWS, begin_button, run_of

MEASURED = "encodings.measured"
"""In the session, the name of the measurement that this page follows."""
POLL = 1.0
"""Seconds between two looks at how far it is."""


def show_measurement() -> None:
    """The choice of a row and its Run, or how far it is."""
    task = ROWS.find(st.session_state.get(MEASURED, ""))
    if task is not None and task.state == "running":
        _follow(task)
        return
    design = design_parts()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = [*COMPARED, *([DESIGN] if design else [])]
        name = st.selectbox(
            "Row", names, format_func=lambda name: ENCODINGS[name].label, key="encodings.row", width=240
        )
        begin_button("Measure this row", partial(_measure_row, name, design))
    show_refusal()
    if not design:
        st.caption("For a row of your own design, choose it as encoding A or B under “Side by side”.")
    if task is not None and task.state == "failed":
        st.error(in_markdown(task.problem), icon=":material/error:")


def _follow(task: TunedRun) -> None:
    def draw() -> None:
        st.progress(task.done, f"Measuring “{task.experiment.title}”: {task.part}")
        if task.state != "running":
            st.rerun()

    as_fragment(draw, every=POLL)
    leave, args = ROWS.leave, (st.session_state[MEASURED], visitor())
    st.button("Stop", icon=":material/stop:", on_click=leave, args=args)


def _measure_row(encoding: str, design: Mapping[str, Any]) -> None:
    """Measure a row, or show the visitor's one that goes already."""
    experiment, me = row_of(encoding, design if encoding == DESIGN else {}), visitor()

    def keep(_: str) -> None:
        for run in task.results:
            store.save(run)
        trial_cache.delete_oldest()

    with refused_in_words():
        task = TunedRun(experiment, SETS, partial(run_of, visitor=me), me)
        st.session_state[MEASURED] = ROWS.begin(task, name=ROWS.running_of(me), keep=keep)
