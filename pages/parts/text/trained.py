"""The trained model on the reader's words: writing after a prompt, with temperature and top-k; attention on a sentence, every head of a
layer, with the words on both axes; and the run beside counting models."""

import re
from collections.abc import Callable, Mapping
from html import escape
from math import exp
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import streamlit as st

from engine.analysis.text.jobs import (
    LONGEST_PROMPT,
    MAX_WRITTEN_TOKENS,
    AttendToSentence,
    CompareWithCounting,
    Counted,
    CountWords,
    SentenceAttention,
    WriteText,
)
from engine.foundation.errors import JobError
from engine.runs.events import Progress, Snapshot
from engine.runs.run import Run
from engine.runs.summary import passed, unknown_tokens
from engine.tasks.text import plays
from engine.tasks.text.tokens import UNKNOWN_NAME, unknown_in_words
from pages.parts.app import server
from pages.parts.app.in_markdown import explained, in_markdown, refused_in_words, show_refusal
from pages.parts.app.questions import ask, ask_once, if_known
from pages.parts.boards.panels import Panel, panels
from pages.parts.boards.recorded import recorded_words
from pages.parts.charts.attention import pattern_picture
from pages.parts.charts.colors import color_of
from pages.parts.charts.loss import by_read_figure, next_figure
from pages.parts.charts.table import numbers_right
from pages.parts.text.state import ANSWER_SECONDS, PLAYS, weights_of, while_it_trains

WRITTEN = "text.written"
"""The session key of the written texts, the latest first."""
MAX_SAMPLES = 6
DEFAULTS: dict[str, Any] = {
    "text.prompt": "ROMEO\nMy lord, ", "text.temperature": 0.8, "text.top_k": 40, "text.length": 60, "text.sample_seed": 0,
}  # fmt: skip


SENTENCE, LAYER = "text.sentence", "text.layer"
FIRST = "To be, or not to be: that is the question"
HEIGHT = 250
"""Pixels for what is written and the bars beside it, whether they are there or not."""


def writes(run: Run | None) -> bool:
    """Whether a run has weights to write with that do not change."""
    return run is not None and run.state not in ("queued", "running") and run.weights is not None


def ask_for_words(run: Run) -> None:
    """The prompt, the temperature and Write; what is rarely changed stands behind a heading."""
    _offer("text.prompt", _usual(run)["text.prompt"])
    for key, value in DEFAULTS.items():
        st.session_state.setdefault(key, value)
    kept: dict[str, Any] = {"persist_state": "session"}
    limit = f"At most {LONGEST_PROMPT:,} characters."
    st.text_area("Prompt", key="text.prompt", height=68, max_chars=LONGEST_PROMPT, help=limit, **kept)
    words = "Divides the logits. 0 always takes the likeliest token, 1 draws as the model believes."
    st.slider("Temperature", 0.0, 2.0, step=0.05, key="text.temperature", help=explained(words, "temperature"), **kept)
    with st.container(horizontal=True, gap="small"):
        # A callback: if the page is rerun again before it gets here, a return value would be lost.
        st.button("Write", icon=":material/edit_note:", type="primary", on_click=_write, args=(run,))
        with st.popover("More", icon=":material/tune:"):
            words = "Draw among so many likeliest tokens only."
            st.number_input("Top-k", 1, 30_000, key="text.top_k", help=explained(words, "top-k"), **kept)
            st.number_input("Tokens", 1, MAX_WRITTEN_TOKENS, key="text.length", **kept)
            words = "The same seed writes the same."
            st.number_input("Seed", 0, 2**31 - 1, key="text.sample_seed", help=words, **kept)


