"""The start page: one button trains a small transformer in sight, then cuts a line of it, then swaps two symbols; and three doors."""

import streamlit as st

from engine.experiments.lessons import LESSONS, TUTORIAL
from pages.parts.app.in_markdown import say_unsaved, show_refusal
from pages.parts.app.server import pool
from pages.parts.boards.live.board import Layout, Picture, Recording, live_board
from pages.parts.boards.live.readable_run import controlled_as
from pages.parts.boards.recorded import recorded_feed, recorded_run
from pages.parts.experiments.presenting import way_into
from pages.parts.start import CONFIG, DOORS, WAY, present, press, sentence, shown_run, workers_in_words

SECONDS = 5.0
"""How long the recorded run plays, which is shown where none can be trained."""

run = shown_run()
controlled, now = controlled_as(run), present(run)
st.title("Attention Lab", anchor=False)
with st.container():  # a fixed container: otherwise messages would change the board's index and remount it
    show_refusal()
    say_unsaved(run)
with st.container(horizontal=True, vertical_alignment="center", key="start-way"):
    trains = controlled == "running"
    st.button(now.label, type="primary", icon=now.icon, key="start.press", disabled=trains, on_click=press)
    st.markdown(sentence(now, run))
    if now is WAY[-1]:
        page, query = way_into(LESSONS[TUTORIAL])
        st.page_link(page, label=LESSONS[TUTORIAL].title, icon=":material/arrow_forward:", query_params=query)
with st.container(key="start-board"):
    shown = Recording(run, recorded_feed(), SECONDS) if run is recorded_run() else run or CONFIG
    live_board(shown, Layout(("stack",), "start"), picture=Picture(look=now.look), key="start-picture")
with st.container(key="start-doors", horizontal=True):
    for page, icon, words in DOORS:
        st.page_link(page, label=words, icon=f":material/{icon}:")
st.caption(f":material/memory: {workers_in_words(pool().health())}")
if controlled_as(run) != controlled:
    st.rerun()  # the run ended during this script run: rerun so that the button matches
