"""The start page: one button trains a small transformer, ablates, swaps two symbols and leads on to six steps. Below
are links to other pages."""

import streamlit as st

from pages.parts.app.frame import file_at
from pages.parts.app.in_markdown import say_ignored, say_unsaved, show_refusal
from pages.parts.app.recent_runs import in_step_with
from pages.parts.app.server import pool
from pages.parts.boards.live.board import BoardLayout, Picture, RecordedRun, live_board
from pages.parts.boards.live.readable_run import controlled_as
from pages.parts.boards.recorded import recorded_run, recorded_updates
from pages.parts.start import (
    CONFIG,
    DOORS,
    SETTINGS,
    STEP,
    WAY,
    present,
    press,
    run_of_step,
    sentence,
    show_step,
    shown_run,
    start_over,
    workers_in_words,
)

PLAYBACK_SECONDS = 5.0

say_ignored(SETTINGS.open_address()[1])
at_step = SETTINGS.values()[STEP] > 0
run = run_of_step() if at_step else shown_run()
with in_step_with(lambda: controlled_as(run)):
    if at_step:
        show_step(run)
    else:
        now = present(run)
        with st.container(key="frame-unseen"):  # the bar has the name
            st.title("Attention Lab", anchor=False)
        with st.container():  # a fixed container: otherwise messages would change the board's index and remount it
            show_refusal()
            say_unsaved(run)
        with st.container(horizontal=True, vertical_alignment="center", key="start-way"):
            trains = run is not None and run.live
            label = "Training" if trains else now.label
            st.button(label, type="primary", icon=now.icon, key="start.press", disabled=trains, on_click=press)
            st.markdown(sentence(now, run))
            if now is WAY[-1]:
                st.button("Start over", type="tertiary", icon=":material/replay:", on_click=start_over)
        with st.container(key="start-board"):
            source = RecordedRun(run, recorded_updates(), PLAYBACK_SECONDS) if run is recorded_run() else run or CONFIG
            live_board(source, BoardLayout(("stack",), "start"), picture=Picture(view=now.view), key="start-picture")
        with st.container(key="start-doors", horizontal=True):
            for address, query, icon, words in DOORS:
                st.page_link(file_at(address), label=words, icon=f":material/{icon}:", query_params=query)
        st.caption(f":material/memory: {workers_in_words(pool().health())}")
SETTINGS.write_address(SETTINGS.query())
