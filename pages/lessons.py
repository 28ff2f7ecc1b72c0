"""The page of lessons: those that come with this version, and a teacher's own, to be presented or sent as a link."""

import streamlit as st

from engine.experiments.lessons import LESSONS
from pages.parts.app.in_markdown import escaped, say_ignored
from pages.parts.lessons import SETTINGS, show_own, show_ways, titles
from pages.parts.stage.qr import base_address

_, ignored = SETTINGS.open_address()
say_ignored(ignored)

st.title("Lessons", anchor=False)
st.markdown(
    "A lesson leads a class from question to question. **Present** shows nothing but the step itself, in large letters: the right arrow "
    "key (or a presenter's remote) goes on, the left one back, **1**, **2** and **3** choose the class's guess, **Q** shows the lesson's "
    "link as a QR code, **B** makes the screen black, **Escape** leaves. Phones that open the code go with the wall: they guess, and are "
    "told who was right. **S** asks each of them to train a seed of an issue; their dots fall into the figure. **X** takes a part of a "
    "trained model away, and the next."
)
base = base_address("lessons")
for name, lesson in LESSONS.items():
    with st.container(border=True):
        st.header(f"{lesson.title} · {lesson.minutes} minutes", anchor=False)
        st.caption(escaped(titles(lesson.steps)))
        show_ways(lesson, base, name)
show_own(base)
SETTINGS.write_address(SETTINGS.query())
