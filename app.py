"""Attention Lab: ``streamlit run app.py``."""

import streamlit as st

from pages.parts.app import server
from pages.parts.web.compose import serving

app = st.App(
    "pages/main.py",
    **serving(
        find=server.find,
        start=server.wake,
        stop=server.close,
        health=server.health,
        ask=server.ask_for,
        admit=server.admit_stream,
        admit_tab=server.admit_tab,
    ),
)
