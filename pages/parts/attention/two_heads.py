"""The path of two heads, in the view of changes: how the answer at the query arises, and what changes with what the lower head writes."""

import streamlit as st

from engine.analysis.attention.path_jobs import ExchangePath, FollowAnswer
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.questions import ask_once
from pages.parts.attention.state import SETTINGS, LookedAt

NO_PAIR = "At this query there are no two heads, one above the other, that tell the answer. Choose another query, or a run of two layers."


def show_two_heads(at: LookedAt) -> None:
    st.header("The path of two heads", anchor=False)
    path = ask_once(FollowAnswer(at.model, at.sample, at.query))
    if path is not None:
        st.markdown(in_markdown(path.sentence))
    pair = path and path.pair
    if not pair:
        st.caption(NO_PAIR)
        return
    if SETTINGS.drawn("exchanged"):
        st.toggle(**SETTINGS.labelled("exchanged", shown=at.now.exchanged))
    if at.now.exchanged:
        words = ask_once(ExchangePath(at.model, at.sample, at.query, *pair))
        st.markdown(in_markdown("".join(piece.text for piece in words)))
