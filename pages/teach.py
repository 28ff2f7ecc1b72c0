"""The page of lessons: those that come with this version, and a teacher's own, to be presented or sent as a link."""

import streamlit as st

from engine.experiments.lessons import LESSONS
from pages.parts.app.in_markdown import escaped, say_ignored
from pages.parts.experiments.handouts import base_address, offer_hand_in
from pages.parts.teach import SETTINGS, show_teachers_lesson, show_ways

say_ignored(SETTINGS.open_address()[1])

st.title("Lessons", anchor=False)
st.markdown(
    "A lesson leads a class from question to question. **Present** shows nothing but the step itself, in large letters; the right arrow "
    "key goes on, **Escape** leaves. Phones that open its QR code go with the wall: they guess, and are told who was right. All keys, "
    "what to say and what comes out stand on the **teacher's sheet**."
)
base = base_address("teach")
for name, lesson in LESSONS.items():
    with st.container(border=True):
        st.header(f"{lesson.title} · {lesson.minutes} minutes", anchor=False)
        st.caption(escaped(" · ".join(f"{step.title} ({step.minutes} min)" for step in lesson.steps)))
        show_ways(lesson, base, name)
show_teachers_lesson(base)
with st.expander("What you did yourself", icon=":material/assignment_turned_in:"):
    offer_hand_in()
SETTINGS.write_address(SETTINGS.query())
