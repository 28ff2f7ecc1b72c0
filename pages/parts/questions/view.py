"""The first screen of a question: its guess and its two buttons at the left, the key figure, its sentence and the reason at the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import streamlit as st

from engine.experiments.bounds import is_share
from engine.experiments.class_seeds import class_experiment, class_seeds
from engine.experiments.classroom import responses
from engine.experiments.evidence.shipped import shown_report
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import KeyFigure, KeyFinding, key_finding_in
from engine.experiments.report import Report, report
from engine.experiments.running.experiment_run import ExperimentRun
from engine.foundation.formatting import counted, percent
from pages.parts.app.in_markdown import say_unsaved, show_refusal
from pages.parts.app.visitor import visitor
from pages.parts.boards.component import Json
from pages.parts.boards.panels import picked_point
from pages.parts.charts.base import plain_figure
from pages.parts.charts.colors import muted
from pages.parts.charts.experiments.arms import role_color
from pages.parts.charts.experiments.key_figure import key_figure
from pages.parts.charts.experiments.learning import LearningCurve, in_words, learning_figure
from pages.parts.experiments.board import Drawing, experiment_board
from pages.parts.experiments.presenting import (
    Presenting,
    asks_to_run,
    guesses_closed,
    presenting,
    take_guess,
)
from pages.parts.experiments.projector import show_responses, tell_participants
from pages.parts.experiments.question import Guess, ask_here, guess_of, keep_guess, verdict
from pages.parts.experiments.run_buttons import forecast, run_or_stop
from pages.parts.experiments.running import EXPERIMENTS, begin, shown_runs
from pages.parts.experiments.shown import Shown, key_curves, key_numbers, of_run
from pages.parts.questions.conclusions import speeds_of
from pages.parts.questions.map import show_way
from pages.parts.questions.state import extended, forget, request, requested_run, shown_answers

KEY = "key"
"""The name of the key figure's board."""
OTHERWISE = "a model this small may not show the effect."
FINDINGS = "questions.told"
"""Session key: the finding that the wall has told where it decides the question, by lesson and step."""
GuessState = Literal["later", "open", "closed", "missed"]
"""The three answers are not asked for yet, can be chosen, can no longer be, or are left out: nobody in the room chose in time."""


@dataclass(frozen=True)
class ExperimentView:
    """What the screen shows. In a presented lesson this depends on the phase; else all of it may stand there."""

    room: bool
    """True if it is shown to a room."""
    seeds: Literal["none", "own", "class"]
    """The seeds of the figure: nobody's before the phase of the run, the reader's own, or those that a class trains."""
    stored: bool
    """True if stored seeds are shown, above those."""
    guess: GuessState
    gone_back: str
    """The note where the presenter stepped back before the run, which has closed the guessing: no result is shown until its phase comes
    again. Else empty."""
    whole: bool
    """True if all rows are shown, and not only the two that the question compares."""
    sentence: bool
    remedy: bool
    controls: bool
    """True if its buttons stand there. At the end of a presented question their room is the remedy's."""
    way: bool
    """True if a link leads on to the next question: a lesson has a way of its own."""


def experiment_view(
    slug: str, now: Presenting | None, run: str, *, answered: bool, closed: bool, guessed: bool
) -> ExperimentView:
    """``run``: the state of the run that is looked at, empty without one; ``answered``: whether the reader has asked for the stored answer,
    as a presenter does by going on to the run; ``closed``: whether the presented step takes no guess any more; ``guessed``: whether there
    is a guess."""
    room = now is not None and now.on

    def shows(phase: str) -> bool:
        return now is None or now.shows(phase)

    class_trains = now is not None and room and now.round > 0 and now.step.issue == slug and shows("run")
    answered = (answered or room) and shows("run") and not class_trains
    begun = answered or (run != "" and shows("run"))
    gone_back = closed and not shows("run")
    how_far = {"": "", "running": "The run continues. "}.get(run, "The run has ended. ")
    guess: GuessState = "later"
    if shows("guess"):
        guess = "open" if not (closed or begun) else "missed" if room and not guessed else "closed"
    going = run in ("", "running") and not shows("remedy")
    return ExperimentView(
        room=room,
        seeds="class" if class_trains else "own" if shows("run") else "none",
        stored=answered or (class_trains and shows("sentence")),
        guess=guess,
        gone_back=f"{how_far}Guessing is closed." if gone_back else "",
        whole=shows("figure"),
        sentence=shows("sentence"),
        remedy=shows("remedy"),
        controls=not room or (shows("run") and going and not class_trains),
        way=begun and now is None,
    )


