"""The start page: one example from its data to the head that does the work, played from a recorded run."""

from pathlib import Path

import streamlit as st

from engine.config.presets import PRESETS
from engine.experiments.lessons import LESSONS
from pages.parts.app.server import pool
from pages.parts.boards.live.board import recorded_board
from pages.parts.boards.recorded import recorded_example, recorded_feed, recorded_head, recorded_run
from pages.parts.stage.issue_list import show_small_map
from pages.parts.start import (
    WATCH,
    conclusion,
    ending_in_a_picture,
    example_in_words,
    recording_in_words,
    workers_in_words,
)

SECONDS = 14.0

run, head, example = recorded_run(), recorded_head(), recorded_example()

st.html(Path(__file__).parent / "parts" / "stage" / "tiles.css")
st.html(Path(__file__).parent / "parts" / "start.css")
with st.container(key="start-top"):
    st.title("Attention Lab", anchor=False)
    if st.button("Open the lab", type="primary", icon=":material/science:", key="start-open"):
        st.switch_page("lab.py")
    st.markdown(example_in_words(example))
    recorded_board(
        run, recorded_feed(), seconds=SECONDS, panels=("stack", "accuracy", "attention", "loss"), head=head.place,
        titles={"pattern": "Where one head looks", "attention": "Where every head looks"},
        before=WATCH, end=conclusion(head), level=2, name="recorded-reverse",
    )  # fmt: skip
place = {"layer": str(head.place.layer + 1), "head": str(head.place.head + 1)}
st.page_link("story.py", label="How it can learn this: Reverse in six steps", icon=":material/arrow_forward:")
st.page_link(
    "attention.py", label="Take this head apart, number by number", icon=":material/arrow_forward:",
    query_params={"run": "recorded", **place},
)  # fmt: skip

st.header("Start from an example", anchor=False)
with st.container(key="start-examples"):
    for slug, preset in PRESETS.items():
        with st.container(border=True, key=f"start-tile-{slug}", gap=None):
            st.page_link("lab.py", label=preset.title, query_params={"preset": slug})
            st.markdown(f"{preset.look_at}\n\n{'Made to learn' if preset.expects == 'learns' else 'Made to fail'}")
            st.html(ending_in_a_picture(slug))

st.header("Teach with it", anchor=False)
titles = [f"{lesson.title} ({lesson.minutes} minutes)" for lesson in LESSONS.values()]
st.page_link("lessons.py", label="Lessons for a class", icon=":material/school:")
st.caption(f"Prepared, to be shown to a class or sent as a link: {'; '.join(titles)}. Or put your own together.")

st.header("What goes wrong, as experiments", anchor=False)
show_small_map()

st.caption(f":material/memory: {recording_in_words(run)} {workers_in_words(pool().health())}")
