"""The lab as a step of a lesson, on one screen: the question, the guess, one figure and the result. A room gets it with
the live picture; a visitor alone trains it and may change one setting."""

import streamlit as st

from engine.config.run_config import RunConfig
from engine.experiments.lessons import Guide
from engine.experiments.question import Observed, Question
from engine.experiments.run_readings import READINGS
from engine.runs.run import Run
from pages.parts.app.in_markdown import escaped, in_markdown, show_refusal
from pages.parts.app.recent_runs import shown_run
from pages.parts.boards.live.board import BoardLayout, Picture, live_board
from pages.parts.experiments import guided
from pages.parts.experiments.guided import GUESS_FIRST, ask_alone, in_words, observed_in
from pages.parts.experiments.presenting import Presenting, asks_to_run, guesses_closed, presenting, shows, take_guess
from pages.parts.experiments.projector import show_responses, tell_participants
from pages.parts.experiments.question import UNREAD, ask_here, guess_of, guess_result
from pages.parts.lab.form import act, model_of, run_buttons, steering, submit
from pages.parts.lab.state import SETTINGS


def show_presented(config: RunConfig, now: Presenting) -> Run | None:
    """Draw the present phase, and return its run. The phase "run" trains it, once each time."""
    if asks_to_run(""):
        submit(config)
    run = shown_run() if shows("run") else None
    if run is not None and run.config != config:
        run = None
    with st.container(key="lab-presented"):
        title, question, guide = escaped(now.step.title.removeprefix("Lab: ")), now.step.question, now.step.guide
        st.title(escaped(question.words) if question else title, anchor=False)
        if question and not shows("run"):
            st.caption(f"{title} · {question.sample}")
            if guide:
                st.markdown(" ".join(guide.text))
        observed = observed_in(question, run) if question else None
        response = _show_guesses(now, question, observed) if question is not None and shows("guess") else ""
        show_refusal()
        layout = BoardLayout(
            ("stack", guide.figure if guide else "accuracy"), config.task, room=now.phases[max(0, now.phase)]
        )
        picture = Picture(model_of(config, run.config if run else None), on_act=act)
        live_board(run or config, layout, picture=picture)
        if shows("sentence"):
            sentence = "The result appears when the training ends."
            if observed is not None:
                sentence = in_words(observed, guide)
            elif run is not None and not run.live:
                sentence = UNREAD
            with st.container(key="lab-taught" if guide else None):
                st.subheader(f"{response} {sentence}".strip(), anchor=False)
    return run


def _show_guesses(now: Presenting, question: Question, observed: Observed | None) -> str:
    """Draw the presenter's guess, which a key selects, and those of the class; return the verdict on it."""
    name = f"lab.{now.visit}"
    take_guess(name)
    guess = guess_of(name).answer
    if not shows("run"):
        ask_here(question, name, disabled=guesses_closed())
    right = observed.right if observed is not None else ()
    if observed is not None:
        lesson = now.step.guide.taught_by(observed) if now.step.guide else ""
        tell_participants(right, f"{observed.sentence} {lesson}".strip())
    if shows("sentence") or not shows("run"):
        show_responses(right)
    return guess_result(question, guess, right) if observed is not None and guess is not None else ""


def show_question(run: Run | None) -> None:
    now = presenting()
    question = now.step.question if now is not None else None
    if now is None or question is None or not now.step.teachers_question or now.step.slide:
        return
    observed = observed_in(question, run if run is not None and run.config == now.step.config else None)
    with st.container(key="lab-question"):
        guess = ask_alone(question, f"lab.{now.visit}", observed)
        if observed is not None:
            # The summary begins with this sentence anyway.
            sentence = "" if question.decided_by == READINGS["learned"] else in_markdown(observed.sentence)
            st.markdown(
                f"{guess_result(question, guess, observed.right)} {sentence}" if guess is not None else GUESS_FIRST
            )


def run_of_step(config: RunConfig, now: Presenting) -> Run | None:
    """Return the run of a prepared step with the selected value: just started there, or named by a link."""
    if now.step.guide is None:
        return None
    name, run = guided.name_in(_visit(now), now.step.guide, config), shown_run()
    if run is not None and run.config == config and not guided.is_kept(run.id):
        # Two steps may have the same settings: a run of an earlier step does not count here.
        guided.keep_run(name, run.id)
    return guided.find_run(name)


def show_guided(config: RunConfig, now: Presenting, guide: Guide, run: Run | None) -> None:
    def buttons(_: object) -> None:
        run_buttons(run, config)
        with st.popover("More"):
            steering(run, config)

    bound = SETTINGS.bound(guide.vary, display=config.value(guide.vary))
    guided.show_guided(guide, _visit(now), config, run, bound=bound, buttons=buttons)


def _visit(now: Presenting) -> str:
    return f"lab.{now.visit}"
