"""The page's address: a link is taken at its word once, from then on the page writes it."""

from __future__ import annotations

import streamlit as st

from engine.problems import Problem
from pages.parts.design.choice import KEY, choice, from_query, to_query

WRITTEN, SEEN = "design.written", "design.seen"
"""Session keys of the query that the page wrote last and of the one it met last; any other one is a link."""


def open_address() -> list[Problem]:
    """Take a link's settings; what in it was ignored."""
    query = st.query_params.to_dict()
    linked = bool(query) and query not in (st.session_state.get(WRITTEN), st.session_state.get(SEEN))
    st.session_state[SEEN] = query
    if not linked:
        return []
    st.session_state[KEY], ignored = from_query(query)
    for key in [key for key in st.session_state if str(key).startswith("design.set.")]:
        del st.session_state[key]
    return ignored


def write_address() -> None:
    query = to_query(choice())
    if st.session_state.get(WRITTEN) != query or st.query_params.to_dict() != query:
        st.query_params.from_dict(query)
    st.session_state[WRITTEN] = query
