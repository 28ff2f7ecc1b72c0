"""The board of an experiment: one component that draws what comes in, without rerunning the script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from engine.evidence.experiment import Experiment
from pages.parts.issues.panels import sections, status
from pages.parts.issues.plain import Plain, remembering
from pages.parts.issues.shown import Shown, of_experiment
from pages.parts.web.plotly_script import ADDRESS

POLL = 0.5
"""Seconds between two looks at an experiment."""
HERE = Path(__file__).parent
LIVE = HERE.parent / "live" / "script"
SCRIPTS = (LIVE / "dom.js", LIVE / "shell.js", HERE / "script" / "evidence.js")
"""In the order in which they use each other; together one module."""


@st.cache_resource
def _component() -> Any:
    script = "\n".join(file.read_text(encoding="utf-8") for file in SCRIPTS)
    style = (HERE / "evidence.css").read_text(encoding="utf-8")
    html = '<div class="evidence"></div>'
    return st.components.v2.component("attention_lab_evidence", html=html, css=style, js=script)


def experiment_board(name: str, experiment: Experiment, *, curve: str = "loss", key: str = "evidence") -> None:
    """Follow an experiment until it ends; then the script is rerun once."""
    running = experiment.state == "running"

    def draw() -> None:
        shown = of_experiment(experiment)
        _mount(key, name, shown, curve)
        if running and shown.state != "running":
            st.rerun()

    # Always a fragment, also when it need not be repeated: the browser would otherwise mount the board anew.
    st.fragment(draw, run_every=POLL if running else None)()


def kept_board(name: str, shown: Shown, *, curve: str = "loss", key: str = "evidence") -> None:
    """What was found, standing still."""
    st.fragment(lambda: _mount(key, name, shown, curve))()


def _mount(key: str, name: str, shown: Shown, curve: str) -> None:
    # In a list: a dictionary is searched for data frames, and that imports pandas, 60 MB, into every page's process.
    _component()(key=key, data=[_payload(name, shown, curve)])


def _payload(name: str, shown: Shown, curve: str) -> Plain:
    """The last one again where nothing happened since; figures that stayed the same are not made anew."""
    last = st.session_state.get("issues.payload")
    stamp = (name, curve, shown.stamp)
    if last is None or last[0] != stamp:
        figures = last[2] if last is not None and last[0][0] == name else {}
        version = str(hash(stamp))
        drawn = sections(shown, curve, remembering(figures))
        payload = {"experiment": name, "version": version, "sections": drawn, "plotly": ADDRESS}
        last = (stamp, payload, figures)
        st.session_state["issues.payload"] = last
    return {**last[1], "status": status(shown)}
