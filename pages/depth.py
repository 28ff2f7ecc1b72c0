import streamlit as st

from pages.parts.app.in_markdown import say_ignored
from pages.parts.depth import SETTINGS, open_address, show_dial, show_figures, show_sources

ignored = open_address()
with st.container(key="depth"):
    st.title("What does depth alone do?", anchor=False)
    say_ignored(ignored)
    show_dial()
    show_figures(ignored)
    show_sources()
SETTINGS.write_address(SETTINGS.query())
