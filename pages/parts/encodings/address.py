"""What is set on the page, kept in one place of the session, and its link."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.experiments.properties import NEEDS
from engine.runs.store import RUN_ID
from engine.settings.errors import Problem
from engine.settings.fields import to_text, whole_number
from pages.parts.app.address import take_link, write_link
from pages.parts.encodings.settings import read_value, settings

STATE = "encodings"
"""Session key of what is set: names as in the link; it outlives the page."""
RUN, STEP, LAYER, NEEDED = "run", "step", "layer", "needs"
RECORDED = "recorded"
MOST = {STEP: 1_000_000, LAYER: 48}
"""The numbers that a link to a run holds; layers count from 1, and the nearest that the run has is shown."""


def values() -> dict[str, Any]:
    kept: dict[str, Any] = st.session_state.setdefault(STATE, {})
    return kept


def value(name: str) -> Any:
    """What is set, or the default."""
    kept = values()
    return kept.get(name, settings(kept)[name].default)


def widget_key(name: str) -> str:
    return f"{STATE}.set.{name}"


def open_address() -> list[Problem]:
    """A link is taken at its word once; what it leaves out is as by default. Returns what was ignored."""
    query = take_link(STATE)
    if not query:
        return []
    found, ignored = read(query)
    st.session_state[STATE] = found
    for key in [key for key in st.session_state if str(key).startswith(widget_key(""))]:
        del st.session_state[key]
    return ignored


def read(query: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
    """What a query asks for, as far as it is allowed, and what was ignored."""
    found: dict[str, Any] = {}
    ignored: list[Problem] = []
    chosen = {side: query[side] for side in ("a", "b") if side in query}
    for name, text in sorted(
        query.items(), key=lambda pair: pair[0] not in ("a", "b")
    ):  # they decide what else there is
        rows = settings(found)
        try:
            if name in rows:
                found[name] = read_value(rows[name], text)
            elif name == RUN and (text == RECORDED or RUN_ID.fullmatch(text)):
                found[RUN] = text
            elif name in MOST and (number := whole_number(text, 0, MOST[name])) is not None:
                found[name] = number
            elif name == NEEDED and set(text.split(",")) <= set(NEEDS):
                found[NEEDED] = text.split(",")
            else:
                ignored.append(Problem(name, text, _allowed(name, chosen)))
        except ValueError:
            ignored.append(Problem(name, text, rows[name].allowed))
    return found, ignored


def _allowed(name: str, chosen: Mapping[str, str]) -> str:
    more = {
        RUN: f"{RECORDED}, or the name of a run",
        **{number: f"a whole number up to {most}" for number, most in MOST.items()},
        NEEDED: "some of " + ", ".join(NEEDS) + ", separated by commas",
    }
    return more.get(name) or "a name this page knows with these encodings"


def write_address() -> None:
    """Keep the address a link to what is on the page; what is as by default is left out."""
    kept = values()
    rows = settings(kept)
    query = {name: to_text(kept[name]) for name, row in rows.items() if kept.get(name, row.default) != row.default}
    query |= {
        name: str(kept[name])
        for name in (RUN, STEP, LAYER)
        if kept.get(name) is not None and kept.get("view") == "training"
    }
    if kept.get(NEEDED):
        query[NEEDED] = ",".join(kept[NEEDED])
    write_link(STATE, query)
