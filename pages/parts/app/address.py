"""A page and its address: a link is read once, and then the page writes the address; what a link hides or locks."""

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass
from typing import cast

import streamlit as st

from engine.config.link import without_marks
from engine.settings.errors import Problem

CARRIED = ("lesson", "at", "present", "class")
"""Names that every page's address carries along while a lesson is held; they are no page's own."""
NAMES = ("show", "hide", "lock")
ALLOWED = "one or more names of controls on this page, separated by commas"


def carried_in(query: Mapping[str, str]) -> dict[str, str]:
    return {name: query[name] for name in CARRIED if name in query}


def carry(values: Mapping[str, str]) -> None:
    """What the addresses of all pages carry from now on."""
    st.session_state["address.carried"] = dict(values)


def take_link(page: str, marks: Collection[str] = ()) -> dict[str, str] | None:
    """The query of the address, if the visitor came by a link; None if the page wrote it itself or had it already in its last run.

    ``marks``: names that the page itself never writes, and of which each link within the app has one. After the first query of a
    session only a query with such a name is a link: one without may be an address of the page's own that arrives late.
    """
    query = {name: value for name, value in without_marks(st.query_params.to_dict()).items() if name not in CARRIED}
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
    return cast(dict[str, str] | None, st.session_state.get(f"{page}.written"))


@dataclass(frozen=True)
class Hidden:
    """The controls that a link shows, hides or locks. No value changes; whoever edits the address has them back."""

    show: tuple[str, ...] = ()
    """Where any are named, only these are drawn."""
    hide: tuple[str, ...] = ()
    lock: tuple[str, ...] = ()
    """Drawn, but they cannot be changed."""

    def draws(self, name: str) -> bool:
        return name not in self.hide and (not self.show or name in self.show)

    def query(self) -> dict[str, str]:
        return {name: ",".join(named) for name, named in vars(self).items() if named}


def read_hidden(query: Mapping[str, str], controls: Container[str]) -> tuple[Hidden, list[Problem]]:
    """What a link says about ``controls``, and a problem for each list in which it names others."""
    found: dict[str, tuple[str, ...]] = {}
    ignored: list[Problem] = []
    for name in NAMES:
        named = [part.strip() for part in query.get(name, "").split(",") if part.strip()]
        found[name] = tuple(dict.fromkeys(part for part in named if part in controls))
        if unknown := [part for part in named if part not in controls]:
            ignored.append(Problem(name, ", ".join(unknown), ALLOWED))
    return Hidden(**found), ignored
