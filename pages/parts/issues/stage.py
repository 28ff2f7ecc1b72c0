"""The first screen of an issue: the question, the guess and Run at the left, the key figure and its sentence at the right."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

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
from pages.parts.issues.class_figure import class_board, end_own_run, shown_of_class
from pages.parts.issues.guess import answered, ask_guess, ask_size
from pages.parts.issues.key_panel import key_sections, outcome_so_far, outcomes
from pages.parts.issues.state import asked, extended, forget, offer_more_seeds, run_asked, show_settings
from pages.parts.issues.words import show_way
from pages.parts.stage.board import Drawing, experiment_board
from pages.parts.stage.experiments import begin, run_or_stop
from pages.parts.stage.issue_list import shown_runs
from pages.parts.stage.presenting import Presenting, asks_to_run, guesses_closed, presented, presenting, take_guess
from pages.parts.stage.question import Guess, guess_of, keep_guess
from pages.parts.stage.shown import Shown, of_run
from pages.parts.stage.wall import show_hands, tell_phones

KEY = "key"
"""The name of the key figure's board."""
TOLD = "issues.told"
"""Session key: the outcome that the wall has told where it decides the question, by lesson and step."""
GuessState = Literal["later", "open", "closed", "missed"]
"""The three answers are not asked for yet, can be chosen, can no longer be, or are left out: nobody in the room chose in time."""


@dataclass(frozen=True)
class StageView:
    """What the screen shows. In a presented lesson this depends on the beat; else all of it may stand there."""

    room: bool
    """Whether it is shown to a room."""
    seeds: Literal["none", "own", "class"]
    """Whose seeds the figure shows: nobody's before the beat of the run, the reader's own, or those that a class trains."""
    stored: bool
    """Whether stored seeds stand above them."""
    guess: GuessState
    gone_back: str
    """The note where the presenter stepped back before the run, which has closed the guessing: no result is shown until its beat comes
    again. Else empty."""
    whole: bool
    """Whether all rows are shown, and not only the two that the question compares."""
    sentence: bool
    remedy: bool
    controls: bool
    """Whether Run stands there. At the end of a presented issue its room is the remedy's."""
    way: bool
    """Whether a link leads on to the next issue: a lesson has a way of its own."""


def stage_view(slug: str, now: Presenting | None, run: str, *, pressed: bool, closed: bool, guessed: bool) -> StageView:
    """``run``: the state of the run that is looked at, empty without one; ``pressed``: whether Run was pressed; ``closed``: whether the
    presented step takes no guess any more; ``guessed``: whether there is a guess."""
    room = now is not None and now.on

    def shows(beat: str) -> bool:
        return now is None or now.shows(beat)

    class_trains = now is not None and room and now.round > 0 and now.step.issue == slug and shows("run")
    pressed = pressed and shows("run") and not class_trains
    gone_back = closed and not shows("run")
    how_far = {"": "", "running": "It is running. "}.get(run, "It has run. ")
    guess: GuessState = "later"
    if shows("guess"):
        guess = "open" if not (closed or pressed) else "missed" if room and not guessed else "closed"
    going = (run in ("", "running") or not shows("run")) and not shows("remedy")
    return StageView(
        room=room,
        seeds="class" if class_trains else "own" if shows("run") else "none",
        stored=pressed or (class_trains and shows("sentence")),
        guess=guess,
        gone_back=f"{how_far}Guessing is closed." if gone_back else "",
        whole=shows("figure"),
        sentence=shows("sentence"),
        remedy=shows("remedy"),
        controls=shows("guess") and not (class_trains or gone_back) and (going or not room),
        way=pressed and now is None,
    )


