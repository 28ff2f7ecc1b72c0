"""The page's address: a link is taken at its word once, from then on the page writes it."""

from __future__ import annotations

import streamlit as st

from engine.settings.errors import Problem
from pages.parts.app.address import take_link, write_link
from pages.parts.design.choice import KEY, choice, from_query, to_query


def open_address() -> list[Problem]:
    """Take a link's settings; what in it was ignored."""
    query = take_link(KEY)
    if not query:
        return []
    st.session_state[KEY], ignored = from_query(query)
    for key in [key for key in st.session_state if str(key).startswith("design.set.")]:
        del st.session_state[key]
    return ignored


def write_address() -> None:
    write_link(KEY, to_query(choice()))
