"""The text page: a language model on words writes on from a prompt, is trained, and is compared with counting models."""

import streamlit as st

from engine.config.run_config import RunConfig
from engine.settings.errors import ConfigError
from pages.parts.app.in_markdown import in_markdown, say_ignored, say_unsaved
from pages.parts.app.recent_runs import show_facts
from pages.parts.boards.live.board import Layout, Recording, live_board
from pages.parts.boards.live.readable_run import controlled_as
from pages.parts.boards.recorded import recorded_words
from pages.parts.text.form import KIND, choose_text, controls, waits_for_text, way_to_lab
from pages.parts.text.state import PLAYS, RUN, SETTINGS, address, form_config, run_in_link, share_link, shown_text_run
from pages.parts.text.trained import (
    ask_for_words,
    find_levels,
    known_levels,
    show_attending,
    show_counting,
    show_passed,
    show_text_facts,
    show_words,
    show_written,
    writes,
)

link, ignored = SETTINGS.open_address()
if link:
    st.session_state[KIND] = "plays" if SETTINGS.values()["text"] == PLAYS else "own"
    linked_run, _ = run_in_link(link)
    st.session_state[RUN] = linked_run.id if linked_run is not None else None
run = shown_text_run()
shown = run or recorded_words()[0]
writer = run if run is not None and writes(run) else recorded_words()[0]
controlled = controlled_as(run)
st.title("Text", anchor=False)
say_ignored(ignored)

left, right = st.columns([1, 3.2], gap="medium")
with left:
    ask_for_words(writer)
with right:
    show_written(writer)

left, right = st.columns([1, 3.2], gap="medium")  # anew, so that on a phone what is written follows its prompt
with left:
    st.header("Train your own", anchor=False)
    choose_text()
    SETTINGS.widget("pos_encoding")
    config: RunConfig | None = None
    try:
        config = None if waits_for_text() else form_config()
    except ConfigError as error:
        st.error(in_markdown(error), icon=":material/error:")
    controls(run, config)
    if config is not None:
        show_facts(config)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        way_to_lab(run, config)
        with st.popover("Share", icon=":material/link:"):
            st.caption("This link opens the page with everything in place. It never starts training.")
            st.code(share_link(), language=None, wrap_lines=True)

with right:
    with st.container():  # a fixed container: otherwise messages would change the board's index and remount it
        which = "This is a **recorded run**; press Train for your own." if run is None else ""
        st.markdown(f"Can a small transformer guess the next word better than counting? {which}")
        show_passed(shown)
    with st.container():  # always there, so that a message does not make the board anew
        say_unsaved(run)
    layout = Layout(("loss", "written", "attention"), "text", known_levels(shown))
    live_board(run or Recording(shown), layout, key="text-board")
    show_text_facts(shown)
    learned = run is not None and find_levels(run)
    show_words(run)
    if run is not None and writes(run):
        show_attending(run)
        if run.state != "paused":
            show_counting(run)

SETTINGS.write_address(address())
if learned or controlled_as(run) != controlled:
    st.rerun()  # the run changed state during this script run, or the counting models' losses are known now
