"""The page of notebooks: the classic exercises, and each as steps with their code and its outputs at its own link."""

import streamlit as st

from pages.parts.app.in_markdown import say_ignored
from pages.parts.notebooks.screen import SETTINGS, show_neighbours, show_notebook_step, show_overview, show_side

say_ignored(SETTINGS.open_address()[1])
if (notebook := SETTINGS.notebook()) is None:
    show_overview()
else:
    side, body = st.columns([1, 2.6], gap="medium")
    with side:
        show_side(notebook)
    with body, st.container(key="notebooks-body"):
        st.title(notebook.title, anchor=False)
        st.markdown(notebook.steps[0].cells[0].source)
        for step in notebook.steps[1:]:
            show_notebook_step(notebook, step)
        show_neighbours(notebook)
SETTINGS.write_address(SETTINGS.query())