def show_experiment(issue: Issue, name: str, run: ExperimentRun | None) -> Shown | None:
    """The screen; returns the result that it tells, if any. What is trained here stands beside what stored seeds say."""
    now, figure = presenting(), issue.key_figure
    take_guess(issue.slug)  # before a run begins: the next key may have come with it
    guess, state = guess_of(issue.slug), "" if run is None else run.state
    view = experiment_view(
        issue.slug, now, state, answered=issue.slug in shown_answers(), closed=guesses_closed(), guessed=guess.answer is not None
    )  # fmt: skip
    if view.seeds == "class":
        end_run_of_visitor(issue)
    there = shown_report(issue)
    if view.seeds == "own" and asks_to_run(issue.slug) and there is None and run is None:
        begin(requested_run(issue))
        st.rerun()
    if view.seeds != "own":
        run = None  # an earlier result is no answer to a class that has not guessed
    stored = there if view.stored else None
    live = of_run(run) if run is not None else None
    if view.seeds == "class" and now is not None:
        live = shown_of_class(issue, now)
    ended = live if live is not None and live.state != "running" and key_finding_so_far(figure, live) else None
    finding = _until_the_class_decides(next(iter(outcomes(figure, stored, ended)), None))
    with st.container(key="experiment-view"):
        st.title(issue.title, anchor=False)
        question, result = st.columns([1, 1.9], gap="large")
        with question, st.container(key="experiment-view-question", gap="small"):
            _show_question(issue, view, guess, finding, run, there)
        with result:
            if view.seeds == "class" and now is not None:
                class_board(KEY, issue, now, stored)
            else:
                _show_figure(issue, view, guess, stored, name, run)
        if finding is not None and view.remedy:
            beside = question if view.room else result  # in a room the figure takes the height
            with beside.container(key="experiment-view-remedy"):
                _show_remedy(issue, finding)
    return live if ended is not None or stored is None else Shown.of(stored, "shipped")


def _show_question(
    issue: Issue, view: ExperimentView, guess: Guess, finding: KeyFinding | None, run: ExperimentRun | None, stored: Report | None
) -> None:  # fmt: skip
    """``stored``: the answer, shown or not, where there is one."""
    figure = issue.key_figure
    st.caption(figure.sample)
    st.header(figure.question, anchor=False)
    if view.guess == "later":
        return
    if view.guess != "missed":
        ask_guess(issue.slug, figure, disabled=view.guess == "closed")
    if view.gone_back:
        st.caption(view.gone_back)
    shown = finding if view.sentence else None
    with st.container():  # always there: what comes into it must not replace a button, which may have the focus
        if shown is not None and guess.answer is not None:
            st.markdown(compared(figure, guess, shown))
        elif view.guess == "open" and guess.answer is not None:
            ask_size(issue.slug, figure)
        if finding is not None:
            tell_participants(finding.right, finding.sentence, finding.because)
        show_responses(shown.right if shown is not None else ())
    if view.controls:
        _show_buttons(issue, view, run, stored)


def _show_figure(
    issue: Issue, view: ExperimentView, guess: Guess, stored: Report | None, name: str, run: ExperimentRun | None
) -> None:
    """The figure of the reader's own run; without one that of the stored seeds, and before both the rows alone."""

    def drag() -> None:
        picked = picked_point(st.session_state.get(KEY))
        if picked is not None and picked.y == "mark":
            keep_guess(issue.slug, replace(guess_of(issue.slug), size=float(f"{float(picked.x):.2g}")))

    figure, (whole, sentence) = issue.key_figure, (view.whole, view.sentence)
    sections = partial(key_sections, issue, figure, guess, whole, sentence, stored)
    quiet = view.room and stored is not None  # how far it is matters to nobody where the answer stands already
    drawing = Drawing(KEY, sections, (guess, whole, sentence, stored is not None), drag, figure.name_of, quiet=quiet)
    if run is not None:
        experiment_board(drawing, name, run)
        say_unsaved(run)
    elif stored is not None:
        experiment_board(drawing, issue.slug, Shown.of(stored, "shipped"))
    else:
        before_any_run = report(request(issue), (), request(issue).seed_range, extended=extended())
        experiment_board(drawing, issue.slug, Shown.of(before_any_run, "none" if view.gone_back else "waiting"))


