"""The sentences about a run, and about a result, that the disk does not take."""

from __future__ import annotations

import streamlit as st

from engine.foundation.background import BackgroundTask
from engine.runs.run import Run


def say_unsaved(run: Run | None) -> None:
    """Say that a run goes on in memory only, so that its owner takes away what is worth keeping."""
    if run is not None and run.unsaved:
        st.warning(
            f"{run.unsaved} It goes on, but it is gone when the app is started anew: download what you want to keep.",
            icon=":material/save:",
        )


def say_result_unsaved(task: BackgroundTask | None) -> None:
    """Say that the result of a task is in memory only."""
    if task is not None and task.unsaved:
        st.warning(
            f"{task.unsaved} It is gone when the app is started anew: download what you want to keep.",
            icon=":material/save:",
        )
