"""The question of the documents, answered: one page of prose, each statement with what was found and the way to its experiment."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from engine.experiments.answer import ANSWER, QUESTION
from pages.parts.answer.links import follow_links
from pages.parts.answer.prose import prose
from pages.parts.answer.summary import show_summary

STYLE = Path(__file__).parent / "parts" / "answer" / "answer.css"

st.html(f"<style>{STYLE.read_text('utf-8')}</style>")
with st.container(key="answer"):
    st.title("The question, answered", anchor=False)
    st.markdown(f"*{QUESTION}*")
    st.markdown(
        "What was found stands open here; to guess first, begin with [the questions](issues). The mark after a sentence says what came "
        "out: the number before and after (or the difference between them), and in how many seeds it went this way. It leads to the "
        "experiment, which you can run."
    )
    show_summary(ANSWER)
    for heading, paragraphs in prose(ANSWER):
        st.header(heading, anchor=False)
        for paragraph in paragraphs:
            st.markdown(paragraph)
follow_links()
