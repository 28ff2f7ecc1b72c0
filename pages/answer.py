"""The question of the documents, answered: one page of prose, each statement with what was found and the way to its experiment."""

from pathlib import Path

import streamlit as st

from engine.experiments.answer import ANSWER, QUESTION
from pages.parts.answer.prose import LINK, follow_links, in_numbers, in_short, prose, show_block

STYLE = Path(__file__).parent / "parts" / "answer" / "answer.css"

follow_links()  # before the prose, so that nobody waits for it
st.html(STYLE)
with st.container(key="answer"):
    st.title("The question, answered", anchor=False)
    st.markdown(f"*{QUESTION}*")
    st.markdown(in_short(ANSWER))
    st.caption(f"The numbers after a sentence lead to its experiment. To guess first, start at [the map]({LINK}).")
    for section, paragraphs in zip(ANSWER, prose(ANSWER), strict=True):
        show_block(section, paragraphs)
    st.markdown(in_numbers())
