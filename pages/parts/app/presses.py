"""Presses of keys and of parts of a picture, as a component's script tells them: none is lost, and none counts twice.

While a page draws, the browser keeps only the latest message of a component. So each message repeats all presses that the page has not
confirmed, each with its number (``pages/parts/boards/shell/script/presses.js``).
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st


def received(told: object, name: str) -> list[Mapping[str, Any]]:
    """The presses of a message that were in none before, in their order. Call it once per message, in its callback. ``name``: the session
    key under which the number of the last one is kept. What no script tells is no press."""
    presses: list[Mapping[str, Any]] = (
        [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
    )
    numbered = [press for press in presses if isinstance(press.get("number"), int)]
    new = [press for press in numbered if press["number"] > last_received(name)]
    if new:
        st.session_state[name] = new[-1]["number"]
    return new


def last_received(name: str) -> int:
    """The number to send to the script: it repeats no press up to this one."""
    return int(st.session_state.get(name, 0))
