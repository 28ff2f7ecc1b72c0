"""Fragments of a page: parts that run again without the rest of it."""

from collections.abc import Callable
from typing import TypeVarTuple

import streamlit as st

Arguments = TypeVarTuple("Arguments")


def as_fragment(draw: Callable[[*Arguments], None], *arguments: *Arguments, every: float | None = None) -> None:
    """Draw a part of the page now, again when a widget in it changes, and again after each ``every`` seconds; None for no timer. It is a
    fragment also without a timer: a part that is one only in some reruns has its components mounted anew.

    The page makes a container for it. A fragment that runs again right after the page discards its messages that were not sent yet
    (Streamlit's ``ForwardMsgQueue.clear``): were its place among them, the browser would refuse what follows, "Bad delta path index".
    """
    with st.container():
        st.fragment(draw, run_every=every)(*arguments)
