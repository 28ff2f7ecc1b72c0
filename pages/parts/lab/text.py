"""A text as a task of the lab: Shakespeare's plays or the reader's text, which stays on this server; the text that the
model writes after a prompt; and counting models for comparison. Until a visitor has trained one, the recorded model on
words writes."""

import re
from collections.abc import Callable, Mapping
from html import escape
from math import exp
from pathlib import Path
from typing import Any, cast

import pandas as pd
import streamlit as st

from engine.analysis.text.jobs import (
    MAX_PROMPT_CHARACTERS,
    MAX_WRITTEN_TOKENS,
    CompareWithCounting,
    CountingLevels,
    CountWords,
    WriteText,
)
from engine.foundation.errors import JobError
from engine.runs.events import Progress
from engine.runs.run import Run
from engine.runs.summary import counting_comparisons, unknown_tokens
from engine.tasks import TASKS
from engine.tasks.text import plays, user_texts
from engine.tasks.text.tokens import UNKNOWN_NAME, unknown_in_words
from pages.parts.app import server
from pages.parts.app.frame import as_fragment, nothing
from pages.parts.app.in_markdown import explained, in_markdown, refused_in_words, show_refusal
from pages.parts.app.questions import ask_once, if_known
from pages.parts.app.visitor import visitor
from pages.parts.boards.panels import Panel, panels
from pages.parts.boards.recorded import recorded_words
from pages.parts.charts.colors import color_of
from pages.parts.charts.loss import by_read_figure, next_figure
from pages.parts.charts.table import numbers_right
from pages.parts.lab.state import BY_CHARACTER, BY_WORD, PLAYS, SETTINGS, unfit_text

# The source: the plays, or the reader's text


# LAST has the name of the reader's text, also while the plays are in use
PASTED, FILE, LAST = "lab.text.pasted", "lab.text.file", "lab.text.last"


def choose_text() -> None:
    if "text" not in SETTINGS.rows() or not SETTINGS.visible("text"):
        return
    name = SETTINGS.requested()["text"]
    label = "Shakespeare" if name == PLAYS else "Your own text"
    with st.popover(label, icon=":material/menu_book:", width="stretch", disabled=SETTINGS.locks("text")):
        if name != PLAYS:
            _describe(name)
            st.button("Back to Shakespeare", icon=":material/undo:", on_click=_choose, args=(PLAYS,))
        elif last := st.session_state.get(LAST):
            st.button("Back to your text", icon=":material/undo:", on_click=_choose, args=(last,))
        st.file_uploader("Your own text: a file in UTF-8, at most 1 MB", key=FILE)
        hint = f"At least {user_texts.MIN_TEXT_CHARACTERS:,} characters"
        st.text_area("Or paste it here", key=PASTED, height=120, placeholder=hint)
        st.caption("Your text stays on this server. Links contain only a hash of it.")
        st.button("Use this text", icon=":material/check:", on_click=_keep)
        show_refusal("text", icon=":material/error:")
    if (values := SETTINGS.requested())["task"] == BY_WORD and unfit_text(values):
        st.button("Read it by character", icon=":material/abc:", on_click=_by_character)


def _describe(name: str) -> None:
    try:
        length = len(user_texts.read(name))
    except ValueError:  # deleted; the reason is below Train
        return
    st.caption(
        f":material/description: Your text, {length:,} characters, is {name[:8]}… in links. Its last tenth is held out."
    )


def _by_character() -> None:
    SETTINGS.take("task", BY_CHARACTER)
    SETTINGS.put({"task": BY_CHARACTER})


def _choose(name: str) -> None:
    if (before := SETTINGS.requested()["text"]) != PLAYS:
        st.session_state[LAST] = before
    SETTINGS.put({"text": name})


def _keep() -> None:
    file = st.session_state.get(FILE)
    content = file.getvalue() if file is not None else str(st.session_state.get(PASTED) or "").encode()
    with refused_in_words("text", ValueError):
        if not content:
            raise ValueError("No text has arrived. Paste it, or choose the file again.")
        server.pool().allowances.give_text(visitor())
        _choose(user_texts.keep(content, visitor(), server.pool().limits.texts_per_visitor))


# The prompt, and the text after it


