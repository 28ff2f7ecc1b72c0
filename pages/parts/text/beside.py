"""The run beside counting models: the steps at which it passed them, and the tokens on which it is better."""

from collections.abc import Mapping
from math import exp
from pathlib import Path

import pandas as pd
import streamlit as st

from engine.analysis.text.jobs import CompareWithCounting, Counted, CountWords
from engine.foundation.errors import JobError
from engine.runs.events import Progress
from engine.runs.run import Run
from engine.runs.summary import passed, unknown_tokens
from engine.text import plays
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.questions import ask_once, if_known
from pages.parts.boards.panels import Panel, panels
from pages.parts.boards.recorded import recorded_words
from pages.parts.charts.colors import color_of
from pages.parts.charts.table import numbers_right
from pages.parts.charts.text import by_read_figure
from pages.parts.text.state import PLAYS, TIMEOUT, weights_of, while_it_trains

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
            ask_once(CountWords(run.config), timeout=TIMEOUT)
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
            found = ask_once(CompareWithCounting(run.config, weights_of(run)), run.step, timeout=TIMEOUT)
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
        told = [f"{NAMES[name]} {values[0]:.2f} to {values[-1]:.2f} nats" for name, values in read.items()]
        alt = f"Mean loss after the first token of a window and after the last: {', '.join(told)}"
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
    said = []
    for part in where:
        if part in nats["model"]:
            lead = round(nats["trigram"][part] - nats["model"][part], 2)
            apart = f"{'lower' if lead > 0 else 'higher'} by {abs(lead):.2f} nats" if lead else "the same"
            said.append(f"{apart} {where[part]}")
    return f"Compared with the trigram, the model's loss is {' and '.join(said)}."
