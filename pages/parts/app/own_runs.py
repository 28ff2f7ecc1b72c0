"""A visitor's own runs: the facts before one, how it is started and steered, and its buttons."""

from __future__ import annotations

from typing import Any, Literal

import streamlit as st

from engine.config.run_config import RunConfig
from engine.estimate.prediction import predict
from engine.estimate.warnings import warnings_of
from engine.foundation.formatting import in_bytes, in_time
from engine.runs.request import RunRequest
from engine.runs.run import Run
from pages.parts.app import server
from pages.parts.app.in_markdown import refused_in_words
from pages.parts.app.visitor import mine, visitor

Steering = Literal["pause", "resume", "step", "stop"]


def show_facts(config: RunConfig) -> None:
    """Facts before training: parameters, memory, time, and warnings."""
    prediction = predict(config)
    facts = [f"**{prediction.parameters:,}** parameters", f"**{in_bytes(prediction.memory.total)}** for a step"]
    seconds = prediction.seconds(config.steps)
    if seconds is not None:
        facts.append(f"about **{in_time(seconds)}**")
    st.caption(
        " · ".join(facts), help="Predicted: memory by formula, time from a short measurement on one CPU core here."
    )
    for sentence in warnings_of(config):
        st.caption(f":material/info: {sentence}")


def start_run(config: RunConfig, *, pace: float | None = None, paused: bool = False) -> Run | None:
    """Start a run; None where it is refused, for a reason that is shown (:func:`refused_in_words`)."""
    with refused_in_words():
        return server.pool().submit(RunRequest(config, visitor(), pace=pace, paused=paused))
    return None


def steer(action: Steering, run_id: str) -> None:
    """Steer a run, unless that is refused."""
    with refused_in_words():
        getattr(server.pool(), action)(run_id, visitor())


def pause_button(run: Run | None) -> None:
    """Pause, or for a paused run Resume."""
    own = run is not None and mine(run.owner)
    if run is not None and own and run.state == "paused":
        st.button("Resume", icon=":material/resume:", on_click=steer, args=("resume", run.id))
    else:
        args = ("pause", run.id if run is not None else "")
        running = own and run is not None and run.live
        st.button("Pause", icon=":material/pause:", disabled=not running, on_click=steer, args=args)


def stop_button(run: Run | None, **common: Any) -> None:
    args, live = ("stop", run.id if run is not None else ""), run is not None and run.live and mine(run.owner)
    st.button("Stop", icon=":material/stop:", disabled=not live, on_click=steer, args=args, **common)


def say_watching(run: Run | None) -> None:
    """Say that the run is somebody else's, as long as it goes."""
    if run is not None and run.live and not mine(run.owner):
        st.caption(":material/visibility: You are watching somebody else's run. Train starts one of your own.")
