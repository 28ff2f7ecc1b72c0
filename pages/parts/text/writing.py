"""Writing after the reader's prompt, with temperature and top-k."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from engine.analysis.limits import LONGEST, LONGEST_PROMPT
from engine.analysis.text_jobs import WriteText
from engine.runs.run import Run
from engine.text.tokens import unknown_in_words
from pages.parts.app.glossary import explained
from pages.parts.app.in_markdown import in_markdown, refused_in_words, show_refusal
from pages.parts.app.questions import ask
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.encoding import color_of
from pages.parts.charts.over_steps import next_figure
from pages.parts.text.state import PLAYS, TIMEOUT, weights_of

WRITTEN = "text.written"
"""The session key of the written texts, the latest first."""
MAX_KEPT = 6
DEFAULTS: dict[str, Any] = {
    "text.prompt": "ROMEO\nMy lord, ", "text.temperature": 0.8, "text.top_k": 40, "text.length": 60, "text.sample_seed": 0,
}  # fmt: skip


def show_writing(run: Run) -> None:
    st.header("Write on", anchor=False)
    for key, value in (DEFAULTS | _own_words(run)).items():
        st.session_state.setdefault(key, value)
    left, right = st.columns([1, 1.6], gap="medium")
    with left:
        st.text_area(
            "Prompt", key="text.prompt", height=90, max_chars=LONGEST_PROMPT, persist_state="session",
            help=f"At most {LONGEST_PROMPT:,} characters.",
        )  # fmt: skip
        st.slider(
            "Temperature", 0.0, 2.0, step=0.05, key="text.temperature", persist_state="session",
            help=explained("Divides the logits. 0 always takes the likeliest token, 1 draws as the model believes.", "temperature"),
        )  # fmt: skip
        columns = st.columns(3)
        columns[0].number_input(
            "Top-k",
            1,
            30_000,
            key="text.top_k",
            persist_state="session",
            help=explained("Draw among so many likeliest tokens only.", "top-k"),
        )
        columns[1].number_input("Tokens", 1, LONGEST, key="text.length", persist_state="session")
        columns[2].number_input(
            "Seed", 0, 2**31 - 1, key="text.sample_seed", persist_state="session", help="The same seed writes the same."
        )
        # A callback: if the page is rerun again before it gets here, a return value would be lost.
        st.button("Write", icon=":material/edit_note:", type="primary", on_click=_write, args=(run,))
        show_refusal("words", icon=":material/error:")
    with right:
        for place, one in enumerate(row for row in st.session_state.get(WRITTEN, []) if row["run"] == run.id):
            _show(one, run, latest=place == 0)


def _own_words(run: Run) -> dict[str, str]:
    """The default prompt for a text other than the plays: the prompt of the run's snapshots."""
    own = run.config.value("text") != PLAYS and run.snapshot is not None
    return {"text.prompt": run.snapshot.prompt} if own and run.snapshot else {}


def _write(run: Run) -> None:
    state = st.session_state
    job = WriteText(
        run.config, weights_of(run), state["text.prompt"], length=state["text.length"],
        temperature=state["text.temperature"], top_k=state["text.top_k"], seed=state["text.sample_seed"],
    )  # fmt: skip
    with refused_in_words("words"):
        answer = ask(job, timeout=TIMEOUT)
        settings = (
            f"step {run.step:,}, temperature {state['text.temperature']:g}, top-k {state['text.top_k']}, "
            f"seed {state['text.sample_seed']}, read {answer['read']} tokens"
        )
        row = {**answer, "run": run.id, "settings": settings}
        state[WRITTEN] = [row, *state.get(WRITTEN, [])][:MAX_KEPT]


def _show(one: dict[str, Any], run: Run, *, latest: bool) -> None:
    if one["unknown"] and latest:
        st.caption(f":material/info: {in_markdown(unknown_in_words(one['unknown']))}")
    st.html(
        f'<p style="white-space: pre-wrap; overflow-wrap: anywhere; margin: 0"><span style="opacity: .65">{escape(one["prompt"])}'
        f"</span>{escape(one['text'])}</p>"
    )
    st.caption(one["settings"])
    if latest:
        likeliest = ", ".join(f"{name} {p:.2f}" for name, p in one["next"][:5])
        panels(
            [
                Panel(
                    id="next.token", title="Right after the prompt", figure=next_figure(one["next"], color_of(run.config)),
                    alt=f"Likeliest next tokens: {likeliest}", height=240,
                    note="What the first token was drawn from, after temperature and top-k.",
                )
            ],
            key="text-next", name="next token", subject=run.id,
        )  # fmt: skip
