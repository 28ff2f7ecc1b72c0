"""The attention page: a trained run's attention in detail, compared, changed and broken."""

import streamlit as st

from engine.analysis.attention.jobs import ReadSequence
from engine.analysis.attention.parts import Part
from engine.analysis.attention.requests import SampleRequest
from engine.foundation.errors import JobError
from engine.settings.errors import Problem
from engine.tasks.text.tokens import unknown_in_words
from pages.parts.app.in_markdown import in_markdown, say_ignored
from pages.parts.app.questions import ask_once
from pages.parts.attention.interventions import show_change, show_faults
from pages.parts.attention.patterns import show_heads, show_steps, show_training
from pages.parts.attention.state import (
    EXPLAINED,
    SETTINGS,
    VIEWS,
    AttentionState,
    LookedAt,
    address,
    asked_model,
    fitted,
    head_controls,
    own_runs,
    ready,
    run_controls,
    why_not,
)
from pages.parts.boards.recorded import RECORDED, run_named
from pages.parts.charts.colors import ATTENTION

SHOW = {
    "steps": show_steps, "heads": show_heads, "change": show_change, "training": show_training, "faults": show_faults,
}  # fmt: skip


def looked_at(now: AttentionState) -> LookedAt | None:
    """Show the controls; returns the run, model and head that they choose, or None where there is nothing to show."""
    run = run_named(now.run)
    if run is None or (problem := why_not(run)):
        st.info(problem if run else "This run is no longer kept here. Choose another.", icon=":material/search_off:")
        return None
    most = {"layer": run.config.n_layers, "head": run.config.n_heads}
    beyond = {name: given for name in most if (given := getattr(now, name)) is not None and given > most[name]}
    say_ignored(Problem(name, str(given), f"at most {most[name]} in this run") for name, given in beyond.items())
    SETTINGS.put(dict.fromkeys(beyond))
    now = fitted(now, run.config)
    model = asked_model(run, now.step)
    if now.view != "training" and not ready(run, model):
        return None
    sample = SampleRequest(now.sample, now.text)
    part = Part("head", now.which, (now.layer or 1) - 1, (now.head or 1) - 1)
    seen = ask_once(ReadSequence(run.config, sample))
    if seen["unknown"]:
        st.caption(f":material/info: {in_markdown(unknown_in_words(seen['unknown']))}")
    if seen["new_length"]:
        st.caption(f":material/info: {in_markdown(seen['new_length'])}")
    queries, keys = seen["tokens"][now.which]
    # The default query is two thirds down: in a sequence of question and answer, a token of the answer.
    query = now.position - 1 if now.position and now.position <= len(queries) else len(queries) * 2 // 3
    return LookedAt(run, model, now, part, sample, queries, keys, query, ATTENTION)


_, ignored = SETTINGS.open_address()
title, views = st.columns([1, 2.4], vertical_alignment="bottom")
with title:
    st.title("Attention", anchor=False)
with views:
    if SETTINGS.drawn("view"):
        bound = SETTINGS.labelled("view", shown=SETTINGS.state().view) | {"label_visibility": "collapsed"}
        st.segmented_control(options=list(VIEWS), format_func=VIEWS.__getitem__, required=True, **bound)
with st.container():  # a fixed container: messages above must not shift the figures, which would remount them
    say_ignored(ignored)
now = SETTINGS.state()
if not now.run:
    now = now.model_copy(update={"run": next(iter(own_runs()), RECORDED)})
bar = st.container(horizontal=True, gap="small", vertical_alignment="bottom")
with bar:
    run_controls(now)
try:
    with st.container():
        at = looked_at(now)
    if at is not None:
        with bar:
            head_controls(at)
        if at.now.view in EXPLAINED:
            st.caption(EXPLAINED[at.now.view])
        with st.container(key=f"attention.view.{at.now.view}"):
            SHOW[at.now.view](at)
except JobError as error:
    st.error(in_markdown(error), icon=":material/error:")
SETTINGS.write_address(address(now.run))
