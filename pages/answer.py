"""The question of the documents, answered: one page of prose, each statement with what was found and the way to its experiment."""

from pathlib import Path

import streamlit as st

from engine.experiments.answer import ANSWER, QUESTION
from pages.parts.answer.prose import LINK, follow_links, opening, prose, show_short, show_summary

STYLE = Path(__file__).parent / "parts" / "answer" / "answer.css"

follow_links()  # before the prose, so that nobody waits for it
st.html(f"<style>{STYLE.read_text('utf-8')}</style>")
with st.container(key="answer"):
    st.title("The question, answered", anchor=False)
    st.markdown(f"*{QUESTION}*")
    show_short(ANSWER)
    st.markdown(
        "The mark after a sentence says what came out: the number before and after (or the difference between them), and in how many "
        "seeds it went this way. It leads to the experiment, which you can run. What was found stands open here; to guess first, begin "
        f"with [the questions]({LINK})."
    )
    show_summary(ANSWER)
    for section, paragraphs in zip(ANSWER, prose(ANSWER), strict=True):
        st.header(section.heading, anchor=section.anchor)
        st.markdown(opening(section))
        for paragraph in paragraphs:
            st.markdown(paragraph)
