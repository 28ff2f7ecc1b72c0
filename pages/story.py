"""The story "Reverse in six steps": one screen a step, with one control, one figure and one question about the run."""

from __future__ import annotations

import streamlit as st

from pages.parts.app.in_markdown import say_ignored
from pages.parts.boards.live.readable_run import controlled_as
from pages.parts.story.screen import show_step
from pages.parts.story.state import SETTINGS, present, shown_run

_, ignored = SETTINGS.open_address()
say_ignored(ignored)
number, step = present()
run = shown_run(number)
controlled = controlled_as(run) if run is not None else None
show_step(number, step, run)
SETTINGS.write_address(SETTINGS.query())
if run is not None and controlled_as(run) != controlled:
    st.rerun()  # the run ended during this script run: rerun so that button and feedback match