def show_written(run: Run) -> None:
    """What the run wrote, the latest first; at first what it writes after the usual prompt."""
    show_refusal("words", icon=":material/error:")
    with st.container(height=HEIGHT, border=False, key="text-written"):
        written = [row for row in st.session_state.get(WRITTEN, []) if row["run"] == run.id]
        if not written and not server.pool().health().ready:  # nothing on the page would answer meanwhile
            st.caption(
                ":material/hourglass_top: The workers are starting: it writes as soon as the first of them is there."
            )
            return
        try:
            for place, one in enumerate(written or [_written(run, _usual(run))]):
                _show(one, run, latest=place == 0)
        except JobError as error:
            st.info(in_markdown(error), icon=":material/info:")


def _offer(key: str, example: str) -> None:
    """Put an example into a field, in which the reader has written nothing else."""
    if st.session_state.get(key) in (None, st.session_state.get(f"{key}.example")):
        st.session_state[key] = example
    st.session_state[f"{key}.example"] = example


def _usual(run: Run) -> dict[str, Any]:
    """What is asked for at first."""
    return DEFAULTS | {"text.prompt": _example(run, DEFAULTS["text.prompt"], lambda look: look.prompt)}


def _example(run: Run, of_plays: str, of_run: Callable[[Snapshot], str]) -> str:
    """A text in the run's vocabulary: one of the plays where it has as many words of them as the recorded run, else a line without
    unknown tokens of what the run was watched on."""
    recorded = recorded_words()[0].config
    size, enough = (cast(int, config.value("vocab_size")) for config in (run.config, recorded))
    known = run.config.value("text") == PLAYS and (run.config.task != recorded.task or size >= enough)
    if known or run.snapshot is None:
        return of_plays
    return max(re.split(f"[{UNKNOWN_NAME}\n]", of_run(run.snapshot)), key=len).strip() or of_plays


def _write(run: Run) -> None:
    with refused_in_words("words"):
        one = _written(run, {name: st.session_state[name] for name in DEFAULTS})
        st.session_state[WRITTEN] = [one, *st.session_state.get(WRITTEN, [])][:MAX_SAMPLES]


