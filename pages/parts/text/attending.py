"""Attention on the reader's sentence: every head of a layer, with the words on both axes."""

from __future__ import annotations

import numpy as np
import streamlit as st

from engine.analysis.text_jobs import AttendToSentence, SentenceAttention
from engine.foundation.errors import JobError
from engine.runs.run import Run
from engine.text.tokens import unknown_in_words
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.questions import ask
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.attention import upright_words
from pages.parts.charts.colors import sequential
from pages.parts.charts.encoding import color_of
from pages.parts.charts.heat import heat, heat_figure
from pages.parts.text.state import PLAYS, TIMEOUT, weights_of

SENTENCE, LAYER = "text.sentence", "text.layer"
FIRST = "To be, or not to be: that is the question"


def show_attending(run: Run) -> None:
    if not run.config.architecture.attends:
        return
    st.header("Attention on a sentence", anchor=False)
    st.session_state.setdefault(SENTENCE, _first_sentence(run))
    words, which = st.columns([3, 1], gap="medium", vertical_alignment="bottom")
    with words:
        sentence = st.text_input("Sentence", key=SENTENCE, persist_state="session", max_chars=500)
    with which:
        layers = list(range(run.config.n_layers))
        layer = st.segmented_control(
            "Layer", layers, default=layers[-1], required=True, key=LAYER, format_func=lambda n: str(n + 1),
        )  # fmt: skip
    try:
        found = ask(AttendToSentence(run.config, weights_of(run), sentence), timeout=TIMEOUT)
    except JobError as error:
        st.info(in_markdown(error), icon=":material/info:")
        return
    said = [unknown_in_words(found["unknown"])] if found["unknown"] else []
    said += (
        [f"The last {found['cut']} tokens are left out: the model reads {run.config.seq_len}."] if found["cut"] else []
    )
    if said:
        st.caption(f":material/info: {in_markdown(' '.join(said))}")
    place = layers[-1] if layer is None else layer
    panels(
        [_head(found, place, head, color_of(run.config)) for head in range(found["patterns"].shape[1])],
        key="text-attention", name="attention", subject=run.id, least=300,
    )  # fmt: skip


def _first_sentence(run: Run) -> str:
    """The default sentence for a text other than the plays: the prompt and continuation of the run's last snapshot."""
    look = run.snapshot
    if run.config.value("text") == PLAYS or look is None:
        return FIRST
    return " ".join(f"{look.prompt}{look.written}".split()[:10])


def _head(found: SentenceAttention, layer: int, head: int, color: str) -> Panel:
    pattern, tokens = found["patterns"][layer, head], found["tokens"]
    trace = heat(pattern, "weight", scale=sequential(color), low=0, high=1, x="key", y="query", digits=".2f", bar=False)
    drawn = heat_figure(
        trace, x="key (read from)", y="query (reading)", columns=tokens, rows=tokens, across=upright_words(tokens)
    )  # fmt: skip
    strongest = [f"{tokens[q]} from {tokens[int(np.argmax(row))]}" for q, row in enumerate(pattern)]
    return Panel(
        id=f"attention.{head + 1}", title=f"Layer {layer + 1}, head {head + 1}", figure=drawn, height=320, link="words",
        alt=f"Where each token reads most: {', '.join(strongest)}",
    )  # fmt: skip
