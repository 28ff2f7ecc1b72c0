"""The owner's buttons of a run that stands still: keep it for good, delete it."""

from __future__ import annotations

import streamlit as st

from engine.runs.run import Run
from pages.parts.app import server
from pages.parts.app.in_markdown import refused_in_words
from pages.parts.app.session import forget_run
from pages.parts.app.visitor import visitor


def keep_or_delete(run: Run) -> None:
    st.toggle(
        "Keep", value=run.pinned, key=f"keep.{run.id}", on_change=_keep, args=(run,),
        help="When too many runs are stored here, the oldest are deleted. This run then stays.",
    )  # fmt: skip
    with st.popover("Delete", icon=":material/delete:"):
        st.caption("The run, its curves and its trained weights are deleted for good. Links to it stop working.")
        st.button("Delete this run", key="delete", type="primary", on_click=_delete, args=(run,))


def _keep(run: Run) -> None:
    runs, limits = server.pool().runs, server.pool().limits
    with refused_in_words(error=ValueError):
        if st.session_state[f"keep.{run.id}"]:
            runs.pin(run.id, visitor(), limits.retention)
        else:
            runs.unpin(run.id, visitor())
    st.session_state[f"keep.{run.id}"] = run.pinned


def _delete(run: Run) -> None:
    with refused_in_words(error=ValueError):
        server.pool().runs.delete(run.id, visitor())
        forget_run(run.id)
