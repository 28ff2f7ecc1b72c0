"""Fragments of a page: parts that run again without the rest of it."""

from collections.abc import Callable
from typing import TypeVarTuple

import streamlit as st

Arguments = TypeVarTuple("Arguments")


def as_fragment(draw: Callable[[*Arguments], None], *arguments: *Arguments, every: float | None = None) -> None:
    """Draw a part of the page now, again when a widget in it changes, and ``every`` so many seconds; None for no timer. What is drawn at
    one place is always a fragment: where only some reruns had one, the browser would mount its components anew.

    It has a container of its own. A fragment that runs again at once after the page discards those of its messages that were not sent
    yet, the one that makes its place among them (Streamlit's ``ForwardMsgQueue.clear``); a neighbour behind that place then comes to a
    page without it, which the browser refuses: "Bad delta path index".
    """
    with st.container():
        st.fragment(draw, run_every=every)(*arguments)