WRITTEN = "lab.text.written"  # session key of the written texts, the latest first
MAX_SAMPLES = 6
PROMPT = "lab.text.prompt"
# in the order in which _written_text takes them
DEFAULTS: dict[str, Any] = {
    PROMPT: "ROMEO\nMy lord, ", "lab.text.temperature": 0.8, "lab.text.top_k": 40, "lab.text.length": 60, "lab.text.seed": 0,
}  # fmt: skip
EXAMPLE_TOKENS = 24  # as many words as a low window shows
HEIGHT = 220  # pixels for the text and the bars next to it, also while they are missing
POLL_SECONDS = 1.0  # between two checks of a live run's validation
ANSWER_SECONDS = 180.0  # enough for a text of a million tokens on a busy machine


def show_prompt(run: Run | None) -> Callable[[], None]:
    """Draw the prompt and an empty container for the text after it; nothing if the form's task has no text. Return the
    function that fills the container: it waits for a worker, so the page calls it last."""
    if not TASKS[SETTINGS.requested()["task"]].corpus:
        return nothing
    writer = run if run is not None and TASKS[run.config.task].corpus and _writes(run) else recorded_words()[0]
    prompt_column, answer_column = st.columns([1, 2.4], gap="medium")
    with prompt_column:
        _ask_for_words(writer)
    room = answer_column.container(height=HEIGHT, border=False, key="lab-text-written")

    def fill() -> None:
        ready = _has_worker()
        with room:
            as_fragment(_show_written, writer, ready, every=None if ready else POLL_SECONDS)

    return fill


def _writes(run: Run) -> bool:
    """Return whether a run has weights for writing that no longer change."""
    return run.state not in ("queued", "running") and run.weights is not None


def _weights_of(run: Run) -> str:
    return str(run.weights or "")


def _ask_for_words(run: Run) -> None:
    usual = _usual_prompt(run)
    # A new example replaces an earlier one, but never the reader's text.
    if st.session_state.get(PROMPT) in (None, st.session_state.get(f"{PROMPT}.example")):
        st.session_state[PROMPT] = usual
    st.session_state[f"{PROMPT}.example"] = usual
    for key, value in DEFAULTS.items():
        st.session_state.setdefault(key, value)
    storage: dict[str, Any] = {"persist_state": "session"}
    limit = f"At most {MAX_PROMPT_CHARACTERS:,} characters."
    st.text_area("Prompt", key=PROMPT, height=68, max_chars=MAX_PROMPT_CHARACTERS, help=limit, **storage)
    with st.container(horizontal=True, gap="small"):
        # A callback: a return value would be lost if the page reran before this line.
        st.button("Write", icon=":material/edit_note:", on_click=_write, args=(run,))
        with st.popover("How", icon=":material/tune:"):
            words = "Divides the logits. 0 always takes the likeliest token, 1 uses the model's own probabilities."
            help_on = explained(words, "temperature")
            st.slider("Temperature", 0.0, 2.0, step=0.05, key="lab.text.temperature", help=help_on, **storage)
            words = "Draw only among this many likeliest tokens."
            st.number_input("Top-k", 1, 30_000, key="lab.text.top_k", help=explained(words, "top-k"), **storage)
            st.number_input("Tokens", 1, MAX_WRITTEN_TOKENS, key="lab.text.length", **storage)
            words = "The same seed writes the same text."
            st.number_input("Seed of the words", 0, 2**31 - 1, key="lab.text.seed", help=words, **storage)


def _has_worker() -> bool:
    return server.pool().health().ready > 0


def _show_written(run: Run, ready: bool) -> None:
    """Show the run's texts, the latest first; initially its text after the usual prompt. ``ready``: the page found a
    worker."""
    if not ready and _has_worker():
        st.rerun()  # without the timer
    show_refusal("words", icon=":material/error:")
    samples = [row for row in st.session_state.get(WRITTEN, []) if row["run"] == run.id]
    if not samples and not ready:  # else the page would hang meanwhile
        st.caption(":material/hourglass_top: The workers are starting. The model writes when the first one is ready.")
        return
    try:
        if not samples:
            _show(_example(run), run)
        for number, one in enumerate(samples):
            _show(one, run, latest=number == 0)
    except JobError as error:
        st.info(in_markdown(error), icon=":material/info:")


