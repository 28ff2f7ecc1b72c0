"""The design page: build an encoding from parts, see it at once, train it against built-in ones, continue in Python."""

import streamlit as st

from engine.experiments.comparison import MATCHED
from pages.parts.app.in_markdown import say_ignored
from pages.parts.design.form import parts_form, show_experiment, show_guide, show_look, show_ways_on
from pages.parts.design.state import SETTINGS

_, ignored = SETTINGS.open_address()
say_ignored(ignored)

st.title("Design", anchor=False)
st.markdown(
    "Can you design a positional encoding that learns? Choose how a position is described, how numbers are made of it, where they "
    "act in the model, and which of them are learned. Then compare your encoding with others."
)
form, look = st.columns([1, 3], gap="large")
with form:
    st.header("Parts", anchor=False)
    parts_form()
    show_ways_on()
with look:
    st.header("Before training", anchor=False)
    show_look()
st.header("Against the built-in ones", anchor=False)
st.markdown(f"{MATCHED} The rule for “better” is fixed before the run, and each finding is computed by that rule.")
show_experiment()
show_guide()
SETTINGS.write_address(SETTINGS.query())
