"""The question of the documents, answered: one page of prose, each statement with what was found and the way to its experiment."""

import streamlit as st

from engine.experiments.answer import ANSWER, QUESTION
from pages.parts.answer.prose import LINK, follow_links, in_numbers, in_short, prose, show_block

follow_links()  # before the prose, so that nobody waits for it
with st.container(key="answer"):
    st.title("The question, answered", anchor=False)
    st.markdown(f"*{QUESTION}*")
    st.markdown(in_short(ANSWER))
    st.caption(f"The numbers after a sentence lead to its experiment. To guess first, start at [the map]({LINK}).")
    for section, paragraphs in zip(ANSWER, prose(ANSWER), strict=True):
        show_block(section, paragraphs)
    st.markdown(in_numbers())
