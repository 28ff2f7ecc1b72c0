"""What can be done with a lesson: present it, go through it alone, send it as a link."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

import segno
import streamlit as st

from engine.experiments.lessons import Lesson
from pages.parts.stage.presenting import Presenting, file_of, go_to, presenting, start

QR_WIDTH = 220


def show_ways(lesson: Lesson, base: str) -> None:
    """The buttons of a lesson. ``base``: the address of the app, with a slash at its end."""
    with st.container(horizontal=True, gap="small"):
        key = f"{lesson.title}.{lesson.minutes}.{len(lesson.steps)}"
        if st.button("Present", icon=":material/co_present:", type="primary", key=f"lessons.present.{key}"):
            _begin(lesson, on=True)
        if st.button("Go through it", icon=":material/route:", key=f"lessons.walk.{key}"):
            _begin(lesson, on=False)
        with st.popover("Link and QR code", icon=":material/qr_code_2:"):
            _show_link(lesson, base)


def _begin(lesson: Lesson, *, on: bool) -> None:
    start(lesson, on=on)
    now = presenting()
    assert now is not None
    go_to(now, 0)


def link_of(lesson: Lesson, base: str, *, present: bool) -> str:
    """The full link to the first step of a lesson."""
    first = lesson.steps[0]
    query = {**first.query, **Presenting(lesson, on=present).carried()}
    return f"{base}{file_of(first).removesuffix('.py')}?{urlencode(query)}"


def _show_link(lesson: Lesson, base: str) -> None:
    """The link for the class as text and as a QR code."""
    link = link_of(lesson, base, present=False)
    if urlsplit(link).hostname in ("localhost", "127.0.0.1"):
        st.caption("This address works on this machine only. Open the app by the name that your class can reach.")
    code, qr = st.columns([2, 1])
    code.code(link, language=None, wrap_lines=True)
    qr.image(_qr(link), width=QR_WIDTH)


def _qr(link: str) -> str:
    return segno.make(link, micro=False).svg_inline(scale=4, dark="#1B2330", light="#FFFFFF", border=2)