def _usual_prompt(run: Run) -> str:
    """Return a prompt in the run's vocabulary: one from the plays if it has as many of their words as the recorded run,
    else a line without unknown tokens of the run's probe."""
    recorded, of_plays = recorded_words()[0].config, str(DEFAULTS[PROMPT])
    size, enough = (cast(int, config.value("vocab_size")) for config in (run.config, recorded))
    known = run.config.value("text") == PLAYS and (run.config.task != recorded.task or size >= enough)
    if known or run.snapshot is None:
        return of_plays
    return max(re.split(f"[{UNKNOWN_NAME}\n]", run.snapshot.prompt), key=len).strip() or of_plays


def _example(run: Run) -> dict[str, Any]:
    """Return the first text, shown without a request: after the usual prompt, and short if the recorded model writes it."""
    length = EXAMPLE_TOKENS if run is recorded_words()[0] else DEFAULTS["lab.text.length"]
    return _written_text(run, DEFAULTS | {PROMPT: _usual_prompt(run), "lab.text.length": length})


def _write(run: Run) -> None:
    with refused_in_words("words"):
        one = _written_text(run, {name: st.session_state[name] for name in DEFAULTS})
        st.session_state[WRITTEN] = [one, *st.session_state.get(WRITTEN, [])][:MAX_SAMPLES]


