"""What the text page asks for besides a text, the buttons Train, Pause and Stop, and the link to every other setting."""

from __future__ import annotations

import streamlit as st

from engine.config.link import to_query
from engine.config.run_config import RunConfig
from engine.runs.run import Run
from pages.parts.app.in_markdown import show_refusal
from pages.parts.app.own_runs import pause_button, say_watching, start_run, stop_button
from pages.parts.text.state import RUN, SETTINGS, form_config


def show_form() -> None:
    SETTINGS.widget("pos_encoding")
    if numbers := SETTINGS.drawn("vocab_size", "steps"):
        for column, name in zip(st.columns(len(numbers)), numbers, strict=True):
            with column:
                SETTINGS.widget(name, step=500)


def controls(run: Run | None, config: RunConfig | None) -> None:
    """The buttons. ``config`` is the form's config, None where its settings do not go together."""
    st.button(
        "Train", type="primary", icon=":material/play_arrow:", width="stretch", disabled=config is None, on_click=_train
    )
    with st.container(horizontal=True, gap="small"):
        pause_button(run)
        stop_button(run)
    say_watching(run)
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
