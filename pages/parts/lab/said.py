"""The line above the lab's figures: what to look at, what happened, and what to try next."""

from __future__ import annotations

import streamlit as st

from engine.config.presets import Preset
from engine.config.run_config import RunConfig
from engine.experiments.issues import ISSUES
from engine.runs.next_step import NextStep, next_step
from engine.runs.run import Run
from engine.runs.summary import Remark, run_summary
from engine.settings.errors import ConfigError
from pages.parts.app.in_markdown import in_markdown
from pages.parts.lab.controls import submit
from pages.parts.lab.runs import difference
from pages.parts.lab.state import fill_form

MARKS = {
    "success": ":green[:material/check_circle:]",
    "alarm": ":red[:material/warning:]",
    "note": ":material/info:",
}
BEFORE = "This is the untrained model: it guesses. Press **Train**; what it writes turns green as it learns."
WHILE = "It trains: in the row “writes”, green is right and red is wrong."


def say(run: Run | None, config: RunConfig | None, preset: Preset | None) -> None:
    """One line, always there, so that nothing below it moves: about the preset, the run so far, or its end."""
    with st.container(key="lab-said", gap="xxsmall"):
        looked_at = preset.look_at if preset is not None else ""
        if run is None:
            st.markdown(f":material/visibility: {looked_at or BEFORE}")
        elif run.state in ("queued", "running"):
            st.markdown(f":material/visibility: {looked_at or WHILE}")
        else:
            _say_end(run)
        if run is not None and config is not None and (changes := difference(run.config, config)):
            st.caption(f":material/edit: Settings changed since this run: {changes}.")


def _say_end(run: Run) -> None:
    events = list(run.events.landmarks())
    findings, step = run_summary(run.config, events), next_step(run.config, events)
    if run.state == "failed":  # the board itself says why
        findings = []
    for finding in findings[:1]:
        if finding.kind == "alarm":
            st.error(in_markdown(finding.sentence), icon=":material/warning:")
        else:
            st.markdown(_marked(finding))
    if step is not None:
        _show_next(run, step)
    for finding in findings[1:]:
        st.caption(_marked(finding))


def _marked(remark: Remark) -> str:
    return f"{MARKS[remark.kind]} {in_markdown(remark.sentence)}"


def _show_next(run: Run, step: NextStep) -> None:
    """The reason, the button that makes the change and trains, and the way to the issue."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":material/lightbulb: {in_markdown(step.reason)}", width="content")
        if step.changes:
            st.button(f"Try {step.label(run.config)}", key="lab.next", on_click=_try, args=(run, step))
        if step.issue in ISSUES:
            st.page_link(
                "issues.py", label="See the issue", icon=":material/bug_report:", query_params={"issue": step.issue}
            )


def _try(run: Run, step: NextStep) -> None:
    """Train the run's settings with the change."""
    try:
        config = run.config.replace(**step.changes)
    except ConfigError:
        return
    fill_form(config)
    submit(config)
