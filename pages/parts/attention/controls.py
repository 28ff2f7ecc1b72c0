"""The controls of all views: run, step, sequence, kind of attention, layer, head, query."""

from __future__ import annotations

import streamlit as st

from engine.analysis.attention_asked import places_in
from engine.config.link import to_query
from engine.config.run_config import RunConfig
from engine.tasks import TASKS
from pages.parts.attention.chosen import KINDS, RECORDED, Chosen, bound
from pages.parts.attention.looked_at import LookedAt
from pages.parts.attention.runs import choices, named_steps, run_named, steps_of
from pages.parts.attention.steps_view import query_control


def run_controls(now: Chosen) -> None:
    """Controls for the run, the step and the sequence."""
    runs = choices(now)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        st.selectbox(
            "Run", list(runs), format_func=lambda name: runs.get(name, name), width=430,
            help="Your runs that have ended, and one that comes with the app.", **bound("run", now.run if now.run in runs else None),
        )  # fmt: skip
        run = run_named(now.run)
        if run is None:
            return
        if now.view != "training":  # that view has two steps of its own
            steps = steps_of(run)
            names = named_steps(steps, run.step)
            st.selectbox(
                "Step", steps, format_func=lambda step: names.get(step, str(step)), width=110,
                help="The weights of the end are kept; an earlier step is trained again.",
                **bound("step", now.step if now.step in steps else run.step),
            )  # fmt: skip
        sample_controls(now)
        kept = {"run": run.id} if now.run != RECORDED else {}
        st.page_link("lab.py", label="In the lab", icon=":material/science:", query_params=to_query(run.config) | kept)


def sample_controls(now: Chosen) -> None:
    run = run_named(now.run)
    if run is None:
        return
    st.number_input(
        "Held-out sequence", 0, 255, step=1, width=150, disabled=bool(now.text.strip()),
        help="Sequences that the run never trained on.", **bound("sample", now.sample),
    )  # fmt: skip
    st.text_input(
        "Or your own tokens", placeholder=f"as in {example(run.config)}", width=230,
        help=f"{how_to_write(run.config)} Leave it empty to see the held-out sequence.", **bound("text", now.text),
    )  # fmt: skip


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
        if len(kinds) > 1:
            st.segmented_control(
                "Attention", kinds, format_func=KINDS.__getitem__, required=True, **bound("which", at.place.which)
            )
        st.number_input("Layer", 1, config.n_layers, step=1, width=130, **bound("layer", at.place.layer + 1))
        st.number_input("Head", 1, config.n_heads, step=1, width=130, **bound("head", at.place.head + 1))
        query_control(at)
