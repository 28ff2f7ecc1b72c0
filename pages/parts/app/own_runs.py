"""A visitor's own runs: they are started and steered here, and where one is refused, the sentence is shown once."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from engine.config.run_config import RunConfig
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.workers.errors import Refused
from pages.parts.app import server
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.visitor import visitor

REFUSED = "refused"
"""The session key of the sentence with which a run was refused; it is shown once."""
WATCHING = "You are watching somebody else's run. Train starts one of your own."
Steering = Literal["pause", "resume", "step", "stop"]


def start_run(config: RunConfig, *, pace: float | None = None, paused: bool = False) -> Run | None:
    """Start a run; if it is refused, the sentence is stored to be shown and nothing else changes."""
    try:
        return server.pool().submit(RunRequest(config, visitor(), pace=pace, paused=paused))
    except Refused as refused:
        st.session_state[REFUSED] = in_markdown(refused)
        return None


def steer(action: Steering, run_id: str) -> None:
    """Steer a run; if that is refused, the sentence is stored to be shown and nothing else changes."""
    try:
        getattr(server.pool(), action)(run_id, visitor())
    except Refused as refused:
        st.session_state[REFUSED] = in_markdown(refused)


def show_refusal() -> None:
    sentence = st.session_state.pop(REFUSED, None)
    if sentence:
        st.error(sentence, icon=":material/block:")