def _written(run: Run, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What the run writes, with its settings in words. Raises JobError."""
    prompt, temperature, top_k, length, seed = (asked[name] for name in DEFAULTS)
    job = WriteText(run.config, weights_of(run), prompt, length=length, temperature=temperature, top_k=top_k, seed=seed)
    answer = ask_once(job, run.step, timeout=ANSWER_SECONDS)
    who = "The recorded model" if run is recorded_words()[0] else "This run"
    settings = f"{who}, step {run.step:,}, temperature {temperature:g}, top-k {top_k}, seed {seed}, read {answer['read']} tokens"
    return {**answer, "run": run.id, "settings": settings}


def _show(one: dict[str, Any], run: Run, *, latest: bool) -> None:
    words, likely = st.columns([1.5, 1], gap="medium") if latest else (st.container(), None)
    with words:
        if one["unknown"] and latest:
            st.caption(f":material/info: {in_markdown(unknown_in_words(one['unknown']))}")
        st.html(
            '<p dir="auto" style="white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; margin: 0">'
            f'<span style="opacity: .65">{escape(one["prompt"])}'
            f"</span>{escape(one['text'])}</p>"
        )
        st.caption(one["settings"])
    if likely is not None:
        likeliest = ", ".join(f"{name} {p:.2f}" for name, p in one["next"][:5])
        next_token = Panel(
            id="next.token", title="Right after the prompt", figure=next_figure(one["next"][:8], color_of(run.config)), height=190,
            alt=f"Likeliest next tokens: {likeliest}",
        )  # fmt: skip
        with likely:
            panels([next_token], key="text-next", name="next token", subject=run.id, level=2)


def show_attending(run: Run) -> None:
    if not run.config.architecture.attends:
        return
    st.header("Attention on a sentence", anchor=False)
    _offer(SENTENCE, " ".join(_example(run, FIRST, lambda look: f"{look.prompt}{look.written}").split()[:10]))
    words, which = st.columns([3, 1], gap="medium", vertical_alignment="bottom")
    with words:
        sentence = st.text_input("Sentence", key=SENTENCE, persist_state="session", max_chars=500)
    with which:
        layers = list(range(run.config.n_layers))
        named: dict[str, Any] = {"key": LAYER, "format_func": lambda n: str(n + 1)}
        layer = st.segmented_control("Layer", layers, default=layers[-1], required=True, **named)
    try:
        found = ask(AttendToSentence(run.config, weights_of(run), sentence), timeout=ANSWER_SECONDS)
    except JobError as error:
        st.info(in_markdown(error), icon=":material/info:")
        return
    phrases = [unknown_in_words(found["unknown"])] if found["unknown"] else []
    if found["cut"]:
        phrases.append(f"The last {found['cut']} tokens are left out: the model reads {run.config.seq_len}.")
    if phrases:
        st.caption(f":material/info: {in_markdown(' '.join(phrases))}")
    place = layers[-1] if layer is None else layer
    heads = [_head(found, place, head) for head in range(found["patterns"].shape[1])]
    panels(heads, key="text-attention", name="attention", subject=run.id, least=300)


def _head(found: SentenceAttention, layer: int, head: int) -> Panel:
    pattern, tokens = found["patterns"][layer, head], found["tokens"]
    drawn = pattern_picture(pattern, tokens, tokens, bar=False)
    strongest = [f"{tokens[q]} from {tokens[int(np.argmax(row))]}" for q, row in enumerate(pattern)]
    return Panel(
        id=f"attention.{head + 1}", title=f"Layer {layer + 1}, head {head + 1}", figure=drawn, height=320, link="words",
        alt=f"Where each token reads most: {', '.join(strongest)}",
    )  # fmt: skip


# Beside counting models: the steps at which the run passed them, and the tokens on which it is better


SAID = {"bigram": "counting pairs of words", "trigram": "counting groups of three words"}
"""The counting models that the sentences above the figures speak of."""
NAMES = {"model": "The model", "unigram": "Unigram", "bigram": "Kneser-Ney bigram", "trigram": "Kneser-Ney trigram"}
PARTS = {"all": "All tokens", "known": "Known tokens", "words": "Words", "layout": "Between words"}
WORDS = (Path(__file__).parent / "words.md").read_text("utf-8")


def known_counts(run: Run) -> Counted | None:
    """The counting models beside a run; None while they are not known."""
    recorded, counts = recorded_words()
    return counts if run is recorded else if_known(CountWords(run.config))


def known_levels(run: Run) -> dict[str, tuple[str, float]]:
    """The counting models' loss on the run's validation, by name with the label of its line; empty while it is not known."""
    known = known_counts(run)
    return {NAMES[name]: (name.title(), nats) for name, nats in known["levels"].items()} if known else {}


def find_levels(run: Run) -> bool:
    """Count the words if that has not been done. Returns whether there is a new result, or a reason for having none."""
    if if_known(CountWords(run.config)) is not None or run.state == "failed":
        return False
    try:
        with st.spinner("Counting words for the Kneser-Ney lines"):
            ask_once(CountWords(run.config), timeout=ANSWER_SECONDS)
    except JobError as error:
        st.caption(f":material/info: No counting models beside this run: {in_markdown(error)}")
        return False
    return True


def show_passed(run: Run) -> None:
    """One sentence for each counting model with context, updated while the run trains."""
    while_it_trains(_say_passed, run)


def _say_passed(run: Run) -> None:
    known = known_counts(run)
    levels = {SAID[name]: nats for name, nats in known["levels"].items() if name in SAID} if known else {}
    rows = passed(run.config, run.events.landmarks(), levels)
    with st.container(gap="xsmall"):
        for row in rows:
            st.markdown(f":material/{'check_circle' if row.better else 'pending'}: {row.sentence}")
        if not rows and run.state != "failed":  # as many lines, so that nothing below moves later
            st.markdown(":material/pending: The run has just begun.")
            st.markdown("&nbsp;")
        st.caption(in_markdown(unknown_tokens(run.config, _scores(run, known))) or "&nbsp;")


def _scores(run: Run, known: Counted | None) -> Mapping[str, float]:
    """The scores of the last validation; before it, and in a run of an earlier version, only the share of unknown tokens in all held-out
    text."""
    rows = (event for event in reversed(list(run.events.landmarks())) if isinstance(event, Progress))
    scores = next((event.validation for event in rows if event.validation is not None), {})
    if "unknown_share" in scores or known is None:
        return scores
    return {"unknown_share": known["facts"]["unknown"] / max(1, known["facts"]["held_out"])}


def show_text_facts(run: Run) -> None:
    known = known_counts(run)
    if known is None:
        return
    facts = known["facts"]
    held_out = ", ".join(name.replace("-", " ").title() for name in plays.HELD_OUT)
    where = held_out if run.config.value("text") == PLAYS else "its last tenth"
    st.caption(
        f"Trains on {facts['trained']:,} tokens with a vocabulary of {facts['known']:,}, tested on {facts['held_out']:,} others "
        f"({where})."
    )


def show_counting(run: Run) -> None:
    """The losses on all held-out tokens: words and layout separately, and by the number of tokens read."""
    st.header("Beside counting models, on all held-out text", anchor=False)
    try:
        with st.spinner("Reading all held-out text"):
            # The weights of a paused run are replaced by later ones, so that the step counts, too.
            found = ask_once(CompareWithCounting(run.config, weights_of(run)), run.step, timeout=ANSWER_SECONDS)
    except JobError as error:
        st.info(in_markdown(error), icon=":material/info:")
        return
    nats, sizes = found["nats"], found["tokens"]
    parts = [part for part in PARTS if any(part in values for values in nats.values())]
    if sizes["known"] == sizes["all"]:
        parts.remove("known")
    frame = pd.DataFrame(
        [[f"{exp(values[part]):.1f}" if part in values else "" for part in parts] for values in nats.values()],
        index=pd.Index([NAMES[name] for name in nats], name="Model"),
        columns=[f"{PARTS[part]} ({sizes[part]:,})" for part in parts],
    )
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("Perplexity; in brackets the number of tokens. Lower is better.")
        st.table(numbers_right(frame), border="horizontal", width="content", alt="Perplexity on all held-out text")
        st.caption(lead_over_trigram(nats))
    with right:
        read = found["by_read"]
        drawn = by_read_figure(read, {name: NAMES[name] for name in nats}, color_of(run.config))
        told_text = [f"{NAMES[name]} {values[0]:.2f} to {values[-1]:.2f} nats" for name, values in read.items()]
        alt = f"Mean loss after the first token of a window and after the last: {', '.join(told_text)}"
        by_read = Panel(
            "beside.read", "The more it has read", drawn, alt, height=300, term="kneser-ney",
            note="Mean loss over a token's position in the model's window; counting models on the very same tokens.",
        )  # fmt: skip
        panels([by_read], key="text-beside", name="text", subject=run.id)


def show_words(run: Run | None) -> None:
    with st.expander("What these words mean", icon=":material/school:"):
        length = run.config.seq_len if run is not None else "16"
        st.markdown(WORDS.format(length=length))


def lead_over_trigram(nats: Mapping[str, Mapping[str, float]]) -> str:
    """The part of the lead over the trigram that is on words, in one sentence computed from the numbers, at the digits that it shows."""
    where = {"words": "on words", "layout": "between them"}
    phrases = []
    for part in where:
        if part in nats["model"]:
            lead = round(nats["trigram"][part] - nats["model"][part], 2)
            apart = f"{'lower' if lead > 0 else 'higher'} by {abs(lead):.2f} nats" if lead else "the same"
            phrases.append(f"{apart} {where[part]}")
    return f"Compared with the trigram, the model's loss is {' and '.join(phrases)}."
