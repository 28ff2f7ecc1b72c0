"""The overview of all notebooks: topic, duration, and progress."""

from __future__ import annotations

import streamlit as st

from engine.notebooks import NOTEBOOKS, Notebook
from pages.parts.notebooks.plays import PLAYERS, badge, play_of, step_state
from pages.parts.notebooks.state import NOTEBOOK_PAGE, PAGE


def show_overview() -> None:
    st.title("Notebooks", anchor=False)
    st.markdown(
        f"The classic small exercises, step by step: read the code, run it{' here' if PLAYERS.allowed else ''}, see the tests turn "
        "green. Each one can be downloaded as a Jupyter notebook that runs by itself."
    )
    for place, notebook in enumerate(NOTEBOOKS.values(), start=1):
        with st.container(border=True, gap="xsmall", key=f"notebooks-card-{notebook.slug}"):
            st.page_link(
                NOTEBOOK_PAGE, label=f"**{place}. {notebook.title}**", query_params={"notebook": notebook.slug}
            )
            st.markdown(notebook.learns)
            st.caption(f"{_steps(notebook)} · about {notebook.minutes} minutes")


def show_ways(notebook: Notebook, where: str) -> None:
    """Links to the notebooks before and after this one, and from the end of the page to the overview."""
    others = list(NOTEBOOKS.values())
    place = others.index(notebook)
    with st.container(horizontal=True, gap="small", key=f"notebooks-ways-{where}"):
        if where == "bottom":
            st.page_link(PAGE, label="All notebooks", icon=":material/apps:")
        for icon, found in (
            (":material/arrow_back:", others[:place][-1:]),
            (":material/arrow_forward:", others[place + 1 :][:1]),
        ):
            for other in found:
                st.page_link(NOTEBOOK_PAGE, label=other.title, icon=icon, query_params={"notebook": other.slug})


def _steps(notebook: Notebook) -> str:
    steps = [step for step in notebook.steps if step.code]
    play = play_of(notebook)
    if play is None:
        return f"{len(steps)} steps{' to run' if PLAYERS.allowed else ''}"
    passed = sum(step_state(step, play) == "passed" for step in steps)
    return f"{badge('passed' if passed == len(steps) else 'not run')} {passed} of {len(steps)} steps passed"