def _written_text(run: Run, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the run's text after the prompt, with its settings in words. Raises JobError."""
    prompt, temperature, top_k, length, seed = (request[name] for name in DEFAULTS)
    job = WriteText(
        run.config, _weights_of(run), prompt, length=length, temperature=temperature, top_k=top_k, seed=seed
    )
    answer = ask_once(job, run.step, timeout=ANSWER_SECONDS)
    how = f"Temperature {temperature:g}, top-k {top_k}, seed {seed}, read {answer['read']} tokens."
    who = "Recorded run" if run is recorded_words()[0] else "This run"
    return {**answer, "run": run.id, "by": f"{who}, step {run.step:,}", "how": how}


def _show(one: dict[str, Any], run: Run, *, latest: bool = False) -> None:
    """Show a text; the latest that the reader has asked for with the tokens that may follow it."""
    words, likely = st.columns([1.5, 1], gap="medium") if latest else (st.container(), None)
    with words:
        st.caption(one["by"], help=one["how"])
        if one["unknown"] and latest:
            st.caption(f":material/info: {in_markdown(unknown_in_words(one['unknown']))}")
        st.html(
            '<p dir="auto" style="white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; margin: 0">'
            f'<span style="opacity: .65">{escape(one["prompt"])}'
            f"</span>{escape(one['text'])}</p>"
        )
    if likely is not None:
        likeliest = ", ".join(f"{name} {p:.2f}" for name, p in one["next"][:5])
        next_token = Panel(
            id="next.token", title="Next token", figure=next_figure(one["next"][:6], color_of(run.config)), height=140,
            alt=f"Likeliest next tokens: {likeliest}",
        )  # fmt: skip
        with likely:
            panels([next_token], key="text-next", name="next token", subject=run.id, level=2)


# Comparison with counting models: the steps at which the run passed them, and the tokens on which it is better


IN_SENTENCES = {"bigram": "counting pairs of words", "trigram": "counting groups of three words"}
NAMES = {"model": "The model", "unigram": "Unigram", "bigram": "Kneser-Ney bigram", "trigram": "Kneser-Ney trigram"}
PARTS = {"all": "All tokens", "known": "Known tokens", "words": "Words", "layout": "Between words"}
EXPLAINED = Path(__file__).with_suffix(".md").read_text("utf-8")


def known_counts(run: Run | None) -> CountingLevels | None:
    """Return the counting models for a run on words; None for another run, and while they are unknown."""
    recorded, counts = recorded_words()
    if run is None or run.config.task != BY_WORD:
        return None
    return counts if run is recorded else if_known(CountWords(run.config))


def known_levels(run: Run | None) -> dict[str, tuple[str, float]]:
    """Return the counting models' loss on the run's validation: by name, a label and nats. Empty while unknown."""
    known = known_counts(run)
    return {NAMES[name]: (name.title(), nats) for name, nats in known["levels"].items()} if known else {}


def find_levels(run: Run | None) -> None:
    if run is None or run.config.task != BY_WORD or run.state == "failed" or known_counts(run) is not None:
        return
    try:
        with st.spinner("Counting words for the Kneser-Ney lines"):
            ask_once(CountWords(run.config), timeout=ANSWER_SECONDS)
    except JobError as error:
        st.caption(f":material/info: No counting models for this run: {in_markdown(error)}")


def show_counting(run: Run | None) -> None:
    if run is None or run.config.task != BY_WORD:
        return
    expander = st.expander("Better than counting?", icon=":material/balance:", key="lab.counting", on_change="rerun")
    if not expander.open:
        return
    with expander:
        as_fragment(_say_comparisons, run, every=POLL_SECONDS if run.state in ("queued", "running") else None)
        _show_text_facts(run)
        if _writes(run) and run.state != "paused":
            _compare(run)
        st.markdown(EXPLAINED.format(length=run.config.seq_len))


def _say_comparisons(run: Run) -> None:
    known = known_counts(run)
    levels = {words: known["levels"][name] for name, words in IN_SENTENCES.items() if known and name in known["levels"]}
    rows = counting_comparisons(run.config, run.events.landmarks(), levels)
    for row in rows:
        st.markdown(f":material/{'check_circle' if row.better else 'pending'}: {row.sentence}")
    if not rows and run.state != "failed":
        st.markdown(":material/pending: The run has just started.")
    st.caption(in_markdown(unknown_tokens(run.config, _scores(run, known))))


def _scores(run: Run, known: CountingLevels | None) -> Mapping[str, float]:
    """Return the scores of the last validation; before it, and in a run of an earlier version, only the share of
    unknown tokens in all held-out text."""
    rows = (event for event in reversed(list(run.events.landmarks())) if isinstance(event, Progress))
    scores = next((event.validation for event in rows if event.validation is not None), {})
    if "unknown_share" in scores or known is None:
        return scores
    return {"unknown_share": known["facts"]["unknown"] / max(1, known["facts"]["held_out"])}


def _show_text_facts(run: Run) -> None:
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


def _compare(run: Run) -> None:
    try:
        with st.spinner("Reading all held-out text"):
            comparison = ask_once(CompareWithCounting(run.config, _weights_of(run)), run.step, timeout=ANSWER_SECONDS)
    except JobError as error:
        st.info(in_markdown(error), icon=":material/info:")
        return
    nats, sizes = comparison["nats"], comparison["tokens"]
    parts = [part for part in PARTS if any(part in values for values in nats.values())]
    if sizes["known"] == sizes["all"]:
        parts.remove("known")
    frame = pd.DataFrame(
        [[f"{exp(values[part]):.1f}" if part in values else "" for part in parts] for values in nats.values()],
        index=pd.Index([NAMES[name] for name in nats], name="Model"),
        columns=[f"{PARTS[part]} ({sizes[part]:,})" for part in parts],
    )
    table_column, figure_column = st.columns([1.5, 1], gap="medium")
    with table_column:
        st.markdown("Perplexity on all held-out text; in brackets the number of tokens. Lower is better.")
        st.table(numbers_right(frame), border="horizontal", width="content", alt="Perplexity on all held-out text")
        st.caption(lead_over_trigram(nats))
    with figure_column:
        read = comparison["by_read"]
        drawn = by_read_figure(read, {name: NAMES[name] for name in nats}, color_of(run.config))
        sentences = [f"{NAMES[name]} {values[0]:.2f} to {values[-1]:.2f} nats" for name, values in read.items()]
        alt = f"Mean loss after the first token of a window and after the last: {', '.join(sentences)}"
        by_read = Panel(
            "beside.read", "Loss over the tokens already read", drawn, alt, height=300, term="kneser-ney",
            note="Mean loss at each position of the window. The counting models predict the same tokens.",
        )  # fmt: skip
        panels([by_read], key="text-beside", name="text", subject=run.id)


def lead_over_trigram(nats: Mapping[str, Mapping[str, float]]) -> str:
    """Return one sentence on how much of the lead over the trigram is on words, with the digits that the page shows."""
    where = {"words": "on words", "layout": "between them"}
    leads = []
    for part in where:
        if part in nats["model"]:
            lead = round(nats["trigram"][part] - nats["model"][part], 2)
            apart = f"{'lower' if lead > 0 else 'higher'} by {abs(lead):.2f} nats" if lead else "the same"
            leads.append(f"{apart} {where[part]}")
    return f"Compared with the trigram, the model's loss is {' and '.join(leads)}."
