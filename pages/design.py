"""The design page: build an encoding from parts, see it at once, train it against built-in ones, continue in Python."""

import streamlit as st

from pages.parts.app.in_markdown import say_ignored
from pages.parts.app.recent_runs import in_step_with
from pages.parts.design import SETTINGS, parts_form, run_form, show_guide, show_result, show_ways_on, shown_experiment

say_ignored(SETTINGS.open_address()[1])

st.title("Design", anchor=False)
st.markdown("Can you design a positional encoding that learns? Choose its parts, and let it compete with others.")
form, result = st.columns([1, 3], gap="large")
name, run = shown_experiment()
with in_step_with(lambda: run.state if run is not None else ""):
    with form:
        parts_form()
        run_form(name, run)
        show_ways_on()
    with result:
        show_result(name, run)
with st.expander("Go on in Python", icon=":material/code:"):
    show_guide()
SETTINGS.write_address(SETTINGS.query())