def _show_remedy(issue: Issue, finding: KeyFinding) -> None:
    """The reason, or where the runs show something else what was expected, and a guess why not; and the remedy."""
    figure = issue.key_figure
    if finding.because:
        st.markdown(f"**Because** {finding.because}")
    elif finding.answer is not None and figure.because:
        st.markdown(f"**We expected:** {issue.claim(figure.claim).sentence} **A guess why not:** {OTHERWISE}")
    st.markdown(f"**Remedy:** {figure.remedy}")


def _until_the_class_decides(finding: KeyFinding | None) -> KeyFinding | None:
    """The finding, or in its place the one of the runs before that the wall has told in this step: seeds of the class that decide nothing
    yet take nothing back. Their number stands at their figure."""
    now, findings = presenting(), st.session_state.setdefault(FINDINGS, {})
    decides = finding is not None and finding.right
    if now is None or not now.on or not now.shows("sentence"):
        return finding
    if decides and not now.round:
        findings[now.began, now.at] = finding
    return finding if decides or not now.round else findings.get((now.began, now.at), finding)


def _show_buttons(issue: Issue, view: ExperimentView, run: ExperimentRun | None, stored: Report | None) -> None:
    """Two buttons that say what they do; a presenter shows the answer by going on. ``stored``: the answer, where there is one."""
    running, measured = run is not None and run.state == "running", stored is not None
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if measured and not view.room:
            # It stays in its place, so that a second press does not begin a training.
            st.button(
                "Show the answer", icon=":material/visibility:", type="primary", key=f"answer.{issue.slug}", disabled=view.stored,
                on_click=lambda: shown_answers().add(issue.slug),
            )  # fmt: skip
        run_or_stop(
            shown_runs().get(issue.slug, ""), run, partial(requested_run, issue),
            label="Train it here, too" if measured else "Train it here", type="secondary" if measured else "primary",
            help=None if running else f"{forecast(request(issue), extended())} {_how_often_again(issue, stored)}".strip(),
        )  # fmt: skip
        if view.guess == "closed" and not (view.room or running):
            st.button("Guess again", icon=":material/replay:", on_click=forget, args=(issue,), type="tertiary")
        if view.way:
            show_way(issue)
    show_refusal()


def _how_often_again(issue: Issue, stored: Report | None) -> str:
    """What a run may expect: how often so few seeds show the stored finding; empty where nothing is stored, or it is not decided."""
    share = None if stored is None else stored.again(stored.claim(issue.key_figure.claim))
    return "" if share is None else f"Eight seeds show the stored finding in {percent(share)} of draws."


# The guess, of which the address of a run keeps a copy; after the run it is compared with what was found


def ask_guess(slug: str, figure: KeyFigure, *, disabled: bool) -> Guess:
    """The three answers; return the guess."""
    ask_here(figure.asks, slug, disabled=disabled)
    return guess_of(slug)


def ask_size(slug: str, figure: KeyFigure) -> None:
    """The size as a number; where the figure has a mark from the start, the same is set by dragging it."""
    unit = f" ({figure.unit})" if figure.unit else ""
    drag = " Drag the circle, or type it" if is_share(figure.before.metric) else ""
    key, size = f"guess.size.{slug}", guess_of(slug).size
    if st.session_state.get(key) != size:  # it was dragged
        st.session_state[key] = size
    st.number_input(
        f"Your number{unit}?{drag}", value=None, step=0.05 if not figure.unit else 1.0,
        format="%.3g", placeholder="optional", key=key,
        on_change=lambda: keep_guess(slug, replace(guess_of(slug), size=st.session_state[key])),
    )  # fmt: skip


