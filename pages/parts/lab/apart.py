"""“Take it apart” beneath the lab's picture: the attention of a trained run, for the selected head, position and
sequence. Until a visitor opens it, it computes nothing."""

import streamlit as st

from engine.analysis.attention.jobs import ReadSequence
from engine.analysis.attention.parts import Part
from engine.analysis.attention.requests import (
    MAX_ATTENTION_WEIGHTS,
    SampleRequest,
    attentions_of,
    weights_of_one_sequence,
)
from engine.config.run_config import RunConfig
from engine.foundation.errors import JobError
from engine.runs.run import Run
from engine.tasks.text.tokens import unknown_in_words
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.questions import ask_once
from pages.parts.charts.colors import ATTENTION
from pages.parts.lab.apart_depth import show_depth
from pages.parts.lab.apart_state import OPEN, SETTINGS, VIEWS, ApartState, Inspected
from pages.parts.lab.apart_views import show_change, show_faults, show_heads, show_steps

SHOW = {"steps": show_steps, "heads": show_heads, "change": show_change, "faults": show_faults, "depth": show_depth}
EXPLAINED = {
    "steps": "How one head reads at one position. Choose both in the picture above.",
    "heads": "Where every head looks, how widely and how far, and its kind.",
    "change": "Change attention in the trained model and see the loss on held-out sequences. The weights stay the same.",
    "faults": "Each switch breaks the forward pass of this model on purpose. Then all tests run again.",
    "depth": "What each layer does to the tokens, in the trained model and untrained.",
}


def show_apart(run: Run | None, config: RunConfig | None) -> None:
    if not (run.config if run else config or RunConfig()).architecture.attends:
        return
    apart = st.expander("Take it apart", key=OPEN, on_change="rerun")
    if not apart.open:
        return
    with apart:
        if run is None or (problem := refusal(run)):
            st.info(problem if run else "Train first. Then you can take the model apart.", icon=":material/school:")
            return
        try:
            _show(run, SETTINGS.state())
        except JobError as error:
            st.error(in_markdown(error), icon=":material/error:")


def refusal(run: Run) -> str:
    """Return the reason why a run's attention cannot be shown, in one sentence; empty if it can."""
    if weights_of_one_sequence(run.config) > MAX_ATTENTION_WEIGHTS:
        return (
            f"This run has more than {MAX_ATTENTION_WEIGHTS // 1_000_000} million attention weights per sequence: "
            "too many to look at one by one."
        )
    if run.live:
        return "You can take this run apart when it has ended."
    return "" if run.weights else "This run has no weights."


def _show(run: Run, now: ApartState) -> None:
    bound = SETTINGS.labelled("view", display=now.view) | {"label_visibility": "collapsed"}
    st.segmented_control(options=list(VIEWS), format_func=VIEWS.__getitem__, required=True, **bound)
    st.caption(EXPLAINED[now.view])
    part = current_head(now, run)
    sequence = ask_once(ReadSequence(run.config, SampleRequest(text=now.text)))
    if sequence["unknown"]:
        st.caption(f":material/info: {in_markdown(unknown_in_words(sequence['unknown']))}")
    if sequence["new_length"]:
        st.caption(f":material/info: {in_markdown(sequence['new_length'])}")
    queries, keys = sequence["tokens"][part.which]
    # The default query is two thirds down: in a sequence of question and answer, a token of the answer.
    query = now.position - 1 if now.position and now.position <= len(queries) else len(queries) * 2 // 3
    with st.container(key=f"apart.view.{now.view}"):
        SHOW[now.view](Inspected(run, now, part, queries, keys, query, ATTENTION))


def current_head(now: ApartState, run: Run) -> Part:
    """Return the selected head, or the first one if the run does not have it."""
    config = run.config
    which = now.which if now.which in attentions_of(config) else "self"
    layer = now.layer if now.layer and now.layer <= config.n_layers else 1
    head = now.head if now.head and now.head <= config.n_heads else 1
    return Part("head", which, layer - 1, head - 1)
