"""The lab as a step of a lesson that is shown to a room: the question, the living picture, one figure and the sentence on one screen."""

from urllib.parse import urlencode

import streamlit as st

from engine.config.link import to_query
from engine.config.run_config import RunConfig
from engine.runs.run import Run
from engine.runs.summary import run_summary
from engine.tasks import TASKS
from pages.parts.app.in_markdown import escaped, in_markdown, show_refusal
from pages.parts.app.own_runs import shown_run
from pages.parts.boards.live.board import live_board
from pages.parts.lab.controls import submit
from pages.parts.lab.model import act, model_of
from pages.parts.stage.presenting import asks_to_run, presenting, shows


def is_presented() -> bool:
    """Whether the lab is the step that is presented now."""
    now = presenting()
    return now is not None and now.on and not now.step.issue


def show_presented(config: RunConfig) -> Run | None:
    """The screen at the present beat; returns the run that it shows. The beat "run" trains it, once each time."""
    now = presenting()
    assert now is not None
    if asks_to_run(""):
        submit(config)
    run = shown_run() if shows("run") else None
    if run is not None and run.config != config:
        run = None
    with st.container(key="lab-presented"):
        st.title(escaped(now.step.title.removeprefix("Lab: ")), anchor=False)
        if not shows("run"):
            st.header(f"{TASKS[config.task].summary} Will this model learn it?", anchor=False)
        show_refusal()
        live_board(
            run, panels=("stack", "accuracy"), name=config.task, untrained="" if run else urlencode(to_query(config)),
            model=model_of(config, run.config if run else None),
            room=now.beats[max(0, now.beat)], on_act=act,
        )  # fmt: skip
        if shows("sentence"):
            st.subheader(_sentence(run), anchor=False)
    return run


def _sentence(run: Run | None) -> str:
    """The sentence on what happened; until the end, that it comes then."""
    found = run_summary(run.config, run.events.landmarks()) if run is not None and not run.live else []
    return in_markdown(found[0].sentence) if found else "The sentence comes when the training has ended."
