"""The controls of all views: run, step, sequence, kind of attention, layer, head, query."""

from __future__ import annotations

import streamlit as st

from engine.analysis.attention_asked import places_in
from engine.config.link import to_query
from engine.config.run_config import RunConfig
from engine.tasks import TASKS
from pages.parts.attention.looked_at import LookedAt
from pages.parts.attention.runs import choices, named_steps, steps_of
from pages.parts.attention.state import KINDS, SETTINGS, AttentionState
from pages.parts.boards.recorded import RECORDED, run_named


def run_controls(now: AttentionState) -> None:
    """Controls for the run, the step and the sequence."""
    runs = choices(now)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        if SETTINGS.drawn("run"):
            bound = SETTINGS.labelled("run", shown=now.run if now.run in runs else None)
            st.selectbox(options=list(runs), format_func=lambda name: runs.get(name, name), width=430, **bound)
        run = run_named(now.run)
        if run is None:
            return
        if now.view != "training" and SETTINGS.drawn("step"):  # that view has two steps of its own
            steps = steps_of(run)
            names = named_steps(steps, run.step)
            bound = SETTINGS.labelled("step", shown=now.step if now.step in steps else run.step)
            st.selectbox(options=steps, format_func=lambda step: names.get(step, str(step)), width=110, **bound)
        sample_controls(now)
        kept = {"run": run.id} if now.run != RECORDED else {}
        st.page_link("lab.py", label="In the lab", icon=":material/science:", query_params=to_query(run.config) | kept)


def sample_controls(now: AttentionState) -> None:
    run = run_named(now.run)
    if run is None:
        return
    if SETTINGS.drawn("sample"):
        bound = SETTINGS.labelled("sample", shown=now.sample, disabled=bool(now.text.strip()))
        st.number_input(min_value=0, max_value=255, step=1, width=150, **bound)
    if SETTINGS.drawn("text"):
        bound = SETTINGS.labelled("text", shown=now.text)
        bound["help"] = f"{how_to_write(run.config)} {bound['help']}"
        st.text_input(placeholder=f"as in {example(run.config)}", width=230, **bound)


def example(config: RunConfig) -> str:
    row = TASKS[config.task]
    return "To be, or not to be" if row.corpus else row.sample.split(" →")[0].split(": ")[-1]


def how_to_write(config: RunConfig) -> str:
    if TASKS[config.task].corpus:
        return "Any sentence, as you would write it. What the vocabulary does not have is read as the unknown token."
    return "Token names with spaces or commas between them."


def head_controls(at: LookedAt) -> None:
    """Controls for the kind of attention, the layer, the head and the query."""
    kinds, config = places_in(at.config), at.config
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        if len(kinds) > 1 and SETTINGS.drawn("which"):
            bound = SETTINGS.labelled("which", shown=at.place.which)
            st.segmented_control(options=kinds, format_func=KINDS.__getitem__, required=True, **bound)
        shown = {
            "layer": (1, at.place.layer + 1, config.n_layers),
            "head": (1, at.place.head + 1, config.n_heads),
            "query": (0, at.query, len(at.queries) - 1),
        }
        for name in SETTINGS.drawn(*shown):
            low, value, high = shown[name]
            bound = SETTINGS.labelled(name, shown=value)
            st.number_input(min_value=low, max_value=high, step=1, width=130, **bound)
