"""The page of one notebook: a classic exercise as steps with their code, run live, at its own link."""

import streamlit as st

from engine.notebooks import NOTEBOOKS
from pages.parts.app.in_markdown import say_ignored
from pages.parts.app.own_runs import in_step_with
from pages.parts.notebooks.reading import play_mark, show_neighbours, show_notebook_step, show_overview, show_side
from pages.parts.notebooks.state import SETTINGS, play_of

link, ignored = SETTINGS.open_address()
if not link and SETTINGS.notebook() is None:  # the tab, before any notebook was opened
    SETTINGS.put({"notebook": next(iter(NOTEBOOKS))})
say_ignored(ignored)
if (notebook := SETTINGS.notebook()) is None:
    show_overview()
else:
    play = play_of(notebook)
    with in_step_with(lambda: play_mark(play) if play is not None and play.state != "running" else None):
        side, body = st.columns([1, 2.6], gap="medium")
        with side:
            show_side(notebook, play)
        with body, st.container(key="notebooks-body"):
            st.title(notebook.title, anchor=False)
            st.markdown(notebook.steps[0].cells[0].source)
            for step in notebook.steps[1:]:
                show_notebook_step(notebook, step, play)
            show_neighbours(notebook)
SETTINGS.write_address(SETTINGS.query())
