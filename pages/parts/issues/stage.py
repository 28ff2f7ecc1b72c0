"""The first screen of an issue: the question, the guess and Run at the left, the key figure and its sentence at the right."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from engine.experiments.evidence.shipped import shipped_reports
from engine.experiments.evidence.store import has_evidence, latest
from engine.experiments.finding import FEWEST_SEEDS
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import ANSWERS, KeyFigure
from engine.experiments.report import report
from engine.experiments.running.experiment_run import ExperimentRun
from engine.foundation.formatting import counted
from pages.parts.app.in_markdown import say_unsaved, show_refusal
from pages.parts.app.visitor import visitor
from pages.parts.boards.panels import pick_told
from pages.parts.issues.class_figure import asked_of_class, class_board, shown_of_class
from pages.parts.issues.guess import answered, ask_guess, ask_size, guess_of, put_guess, take_dragged
from pages.parts.issues.key_panel import key_sections, outcome_so_far
from pages.parts.issues.state import asked, extended, forget, offer_more_seeds, run_asked, show_settings
from pages.parts.issues.words import show_way
from pages.parts.stage.board import Drawing, experiment_board
from pages.parts.stage.experiments import EXPERIMENTS, begin, forecast, run_or_stop
from pages.parts.stage.issue_list import shown_runs
from pages.parts.stage.presenting import asks_to_run, presented, presenting, shows, take_guess
from pages.parts.stage.shown import Shown, of_run
from pages.parts.stage.wall import show_hands, tell_phones

KEY = "key"
"""The name of the key figure's board."""
STORED = "issues.kept"
"""Widget key of the choice, followed by the issue's slug: what is shown of one issue shows nothing of the next."""
MEASURED = "issues.measured"
"""Session key: the slugs and lessons, each by the time when it began, in which a presenter has chosen to show what was measured."""


def show_stage(issue: Issue, name: str, run: ExperimentRun | None) -> Shown | None:
    """The screen; returns the evidence that it shows, if any."""
    figure, class_trains = issue.key_figure, asked_of_class(issue)
    if not shows("run") or class_trains:
        name, run = "", None  # an earlier result is no answer to a class that has not guessed
    elif _shows_measured(issue):
        name, run = "", None
    elif run is None and asks_to_run(issue.slug):
        begin(run_asked(issue))
        st.rerun()
    with st.container(key="stage"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="stage-head"):
            st.title(issue.title, anchor=False, width="stretch")
            if presenting() is None:  # a lesson has a way of its own
                show_way(issue)
        question, result = st.columns([1, 1.9], gap="large")
        below = st.container(horizontal=True, vertical_alignment="center", gap="medium", key="stage-below")
        with below:
            stored = shown_of_class(issue) if class_trains else _stored(issue) if run is None else None
            if run is None:
                st.caption(forecast(asked(issue), extended()))
        shown = of_run(run) if run is not None else stored
        outcome = outcome_so_far(figure, shown) if shown is not None and shown.state != "running" else None
        with question, st.container(key="stage-question", gap="small"):
            st.caption(figure.sample)
            st.header(figure.question, anchor=False)
            if shows("guess"):
                if (place := take_guess()) is not None and run is None:
                    put_guess(issue.slug, replace(guess_of(issue.slug), answer=ANSWERS[place]))
                guess = ask_guess(issue.slug, figure, disabled=run is not None)
                with st.container():  # always there: what comes into it must not replace Run, which may have the focus
                    if outcome is not None and guess.answer is not None and shows("sentence"):
                        st.markdown(answered(figure, guess, outcome))
                    elif outcome is None and guess.answer is not None and run is None:
                        ask_size(issue.slug, figure)
                    right = outcome.right if outcome is not None and shows("sentence") else ()
                    if outcome is not None:
                        tell_phones(outcome.right, outcome.sentence)
                    show_hands(right)
                if not class_trains and (outcome is None or not presented()):
                    _run(issue, run)
        with result:
            drawing = _drawing(issue, figure)
            if class_trains:
                class_board(KEY, issue)
            elif run is not None:
                experiment_board(drawing, name, run)
                say_unsaved(run)
            else:
                before_any_run = report(asked(issue), (), asked(issue).seed_range, extended=extended())
                there = shown or Shown.of(before_any_run, "waiting")
                experiment_board(drawing, f"{issue.slug}.{there.seeds}.{there.stamp}", there)
        if outcome is not None and shows("remedy"):
            with question if presented() else result:  # in a room the figure takes the height
                st.markdown(f"**What helps:** {figure.remedy}")
    return shown


def _stored(issue: Issue) -> Shown | None:
    """The earlier result that the reader or the presenter chooses to see; by default none, so that a guess comes first."""
    if presented():
        return Shown.of(shipped_reports(issue)[0], "shipped") if _shows_measured(issue) else None
    there: dict[str, Callable[[], Shown | None]] = {}
    if has_evidence(issue.slug):
        there["Last run here"] = lambda: Shown.of(found, "kept") if (found := latest(issue)) else None
    for found in shipped_reports(issue):
        there[f"Seeds {found.seeds[0]}-{found.seeds[-1]}"] = partial(Shown.of, found, "shipped")
    if not there:
        return None
    chosen = st.pills("Or see what was measured", list(there), key=f"{STORED}.{issue.slug}")
    return there[chosen]() if chosen in there else None


def _shows_measured(issue: Issue) -> bool:
    now = presenting()
    return now is not None and now.shows("run") and (issue.slug, now.began) in st.session_state.get(MEASURED, ())


def _show_measured(issue: Issue) -> None:
    """Show a class the shipped result instead of a run that takes minutes. Its trials so far are kept, and the next step may run."""
    now, name = presenting(), shown_runs().get(issue.slug, "")
    if now is not None:
        st.session_state.setdefault(MEASURED, set()).add((issue.slug, now.began))
    if EXPERIMENTS.owned(name, visitor()):
        EXPERIMENTS.leave(name, visitor())
    forget(issue)


def _drawing(issue: Issue, figure: KeyFigure) -> Drawing:
    guess = guess_of(issue.slug)

    def drag() -> None:
        picked = pick_told(st.session_state.get(KEY))
        if picked is not None and picked.y == "mark":
            take_dragged(issue.slug, float(picked.x))

    whole, said = shows("figure"), shows("sentence")
    return Drawing(KEY, partial(key_sections, issue, figure, guess, whole, said), (guess, whole, said), drag)


def _run(issue: Issue, run: ExperimentRun | None) -> None:
    """The button Run or Stop; beside it the number of seeds, and a note where they are too few to decide."""
    running = run is not None and run.state == "running"
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        run_or_stop(shown_runs().get(issue.slug, ""), run, partial(run_asked, issue))
        show_settings(issue, running)
        if presented() and shows("run") and shipped_reports(issue):
            st.button("Show what was measured", icon=":material/inventory_2:", on_click=_show_measured, args=(issue,))
        if run is not None and not running:
            st.button("Guess again", icon=":material/replay:", on_click=forget, args=(issue,), type="tertiary")
    if (seeds := asked(issue).seeds) < FEWEST_SEEDS:
        st.caption(f":orange[With {counted(seeds, 'seed')} nothing can be decided: it takes at least six.]")
    if run is not None and not running:
        offer_more_seeds(issue, run)
    show_refusal()
