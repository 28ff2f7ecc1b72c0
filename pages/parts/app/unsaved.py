"""The sentence about a run that the disk does not take."""

from __future__ import annotations

import streamlit as st

from engine.runs.run import Run


def say_unsaved(run: Run | None) -> None:
    """Say that a run goes on in memory only, so that its owner takes away what is worth keeping."""
    if run is not None and run.unsaved:
        st.warning(
            f"{run.unsaved} It goes on, but it is gone when the app is started anew: download what you want to keep.",
            icon=":material/save:",
        )
