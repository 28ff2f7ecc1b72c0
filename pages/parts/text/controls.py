"""The buttons Train, Pause and Stop, and the link to every other setting."""

from __future__ import annotations

import streamlit as st

from engine.config.link import to_query
from engine.config.run_config import RunConfig
from engine.runs.run import Run
from pages.parts.app.own_runs import Steering, show_refusal, start_run, steer
from pages.parts.app.visitor import mine
from pages.parts.text.state import RUN, form_config


def controls(run: Run | None, config: RunConfig | None) -> None:
    """The buttons. ``config`` is the form's config, None where its settings do not go together."""
    st.button(
        "Train", type="primary", icon=":material/play_arrow:", width="stretch", disabled=config is None, on_click=_train
    )
    with st.container(horizontal=True, gap="small"):
        own = run is not None and mine(run.owner)
        if run is not None and own and run.state == "paused":
            st.button("Resume", icon=":material/resume:", on_click=_tell, args=("resume", run))
        else:
            running = run is not None and own and run.live
            st.button("Pause", icon=":material/pause:", disabled=not running, on_click=_tell, args=("pause", run))
        live = run is not None and own and run.live
        st.button("Stop", icon=":material/stop:", disabled=not live, on_click=_tell, args=("stop", run))
    show_refusal()


def way_to_lab(run: Run | None, config: RunConfig | None) -> None:
    if run is not None:
        st.page_link(
            "lab.py", label="This run in the lab", icon=":material/science:", query_params=_lab(run.config, run)
        )
    elif config is not None:
        st.page_link(
            "lab.py", label="All settings, in the lab", icon=":material/tune:", query_params=_lab(config, None)
        )


def _lab(config: RunConfig, run: Run | None) -> dict[str, str]:
    return to_query(config) | ({"run": run.id} if run is not None else {})


def _train() -> None:
    if run := start_run(form_config()):
        st.session_state[RUN] = run.id


def _tell(action: Steering, run: Run) -> None:
    steer(action, run.id)
