"""A slide of a lesson: a teacher's own words on a screen of their own."""

import streamlit as st

from pages.parts.app.in_markdown import escaped
from pages.parts.stage.presenting import presenting

now = presenting()
slide = now.step.slide if now is not None else None
with st.container(key="slide"):
    if slide is None:
        st.title("A slide of a lesson", anchor=False)
        st.markdown("It is shown while a lesson is held that has one.")
        st.page_link("lessons.py", label="All lessons", icon=":material/co_present:")
    else:
        st.title(escaped(slide.title), anchor=False)
        st.text(slide.text)
