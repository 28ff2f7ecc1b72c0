"""The lab as a step of a lesson that is shown to a room: the question, the guess, the living picture, one figure and the sentence on one
screen."""

from collections.abc import Sequence
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from engine.config.link import to_query
from engine.config.run_config import RunConfig
from engine.experiments.key_figure import ANSWERS, in_words
from engine.experiments.lessons import Question
from engine.runs.run import Run
from engine.runs.summary import Remark, run_summary
from pages.parts.app.in_markdown import escaped, in_markdown, show_refusal
from pages.parts.app.own_runs import shown_run
from pages.parts.boards.live.board import live_board
from pages.parts.lab.controls import submit
from pages.parts.lab.model import act, model_of
from pages.parts.stage.presenting import Presenting, asks_to_run, guesses_closed, shows, take_guess
from pages.parts.stage.wall import show_hands, tell_phones, verdict


def show_presented(config: RunConfig, now: Presenting) -> Run | None:
    """The screen at the present beat; returns the run that it shows. The beat "run" trains it, once each time."""
    if asks_to_run(""):
        submit(config)
    run = shown_run() if shows("run") else None
    if run is not None and run.config != config:
        run = None
    with st.container(key="lab-presented"):
        title, question = escaped(now.step.title.removeprefix("Lab: ")), now.step.question
        st.title(question.words if question else title, anchor=False)
        if question and not shows("run"):
            st.caption(f"{title} · {question.sample}")
        remarks = run_summary(run.config, run.events.landmarks()) if run is not None and not run.live else []
        answered = _show_guesses(now, question, remarks) if question is not None and shows("guess") else ""
        show_refusal()
        live_board(
            run, panels=("stack", "accuracy"), name=config.task, untrained="" if run else urlencode(to_query(config)),
            model=model_of(config, run.config if run else None),
            room=now.beats[max(0, now.beat)], on_act=act,
        )  # fmt: skip
        if shows("sentence"):
            told = in_markdown(remarks[0].sentence) if remarks else "The sentence comes when the training has ended."
            st.subheader(f"{answered} {told}".strip(), anchor=False)
    return run


def _show_guesses(now: Presenting, question: Question, remarks: Sequence[Remark]) -> str:
    """The presenter's guess, which a key chooses, and those of the class; returns what the run says to it. ``remarks``: those on the run
    that has ended."""
    key = f"guess.lab.{now.at}.{now.began}"
    if (place := take_guess()) is not None:
        st.session_state[key] = ANSWERS[place]
    if not shows("run"):
        st.segmented_control(
            "Your guess", ANSWERS, format_func=partial(in_words, question.answers), key=key, disabled=guesses_closed(),
            persist_state="session",
        )  # fmt: skip
    right = tuple(remark.learned for remark in remarks if remark.learned is not None)
    if remarks:
        tell_phones(right, remarks[0].sentence)
    if shows("sentence") or not shows("run"):
        show_hands(right)
    guess = st.session_state.get(key)
    return verdict(question.answers, guess, right) if remarks and guess is not None else ""