def compared(figure: KeyFigure, guess: Guess, finding: KeyFinding) -> str:
    """What was guessed beside what came out, in Markdown; empty without a guess."""
    if guess.answer is None:
        return ""
    if guess.size is None:
        return verdict(figure.asks, guess.answer, finding.right)
    of_size = f"The direction is right. Measured: {figure.written(finding.after)}."
    return verdict(figure.asks, guess.answer, finding.right, f", to {figure.written(guess.size)}", of_size)


# The key figure: its rows from the trials so far, and the sentence under it


ROW, AROUND, LOWEST, LOWEST_CURVES = 37, 40, 200, 230
"""Pixels: the height of a row, of what is above and below the rows, and of the whole at least, on a phone, without and with curves."""
TALL_LOWEST = 304
"""The least height where there is more room."""


def key_finding_so_far(figure: KeyFigure, found: Report | None, **words: str) -> KeyFinding | None:
    """The finding of the seeds of a report so far; None without a report, or while it has too few of them."""
    return key_finding_in(figure, found, **words) if found is not None else None


def outcomes(figure: KeyFigure, stored: Report | None, shown: Shown | None) -> list[KeyFinding]:
    """The outcomes that are told: of the stored seeds, and of those that a page trained, which are never pooled; but a class's few decide
    together with the stored ones. Where they then leave open what the stored ones decide, it is told of these."""
    before = key_finding_so_far(figure, stored, seed="stored seed")
    if before is None or shown is None or shown.state != "class":
        trained = shown if shown is None or shown.origin == "live" else None
        live = key_finding_so_far(figure, trained, subject="Trained here: it" if before else "")
        return [finding for finding in (before, live) if finding]
    arms = {arm.name for arm in shown.experiment.arms}
    trials = [*(trial for trial in stored.trials if trial.arm in arms), *shown.trials] if stored else shown.trials
    both = report(shown.experiment, trials, list(dict.fromkeys(trial.seed for trial in trials)))
    together = key_finding_so_far(figure, both) if shown.trials else None
    return [together if together and (together.right or not before.right) else before]


def key_sections(
    issue: Issue, figure: KeyFigure, guess: Guess, whole: bool, sentence: bool, stored: Report | None, shown: Shown
) -> list[Json]:
    """One section with one panel. The reader's mark is shown before the run; once the reader has moved it, it stays.
    ``whole``: whether all rows are shown, and not only the two that the question compares.
    ``sentence``: whether the sentences are shown (:func:`outcomes`).
    ``stored``: the report on the stored seeds, whose dots stand above the others."""
    numbers = key_numbers(issue, shown, whole=whole)
    if stored is not None and shown.origin == "live":
        there = key_numbers(issue, stored, whole=whole)
        numbers["stored"] = [replace(row, name=f"{row.name}, stored", color=muted()) for row in there["rows"]]
        numbers["share"] &= there["share"]
    live = key_finding_so_far(figure, shown)
    sentences = [finding.sentence for finding in outcomes(figure, stored, shown)] if sentence else []
    speed = speeds_of(issue.slug).get(figure.claim) if sentences and stored is not None else None
    beside = [speed] if speed else []
    asking, ended = shown.state == "waiting" and stored is None, shown.state != "running"
    heard = sentences[-1:] if ended else sentences[:1] if stored else []  # by a screen reader: no step towards a result
    mark = guess.size
    if mark is None and guess.answer is not None and asking and numbers["share"]:
        mark = 0.5
    drawn = plain_figure(key_figure, **numbers, guess=mark, moved=guess.size is not None)
    slide = None
    if sentences and ended:
        slide = _slide(issue, shown, live, " ".join(sentences))
    roles = dict.fromkeys(issue.arm(row.arm).role for row in (figure.rows if whole else figure.rows[:2]))
    high = AROUND + ROW * len(figure.rows)
    panel: Json = {
        "id": "key.figure", "title": figure.quantity, "height": max(LOWEST, high),
        "tall": max(TALL_LOWEST, high), "facts": [*sentences[:1], *beside, *sentences[1:]],
        "result": "".join(heard),
        "alt": " ".join(sentences) or f"{figure.quantity} of {len(numbers['rows'])} rows: no seed has ended yet.", "figure": drawn,
        "legend": [[role, role_color(role)] for role in roles], "picks": True, "drags": asking, "empty": not (stored or live),
        "wide": True, "slide": slide,
    }  # fmt: skip
    if curves := key_curves(issue, shown, stored=stored is not None, whole=whole):
        panel |= {"views": _views(issue, curves, numbers["chance"], beside, slide), "views_of": issue.slug}
        panel["height"] = max(LOWEST_CURVES, high)
    return [{"id": "key", "title": "", "note": "", "panels": [panel], "width": 280}]


