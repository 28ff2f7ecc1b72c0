"""What can be done with a lesson: present it, go through it alone, send it as a link."""

from __future__ import annotations

import streamlit as st

from engine.experiments.lessons import Lesson
from pages.parts.lessons.own import show_link
from pages.parts.stage.presenting import go_to, presenting, start


def show_ways(lesson: Lesson, base: str) -> None:
    with st.container(horizontal=True, gap="small"):
        key = f"{lesson.title}.{lesson.minutes}.{len(lesson.steps)}"
        if st.button("Present", icon=":material/co_present:", type="primary", key=f"lessons.present.{key}"):
            _begin(lesson, on=True)
        if st.button("Go through it", icon=":material/route:", key=f"lessons.walk.{key}"):
            _begin(lesson, on=False)
        with st.popover("Link and QR code", icon=":material/qr_code_2:"):
            show_link(lesson, base)


def _begin(lesson: Lesson, *, on: bool) -> None:
    start(lesson, on=on)
    now = presenting()
    assert now is not None
    go_to(now, 0)
