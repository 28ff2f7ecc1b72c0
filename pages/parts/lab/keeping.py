"""The owner's buttons of a run that stands still: keep it for good, delete it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from engine.runs.run import Run
from pages.parts.app import server
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.own_runs import REFUSED
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
    if st.session_state[f"keep.{run.id}"]:
        _try(lambda: runs.pin(run.id, visitor(), limits.retention))
    else:
        _try(lambda: runs.unpin(run.id, visitor()))
    st.session_state[f"keep.{run.id}"] = run.pinned


def _delete(run: Run) -> None:
    if _try(lambda: server.pool().runs.delete(run.id, visitor())):
        forget_run(run.id)


def _try(act: Callable[[], None]) -> bool:
    """Whether it was done; if it is refused, the sentence is stored to be shown."""
    try:
        act()
    except ValueError as refused:
        st.session_state[REFUSED] = in_markdown(refused)
    except OSError as error:
        st.session_state[REFUSED] = f"The disk does not take it: {error.strerror or 'unknown error'}."
    else:
        return True
    return False