def _views(
    issue: Issue, curves: Sequence[LearningCurve], chance: float | None, told: Sequence[str], slide: Json | None
) -> list[Json]:
    """The two views of the figure: the panel itself, and the learning curves in its place."""
    figure = issue.key_figure
    steps = sorted({issue.config(issue.arm(row.arm)).steps for row in (figure.before, figure.after)})
    drawn = plain_figure(learning_figure, curves, level=figure.level, steps=steps, chance=chance)
    known = any(curve.numbers or curve.live for curve in curves)
    alt = " ".join(
        (f"{figure.quantity} over the steps of training, on a logarithmic axis. {in_words(curves, steps)}.", *told)
    )
    return [
        {"label": f"After {counted(steps[-1], 'step')}"},
        {
            "label": "Learning curve", "figure": drawn, "alt": alt, "picks": False, "empty": not known,
            "slide": slide and {**slide, "sentence": " ".join(told) or slide["sentence"]},
        },
    ]  # fmt: skip


def _slide(issue: Issue, shown: Shown, live: KeyFinding | None, sentence: str) -> Json:
    """The words around the figure on a slide: "8 seeds (0 to 7)" of those that were trained here, in small letters."""
    some = "" if live is None or live.seeds == len(shown.seeds) else f"{live.seeds} of "
    seeds = f"{some}{shown.seeds_in_words}" if live else ""
    address = (st.context.url or "").split("?")[0]
    link = f"{address}?issue={issue.slug}" if address else ""
    foot = ", ".join(filter(None, (seeds, "Attention Lab", link)))
    return {"title": issue.title, "quantity": issue.key_figure.quantity, "sentence": sentence, "foot": foot}


# The figure of a class: the seeds that its phones train fall into it while the wall shows it


def end_run_of_visitor(issue: Issue) -> None:
    """End the presenter's own run: the cores are for the phones."""
    name = shown_runs().pop(issue.slug, "")
    if name and EXPERIMENTS.owned(name, visitor()):
        EXPERIMENTS.leave(name, visitor())


def shown_of_class(issue: Issue, now: Presenting) -> Shown:
    """The seeds of the class so far. Its experiment has the arms of the figure alone; nothing stored is among its trials."""
    found = class_seeds(now.classroom, now.at, now.round)
    waiting = len(responses(now.classroom, now.at).here - found.this_round - found.training)
    return Shown.of(report(class_experiment(issue), found.trials, found.seeds), "class", waiting=waiting)


def class_board(key: str, issue: Issue, now: Presenting, stored: Report | None) -> None:
    """The figure. Once its sentence is told, each further dot draws the page anew, so that wall and phones tell the same."""
    drawn = len(class_seeds(now.classroom, now.at, now.round).seeds)

    def below(shown: Shown) -> None:
        if now.shows("sentence") and len(shown.seeds) != drawn:
            st.rerun()

    drawing = Drawing(
        key, partial(_sections, issue, now, stored), (now.round, now.phase, stored is not None), below=below
    )
    experiment_board(drawing, f"class.{now.classroom}.{now.at}", partial(shown_of_class, issue, now))


def _sections(issue: Issue, now: Presenting, stored: Report | None, shown: Shown) -> list[Json]:
    """The key figure, and under its sentence the number of seeds and phones."""
    whole, sentence = now.shows("figure"), now.shows("sentence")
    sections = key_sections(issue, issue.key_figure, guess_of(issue.slug), whole, sentence, stored, shown)
    found = class_seeds(now.classroom, now.at, now.round)
    training = len(found.training & responses(now.classroom, now.at).here)
    facts = f"{counted(len(found.seeds), 'seed')} from {counted(found.participants, 'phone')}"
    facts += f" · {training} {'is' if training == 1 else 'are'} training" if training else ""
    facts += f" · waiting for {shown.waiting}" if shown.waiting else ""
    for panel in sections[0]["panels"]:
        panel["facts"] = [*panel["facts"], facts]
    return sections
