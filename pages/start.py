"""The start page: a recorded run plays before anything has been trained."""

from __future__ import annotations

import streamlit as st

from engine.config.presets import PRESETS
from engine.runs.summary import run_summary
from pages.parts.app import server
from pages.parts.app.visitor import visitor
from pages.parts.boards.live.board import recorded_board
from pages.parts.boards.recorded import recorded_feed, recorded_run
from pages.parts.issues.map import show_small_map

SENTENCES = (
    "Self-attention sees a set of tokens; a positional encoding tells it their order. Stack the two and things go wrong "
    "in ways that are easy to state and hard to imagine. Here you train small transformers live and see what happens, "
    "and every statement is computed from the runs."
)


def device_in_words() -> str:
    """The device that the workers found, or a note that they are still starting."""
    health = server.pool().health()
    if not health.ready:
        return "The workers are waking up."
    name = health.device.get("accelerator_name") or health.device.get("accelerator") or "CPU"
    workers = f"{health.size} worker{'s' if health.size != 1 else ''}"
    return f"Trains on {name} with {workers}, torch {health.device.get('torch', '')}."


st.title("Attention Lab")
words, go = st.columns([3, 1.2], gap="large", vertical_alignment="center")
with words:
    st.markdown(SENTENCES)
with go:
    if st.button("Open the lab", type="primary", icon=":material/science:", width="stretch"):
        st.switch_page("lab.py")
    st.caption(f":material/memory: {device_in_words()}")

run = recorded_run()
st.header("A recorded run: reversing eight symbols")
st.caption(
    "Two layers with four heads and a learned table read eight random symbols, then write them backwards. The first half "
    "cannot be known; in the second, look for the falling diagonal."
)
recorded_board(run, recorded_feed(), panels=("loss", "accuracy", "attention"), name="recorded-reverse")
for finding in run_summary(run.config, run.events.landmarks()):
    st.caption(f":material/summarize: {finding.sentence}")

st.header("Start from an example")
learn, fail = st.columns(2, gap="large")
for column, expects, heading in ((learn, "learns", "Made to learn"), (fail, "fails", "Made to fail")):
    with column:
        st.markdown(f"**{heading}**")
        for slug, preset in PRESETS.items():
            if preset.expects == expects:
                st.page_link(
                    "lab.py", label=preset.title, icon=":material/arrow_forward:", query_params={"preset": slug}
                )
                st.caption(preset.look_at)

st.header("What goes wrong, as experiments")
show_small_map(visitor())
