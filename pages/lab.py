"""The lab page: choose settings, train live, watch."""

from __future__ import annotations

import streamlit as st

from engine.config.presets import PRESETS
from engine.config.run_config import RunConfig
from engine.settings.errors import ConfigError
from pages.parts.app.frame import unseen_title
from pages.parts.app.in_markdown import as_code, in_markdown, say_ignored
from pages.parts.app.own_runs import show_refusal
from pages.parts.app.server import find
from pages.parts.app.session import earlier_runs, show_run, shown_run
from pages.parts.app.unsaved import say_unsaved
from pages.parts.boards.live.board import live_board, overlay
from pages.parts.boards.live.readable_run import controlled_as
from pages.parts.lab.controls import controls
from pages.parts.lab.differences import difference, named_by_difference
from pages.parts.lab.facts import show_facts
from pages.parts.lab.form import main_settings, other_settings
from pages.parts.lab.outcome import show_findings, show_lengths, take_away
from pages.parts.lab.state import PRESET, RUN, SETTINGS, fill_form, form_config, write_address


def take_preset() -> None:
    """Fill the form with the chosen preset's settings; the picker becomes empty again."""
    slug = st.session_state.pop("preset", None)
    if slug:
        fill_form(PRESETS[slug].config)
        st.session_state["look_at"] = slug


link, ignored = SETTINGS.open_address()
if (linked_run := link.get(RUN)) is not None:
    if (found := find(linked_run)) is None:
        st.warning(
            f"run is {as_code(linked_run)}; no run of that name is kept here. The settings are unaffected.",
            icon=":material/search_off:",
        )
    else:
        show_run(found.id)
say_ignored(ignored)

unseen_title("Lab")
run = shown_run()
controlled = controlled_as(run) if run else None
left, right = st.columns([1, 3.2], gap="medium")

config: RunConfig | None = None
unfit = ""
try:
    config = form_config()
except ConfigError as error:
    unfit = in_markdown(error)

with right:  # before the form, so that the board learns of a new run first
    with st.container():  # a fixed container: otherwise messages would change the board's index and remount it
        show_refusal()
        slug = st.session_state.get("look_at")
        if slug in PRESETS and config == PRESETS[slug].config:
            st.info(PRESETS[slug].look_at, icon=":material/visibility:")
        say_unsaved(run)
        if run is not None:  # above the figures, which may look like a success
            show_findings(run, alarms=True)
        if run is None:
            st.info("Press Train: the curve starts at once.", icon=":material/play_arrow:")
        elif config is not None and (changed := difference(run.config, config)):
            st.caption(f":material/edit: Settings changed since this run: {changed}.")
    earlier = [overlay(other, named_by_difference(other.config, run.config)) for other in earlier_runs()] if run else []
    live_board(run, earlier=earlier, name=run.config.task if run else "")
    if run is not None:
        show_lengths(run)
    if config is not None:
        take_away(run, config)

with left:
    if SETTINGS.drawn(PRESET):
        st.selectbox(
            "Preset", PRESETS, index=None, key="preset", placeholder="Start from an example", on_change=take_preset,
            format_func=lambda slug: f"{'✓' if PRESETS[slug].expects == 'learns' else '✗'} {PRESETS[slug].title}",
            disabled=SETTINGS.locks(PRESET),
        )  # fmt: skip
    main_settings()
    if unfit:
        st.error(unfit, icon=":material/error:")
    controls(run, config)
    if config is not None:
        show_facts(config)
    if run is not None:
        show_findings(run, alarms=False)
    other_settings()

write_address(run)
if run is not None and controlled_as(run) != controlled:
    st.rerun()  # the run paused, went on or ended during this script run: rerun so that the buttons match
