"""Fragments of a page: parts that run again without the rest of it."""

from collections.abc import Callable
from typing import TypeVarTuple

import streamlit as st

Arguments = TypeVarTuple("Arguments")


def as_fragment(draw: Callable[[*Arguments], None], *arguments: *Arguments, every: float | None = None) -> None:
    """Draw a part of the page now, and again every ``every`` seconds (None: no timer) and when a widget in it changes. A part that is a
    fragment in some reruns is one in all, with or without a timer: otherwise the browser would mount its components anew.

    The page makes a container for it. A fragment that runs again right after the page discards its messages that were not sent yet
    (Streamlit's ``ForwardMsgQueue.clear``): were its place among them, the browser would refuse what follows, "Bad delta path index".
    """
    with st.container():
        st.fragment(draw, run_every=every)(*arguments)
