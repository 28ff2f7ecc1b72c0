"""A page and its address: a link is taken at its word once, from then on the page writes the address.

In the session stand the query that a page wrote last and the one that it met last, as ``<page>.written`` and
``<page>.met``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import streamlit as st

CARRIED = ("lesson", "at", "present")
"""Names that every page's address carries along while a lesson is held; they are no page's own."""


def carried_in(query: Mapping[str, str]) -> dict[str, str]:
    return {name: query[name] for name in CARRIED if name in query}


def carry(values: Mapping[str, str]) -> None:
    """What the addresses of all pages carry from now on."""
    st.session_state["address.carried"] = dict(values)


def take_link(page: str, marks: Collection[str] = ()) -> dict[str, str] | None:
    """The query, where it is a link; None where the page wrote it itself or has met it in its last run.

    ``marks``: names of which every link within the app has one, and which the page itself never writes. After the first
    query of a session only such a link counts, however late the addresses come that the page has written.
    """
    query = {name: value for name, value in st.query_params.to_dict().items() if name not in CARRIED}
    met = st.session_state.get(f"{page}.met")
    # A quick second click arrives with the address of before the first: that is no link.
    known = query in (written(page), met) or bool(met is not None and marks and query.keys().isdisjoint(marks))
    st.session_state[f"{page}.met"] = query
    return None if known else query


def write_link(page: str, query: dict[str, str]) -> None:
    """Keep the address a link to what is on the page."""
    # A link within the page arrives here but leaves the address bar empty: what is new is written in any case.
    address = {**query, **st.session_state.get("address.carried", {})}
    if written(page) != query or st.query_params.to_dict() != address:
        st.query_params.from_dict(address)
    st.session_state[f"{page}.written"] = query


def written(page: str) -> dict[str, str] | None:
    """The query that the page wrote last; None before it wrote any."""
    query: dict[str, str] | None = st.session_state.get(f"{page}.written")
    return query
