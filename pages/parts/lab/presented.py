"""The lab as a step of a lesson that is shown to a room: the question, the guess, the living picture, one figure and the sentence on one
screen."""

import streamlit as st

from engine.config.run_config import RunConfig
from engine.experiments.question import ANSWERS, Observed, Question
from engine.experiments.run_readings import READINGS
from engine.runs.run import Run
from pages.parts.app.in_markdown import escaped, in_markdown, show_refusal
from pages.parts.app.own_runs import shown_run
from pages.parts.boards.live.board import Layout, Picture, live_board
from pages.parts.lab.form import act, model_of, submit
from pages.parts.stage.presenting import Presenting, asks_to_run, guesses_closed, presenting, shows, take_guess
from pages.parts.stage.question import UNREAD, Guess, ask, guess_of, keep_guess, verdict
from pages.parts.stage.wall import show_hands, tell_phones


def show_presented(config: RunConfig, now: Presenting) -> Run | None:
    """The screen at the present beat; returns the run that it shows. The beat "run" trains it, once each time."""
    if asks_to_run(""):
        submit(config)
    run = shown_run() if shows("run") else None
    if run is not None and run.config != config:
        run = None
    with st.container(key="lab-presented"):
        title, question = escaped(now.step.title.removeprefix("Lab: ")), now.step.question
        st.title(escaped(question.words) if question else title, anchor=False)
        if question and not shows("run"):
            st.caption(f"{title} · {question.sample}")
        observed = question.observe(run.config, run.events) if question and run is not None and not run.live else None
        answered = _show_guesses(now, question, observed) if question is not None and shows("guess") else ""
        show_refusal()
        layout = Layout(("stack", "accuracy"), config.task, room=now.beats[max(0, now.beat)])
        picture = Picture(model_of(config, run.config if run else None), on_act=act)
        live_board(run or config, layout, picture=picture)
        if shows("sentence"):
            told = "The sentence comes when the training has ended."
            if observed is not None:
                told = in_markdown(observed.sentence)
            elif run is not None and not run.live:
                told = UNREAD
            st.subheader(f"{answered} {told}".strip(), anchor=False)
    return run


def show_question(run: Run | None) -> None:
    """A teacher's own question to somebody who goes through the lesson alone, and what the run of the step says to the guess."""
    now = presenting()
    question = now.step.question if now is not None else None
    if now is None or question is None or not now.step.own_question or now.step.slide:
        return
    name = f"lab.{now.at}.{now.began}"
    guess = guess_of(name).answer
    asked = run if run is not None and run.config == now.step.config else None
    observed = question.observe(asked.config, asked.events) if asked is not None and not asked.live else None
    told = guess is not None and observed is not None
    with st.container(key="lab-question"):
        st.markdown(f"**{escaped(question.words)}**")
        ask(question, f"guess.{name}", guess, lambda answer: keep_guess(name, Guess(answer)), disabled=told)
        if told and observed is not None:
            # What the summary says first stands below in any case.
            sentence = "" if question.decided_by == READINGS["learned"] else in_markdown(observed.sentence)
            st.markdown(f"{verdict(question, guess, observed.right)} {sentence}".strip())


def _show_guesses(now: Presenting, question: Question, observed: Observed | None) -> str:
    """The presenter's guess, which a key chooses, and those of the class; returns what the run says to it."""
    name = f"lab.{now.at}.{now.began}"
    if (place := take_guess()) is not None:
        keep_guess(name, Guess(ANSWERS[place]))
    guess = guess_of(name).answer
    if not shows("run"):
        ask(question, f"guess.{name}", guess, lambda answer: keep_guess(name, Guess(answer)), disabled=guesses_closed())
    right = observed.right if observed is not None else ()
    if observed is not None:
        tell_phones(right, observed.sentence)
    if shows("sentence") or not shows("run"):
        show_hands(right)
    return verdict(question, guess, right) if observed is not None and guess is not None else ""
