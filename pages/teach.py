import streamlit as st

from engine.experiments.lessons import LESSONS
from pages.parts.app.in_markdown import say_ignored
from pages.parts.experiments.handouts import base_address
from pages.parts.teach import INTRODUCTION, SETTINGS, WAYS, show_lesson, show_teachers_lesson

say_ignored(SETTINGS.open_address()[1])

st.title("Teach", anchor=False)
st.markdown(INTRODUCTION)
base = base_address("teach")
with st.container(key="teach-lessons", gap="xsmall", width=800):
    for name, lesson in sorted(LESSONS.items(), key=lambda named: named[1].minutes):
        show_lesson(lesson, base, name)
st.markdown(WAYS)
show_teachers_lesson(base)
SETTINGS.write_address(SETTINGS.query())
