"""Attention Lab: ``streamlit run app.py``."""

from functools import partial

import streamlit as st

from pages.parts.app import server
from pages.parts.web.compose import serving

server.take_data()
app = st.App(
    "pages/main.py",
    **serving(
        find=server.find,
        start=server.wake,
        stop=server.close,
        health=server.health,
        ask=lambda job, visitor: server.pool().ask(job, visitor),
        admit=partial(server.admit, "stream"),
        admit_tab=partial(server.admit, "tab"),
        take_memory=partial(server.admit, "input"),
    ),
)
