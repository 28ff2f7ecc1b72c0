"""The first screen of an issue: the question, the guess and Run at the left, the key figure and its sentence at the right."""

from dataclasses import replace
from functools import partial

import streamlit as st

from engine.experiments.evidence.shipped import shown_report
from engine.experiments.finding import FEWEST_SEEDS
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import KeyFigure, Outcome
from engine.experiments.question import ANSWERS
from engine.experiments.report import Report, report
from engine.experiments.running.experiment_run import ExperimentRun
from engine.foundation.formatting import counted
from pages.parts.app.in_markdown import say_unsaved, show_refusal
from pages.parts.boards.panels import pick_told
from pages.parts.issues.class_figure import asked_of_class, class_board, end_own_run, shown_of_class
from pages.parts.issues.guess import answered, ask_guess, ask_size
from pages.parts.issues.key_panel import key_sections, outcome_so_far, outcomes
from pages.parts.issues.state import asked, extended, forget, offer_more_seeds, run_asked, show_settings
from pages.parts.issues.words import show_way
from pages.parts.stage.board import Drawing, experiment_board
from pages.parts.stage.experiments import begin, run_or_stop
from pages.parts.stage.issue_list import shown_runs
from pages.parts.stage.presenting import asks_to_run, guesses_closed, presented, presenting, shows, take_guess
from pages.parts.stage.question import guess_of, keep_guess
from pages.parts.stage.shown import Shown, of_run
from pages.parts.stage.wall import show_hands, tell_phones

KEY = "key"
"""The name of the key figure's board."""
TOLD = "issues.told"
"""Session key: the outcome that the wall has told where it decides the question, by lesson and step."""


def show_stage(issue: Issue, name: str, run: ExperimentRun | None) -> Shown | None:
    """The screen; returns the result that it tells, if any. What stored seeds say stands on it as soon as Run is pressed, and what is
    trained here comes beside it."""
    figure, class_trains = issue.key_figure, asked_of_class(issue)
    if class_trains:
        end_own_run(issue)
    if (place := take_guess()) is not None:  # before a run begins: the next key may have come with it
        keep_guess(issue.slug, replace(guess_of(issue.slug), answer=ANSWERS[place]))
    # The presenter stepped back before the run: no result is shown until its step comes again.
    gone_back = guesses_closed() and not shows("run")
    how_far = "" if run is None else "It is running. " if run.state == "running" else "It has run. "
    if not shows("run") or class_trains:
        name, run = "", None  # an earlier result is no answer to a class that has not guessed
    elif run is None and asks_to_run(issue.slug):
        begin(run_asked(issue))
        st.rerun()
    pressed = not class_trains and shows("run") and issue.slug in shown_runs()
    with st.container(key="stage"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="stage-head"):
            st.title(issue.title, anchor=False, width="stretch")
            if pressed and presenting() is None:  # a lesson has a way of its own
                show_way(issue)
        question, result = st.columns([1, 1.9], gap="large")
        stored = shown_report(issue) if pressed or (class_trains and shows("sentence")) else None
        live = shown_of_class(issue, class_trains) if class_trains else of_run(run) if run is not None else None
        ended = live if live is not None and live.state != "running" and outcome_so_far(figure, live) else None
        outcome = _until_the_class_decides(next(iter(outcomes(figure, stored, ended)), None))
        with question, st.container(key="stage-question", gap="small"):
            st.caption(figure.sample)
            st.header(figure.question, anchor=False)
            if shows("guess"):
                guess, closed = guess_of(issue.slug), pressed or guesses_closed()
                if guess.answer is not None or not (closed and presented()):  # a room is not asked after the answer
                    guess = ask_guess(issue.slug, figure, disabled=closed)
                if gone_back:
                    st.caption(f"{how_far}Guessing is closed.")
                with st.container():  # always there: what comes into it must not replace Run, which may have the focus
                    if outcome is not None and guess.answer is not None and shows("sentence"):
                        st.markdown(answered(figure, guess, outcome))
                    elif guess.answer is not None and not closed:
                        ask_size(issue.slug, figure)
                    right = outcome.right if outcome is not None and shows("sentence") else ()
                    if outcome is not None:
                        tell_phones(outcome.right, outcome.sentence, outcome.because)
                    show_hands(right)
                # At the end what helps has the room on the wall.
                going = (run is None or run.state == "running") and not shows("remedy")
                if not (class_trains or gone_back) and (going or not presented()):
                    _run(issue, run)
        with result:
            drawing = _drawing(issue, figure, stored)
            if class_trains:
                class_board(KEY, issue, class_trains, stored)
            elif run is not None:
                experiment_board(drawing, name, run)
                say_unsaved(run)
            else:
                before_any_run = report(asked(issue), (), asked(issue).seed_range, extended=extended())
                experiment_board(drawing, issue.slug, Shown.of(before_any_run, "none" if gone_back else "waiting"))
        if outcome is not None and shows("remedy"):
            beside = question if presented() else result  # in a room the figure takes the height
            with beside.container(key="stage-remedy"):
                if outcome.because:
                    st.markdown(f"**Because** {outcome.because}")
                elif outcome.answer is not None and figure.because:
                    st.markdown("These runs do not show what this issue claims, so there is nothing to explain.")
                if presented():
                    st.markdown(f"**What helps:** {figure.remedy}")
    return live if ended is not None or stored is None else Shown.of(stored, "shipped")


def _until_the_class_decides(outcome: Outcome | None) -> Outcome | None:
    """The outcome, or in its place the one of the runs before that the wall has told in this step: seeds of the class that decide nothing
    yet take nothing back. Their number stands at their figure."""
    now, told = presenting(), st.session_state.setdefault(TOLD, {})
    decides = outcome is not None and outcome.right
    if now is None or not now.on or not now.shows("sentence"):
        return outcome
    if decides and not now.round:
        told[now.began, now.at] = outcome
    return outcome if decides or not now.round else told.get((now.began, now.at), outcome)


def _drawing(issue: Issue, figure: KeyFigure, stored: Report | None) -> Drawing:
    guess = guess_of(issue.slug)

    def drag() -> None:
        picked = pick_told(st.session_state.get(KEY))
        if picked is not None and picked.y == "mark":
            keep_guess(issue.slug, replace(guess_of(issue.slug), size=float(f"{float(picked.x):.2g}")))

    whole, said = shows("figure"), shows("sentence")
    sections = partial(key_sections, issue, figure, guess, whole, said, stored)
    quiet = presented() and stored is not None  # how far it is matters to nobody where the answer stands already
    return Drawing(KEY, sections, (guess, whole, said, stored is not None), drag, figure.name_of, quiet=quiet)


def _run(issue: Issue, run: ExperimentRun | None) -> None:
    """Run, and beside it Stop or the number of seeds; a note where they are too few to decide."""
    running = run is not None and run.state == "running"
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        run_or_stop(shown_runs().get(issue.slug, ""), run, partial(run_asked, issue))
        if not (running or presented()):
            show_settings(issue)
        if issue.slug in shown_runs() and not running:
            st.button("Guess again", icon=":material/replay:", on_click=forget, args=(issue,), type="tertiary")
    if (seeds := asked(issue).seeds) < FEWEST_SEEDS and issue.slug not in shown_runs():  # later the sentence says so
        st.caption(f":orange[With {counted(seeds, 'seed')} nothing can be decided: it takes at least six.]")
    if run is not None and not running:
        offer_more_seeds(issue, run)
    show_refusal()