def show_stage(issue: Issue, name: str, run: ExperimentRun | None) -> Shown | None:
    """The screen; returns the result that it tells, if any. What stored seeds say stands on it as soon as Run is pressed, and what is
    trained here comes beside it."""
    now, figure = presenting(), issue.key_figure
    if (place := take_guess()) is not None:  # before a run begins: the next key may have come with it
        keep_guess(issue.slug, replace(guess_of(issue.slug), answer=ANSWERS[place]))
    guess, state = guess_of(issue.slug), "" if run is None else run.state
    view = stage_view(
        issue.slug, now, state, pressed=issue.slug in shown_runs(), closed=guesses_closed(), guessed=guess.answer is not None
    )  # fmt: skip
    if view.seeds == "class":
        end_own_run(issue)
    elif view.seeds == "own" and run is None and asks_to_run(issue.slug):
        begin(run_asked(issue))
        st.rerun()
    if view.seeds != "own":
        run = None  # an earlier result is no answer to a class that has not guessed
    stored = shown_report(issue) if view.stored else None
    live = of_run(run) if run is not None else None
    if view.seeds == "class" and now is not None:
        live = shown_of_class(issue, now)
    ended = live if live is not None and live.state != "running" and outcome_so_far(figure, live) else None
    outcome = _until_the_class_decides(next(iter(outcomes(figure, stored, ended)), None))
    with st.container(key="stage"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="stage-head"):
            st.title(issue.title, anchor=False, width="stretch")
            if view.way:
                show_way(issue)
        question, result = st.columns([1, 1.9], gap="large")
        with question, st.container(key="stage-question", gap="small"):
            _show_question(issue, view, guess, outcome, run)
        with result:
            if view.seeds == "class" and now is not None:
                class_board(KEY, issue, now, stored)
            else:
                _show_figure(issue, view, guess, stored, name, run)
        if outcome is not None and view.remedy:
            beside = question if view.room else result  # in a room the figure takes the height
            with beside.container(key="stage-remedy"):
                _show_remedy(figure, outcome, room=view.room)
    return live if ended is not None or stored is None else Shown.of(stored, "shipped")


def _show_question(
    issue: Issue, view: StageView, guess: Guess, outcome: Outcome | None, run: ExperimentRun | None
) -> None:
    figure = issue.key_figure
    st.caption(figure.sample)
    st.header(figure.question, anchor=False)
    if view.guess == "later":
        return
    if view.guess != "missed":
        ask_guess(issue.slug, figure, disabled=view.guess == "closed")
    if view.gone_back:
        st.caption(view.gone_back)
    told = outcome if view.sentence else None
    with st.container():  # always there: what comes into it must not replace Run, which may have the focus
        if told is not None and guess.answer is not None:
            st.markdown(answered(figure, guess, told))
        elif view.guess == "open" and guess.answer is not None:
            ask_size(issue.slug, figure)
        if outcome is not None:
            tell_phones(outcome.right, outcome.sentence, outcome.because)
        show_hands(told.right if told is not None else ())
    if view.controls:
        _run(issue, run)


def _show_figure(
    issue: Issue, view: StageView, guess: Guess, stored: Report | None, name: str, run: ExperimentRun | None
) -> None:
    """The figure of the reader's own run, or before it the rows alone."""

    def drag() -> None:
        picked = pick_told(st.session_state.get(KEY))
        if picked is not None and picked.y == "mark":
            keep_guess(issue.slug, replace(guess_of(issue.slug), size=float(f"{float(picked.x):.2g}")))

    figure, (whole, said) = issue.key_figure, (view.whole, view.sentence)
    sections = partial(key_sections, issue, figure, guess, whole, said, stored)
    quiet = view.room and stored is not None  # how far it is matters to nobody where the answer stands already
    drawing = Drawing(KEY, sections, (guess, whole, said, stored is not None), drag, figure.name_of, quiet=quiet)
    if run is not None:
        experiment_board(drawing, name, run)
        say_unsaved(run)
    else:
        before_any_run = report(asked(issue), (), asked(issue).seed_range, extended=extended())
        experiment_board(drawing, issue.slug, Shown.of(before_any_run, "none" if view.gone_back else "waiting"))


def _show_remedy(figure: KeyFigure, outcome: Outcome, *, room: bool) -> None:
    if outcome.because:
        st.markdown(f"**Because** {outcome.because}")
    elif outcome.answer is not None and figure.because:
        st.markdown("These runs do not show what this issue claims, so there is nothing to explain.")
    if room:
        st.markdown(f"**What helps:** {figure.remedy}")


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
