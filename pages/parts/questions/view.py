"""The first screen of a question: guess and buttons on the left, key figure, sentence and reason on the right."""

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
from engine.experiments.long_runs import has_level
from engine.experiments.report import Report, report
from engine.experiments.running.experiment_run import ExperimentRun
from engine.foundation.formatting import counted, percent
from pages.parts.app.in_markdown import say_unsaved, show_refusal
from pages.parts.app.visitor import visitor
from pages.parts.boards.component import Json
from pages.parts.boards.panels import pick_in
from pages.parts.charts.base import figure_json
from pages.parts.charts.colors import muted
from pages.parts.charts.experiments.arms import role_color
from pages.parts.charts.experiments.key_figure import key_figure
from pages.parts.charts.experiments.learning import LearningCurve, in_words, learning_figure
from pages.parts.experiments.board import Drawing, experiment_board
from pages.parts.experiments.experiment_snapshot import ExperimentSnapshot, key_curves, key_numbers, snapshot_of
from pages.parts.experiments.presenting import (
    Presenting,
    asks_to_run,
    guesses_closed,
    presenting,
    take_guess,
)
from pages.parts.experiments.projector import show_responses, tell_participants
from pages.parts.experiments.question import Guess, ask_here, guess_of, guess_result, keep_guess
from pages.parts.experiments.run_buttons import forecast, run_or_stop
from pages.parts.experiments.running import EXPERIMENTS, begin, shown_runs
from pages.parts.questions.conclusions import long_findings_of
from pages.parts.questions.map import show_way
from pages.parts.questions.state import extended, forget, request, requested_run, shown_answers

KEY = "key"
OTHERWISE = "The models may be too small to show the effect."
FINDINGS = "questions.findings"  # session key: the decisive finding that the projector has shown, by lesson and step
# Not asked for yet; open; closed; or left out, because nobody in the room chose in time.
GuessState = Literal["later", "open", "closed", "missed"]


@dataclass(frozen=True)
class ExperimentView:
    """The parts of the screen. In a presented lesson they depend on the phase; else all may be there."""

    room: bool
    seeds: Literal["none", "own", "class"]  # before the phase of the run; the reader's; of the class
    stored: bool  # the figure also has the stored seeds
    guess: GuessState
    # The note that guessing is closed, if the presenter has stepped back before the run. Results stay hidden until the
    # phase of the run.
    closed_note: str
    whole: bool  # all rows, not only the two that the question compares
    sentence: bool
    remedy: bool
    controls: bool  # at the end of a presented question the remedy takes the room of the buttons
    way: bool  # the link to the next question, which a lesson replaces by its own


def experiment_view(
    slug: str, now: Presenting | None, run: str, *, answered: bool, closed: bool, guessed: bool
) -> ExperimentView:
    """Derive the view.

    ``run``: the run's state, empty without one. ``answered``: the reader has opened the stored answer; a presenter
    opens it by the phase of the run. ``closed``: the presented step takes no further guess. ``guessed``: there is a
    guess.
    """
    room = now is not None and now.on

    def shows(phase: str) -> bool:
        return now is None or now.shows(phase)

    class_trains = now is not None and room and now.round > 0 and now.step.issue == slug and shows("run")
    answered = (answered or room) and shows("run") and not class_trains
    begun = answered or (run != "" and shows("run"))
    before_run = closed and not shows("run")
    how_far = {"": "", "running": "The run continues. "}.get(run, "The run has ended. ")
    guess: GuessState = "later"
    if shows("guess"):
        guess = "open" if not (closed or begun) else "missed" if room and not guessed else "closed"
    may_run = run in ("", "running") and not shows("remedy")
    return ExperimentView(
        room=room,
        seeds="class" if class_trains else "own" if shows("run") else "none",
        stored=answered or (class_trains and shows("sentence")),
        guess=guess,
        closed_note=f"{how_far}Guessing is closed." if before_run else "",
        whole=shows("figure"),
        sentence=shows("sentence"),
        remedy=shows("remedy"),
        controls=not room or (shows("run") and may_run and not class_trains),
        way=begun and now is None,
    )


def show_experiment(issue: Issue, name: str, run: ExperimentRun | None) -> ExperimentSnapshot | None:
    """Draw the screen; return the result that it shows, if any."""
    now, figure = presenting(), issue.key_figure
    take_guess(issue.slug)  # before a run begins, because several keys may arrive at once
    guess, state = guess_of(issue.slug), "" if run is None else run.state
    view = experiment_view(
        issue.slug, now, state, answered=issue.slug in shown_answers(), closed=guesses_closed(), guessed=guess.answer is not None
    )  # fmt: skip
    if view.seeds == "class":
        end_run_of_visitor(issue)
    stored_report = shown_report(issue)
    if view.seeds == "own" and asks_to_run(issue.slug) and stored_report is None and run is None:
        begin(requested_run(issue))
        st.rerun()
    if view.seeds != "own":
        run = None  # a class that has not guessed sees no earlier result
    stored = stored_report if view.stored else None
    live = snapshot_of(run) if run is not None else None
    if view.seeds == "class" and now is not None:
        live = class_snapshot(issue, now)
    final = live if live is not None and live.state != "running" and key_finding_so_far(figure, live) else None
    finding = _until_the_class_decides(next(iter(outcomes(figure, stored, final)), None))
    with st.container(key="experiment-view"):
        st.title(issue.title, anchor=False)
        question, result = st.columns([1, 1.9], gap="large")
        with question, st.container(key="experiment-view-question", gap="small"):
            _show_question(issue, view, guess, finding, run, stored_report)
        with result:
            if view.seeds == "class" and now is not None:
                class_board(issue, now, stored)
            else:
                _show_figure(issue, view, guess, stored, name, run)
        if finding is not None and view.remedy:
            beside = question if view.room else result  # in a room the figure takes the height
            with beside.container(key="experiment-view-remedy"):
                _show_remedy(issue, finding)
    return live if final is not None or stored is None else ExperimentSnapshot.of(stored, "shipped")


def _show_question(
    issue: Issue, view: ExperimentView, guess: Guess, finding: KeyFinding | None, run: ExperimentRun | None, stored: Report | None
) -> None:  # fmt: skip
    """``stored``: the answer, shown or not; None without one."""
    figure = issue.key_figure
    st.caption(figure.sample)
    st.header(figure.question, anchor=False)
    if view.guess == "later":
        return
    if view.guess != "missed":
        ask_here(figure.asks, issue.slug, disabled=view.guess == "closed")
    if view.closed_note:
        st.caption(view.closed_note)
    answer = finding if view.sentence else None
    with st.container():  # always there: what comes into it must not replace a button, which may have the focus
        if answer is not None and guess.answer is not None:
            st.markdown(guess_sentence(figure, guess, answer))
        elif view.guess == "open" and guess.answer is not None:
            ask_size(issue.slug, figure)
        if finding is not None:
            tell_participants(finding.right, finding.sentence, finding.because)
        show_responses(answer.right if answer is not None else ())
    if view.controls:
        _show_buttons(issue, view, run, stored)


def _show_figure(
    issue: Issue, view: ExperimentView, guess: Guess, stored: Report | None, name: str, run: ExperimentRun | None
) -> None:
    def drag() -> None:
        picked = pick_in(st.session_state.get(KEY))
        if picked is not None and picked.y == "mark":
            keep_guess(issue.slug, replace(guess_of(issue.slug), size=float(f"{float(picked.x):.2g}")))

    figure, (whole, sentence) = issue.key_figure, (view.whole, view.sentence)
    sections = partial(key_sections, issue, guess, whole, sentence, stored)
    quiet = view.room and stored is not None  # with the stored answer there, progress matters to nobody
    drawing = Drawing(KEY, sections, (guess, whole, sentence, stored is not None), drag, figure.name_of, quiet=quiet)
    if run is not None:
        experiment_board(drawing, name, run)
        say_unsaved(run)
    elif stored is not None:
        experiment_board(drawing, issue.slug, ExperimentSnapshot.of(stored, "shipped"))
    else:
        before_any_run = report(request(issue), (), request(issue).seed_range, extended=extended())
        experiment_board(
            drawing, issue.slug, ExperimentSnapshot.of(before_any_run, "none" if view.closed_note else "waiting")
        )


def _show_remedy(issue: Issue, finding: KeyFinding) -> None:
    figure = issue.key_figure
    if finding.because:
        st.markdown(f"**Because** {finding.because}")
    elif finding.answer is not None and figure.because:
        # The runs show something else than the figure's reason explains.
        st.markdown(f"**We expected:** {issue.claim(figure.claim).sentence} **A possible reason:** {OTHERWISE}")
    st.markdown(f"**Remedy:** {figure.remedy}")


def _until_the_class_decides(finding: KeyFinding | None) -> KeyFinding | None:
    """The finding, or the projector's earlier finding of this step while the seeds of the class decide nothing."""
    now, findings = presenting(), st.session_state.setdefault(FINDINGS, {})
    decides = finding is not None and finding.right
    # A sentence that the class has read stays until its seeds decide; their number is at the figure.
    if now is None or not now.on or not now.shows("sentence"):
        return finding
    if decides and not now.round:
        findings[now.began, now.at] = finding
    return finding if decides or not now.round else findings.get((now.began, now.at), finding)


def _show_buttons(issue: Issue, view: ExperimentView, run: ExperimentRun | None, stored: Report | None) -> None:
    running, measured = run is not None and run.state == "running", stored is not None
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if measured and not view.room:
            # It stays, disabled, so that a second press does not begin a training.
            st.button(
                "Show the answer", icon=":material/visibility:", type="primary", key=f"answer.{issue.slug}", disabled=view.stored,
                on_click=lambda: shown_answers().add(issue.slug),
            )  # fmt: skip
        run_or_stop(
            shown_runs().get(issue.slug, ""), run, partial(requested_run, issue),
            label="Train it here", at_work="Training it here", type="secondary" if measured else "primary",
            help=None if running else f"{forecast(request(issue), extended())} {_reproducibility_words(issue, stored)}".strip(),
        )  # fmt: skip
        if view.guess == "closed" and not (view.room or running):
            again = "Guess again" if guess_of(issue.slug).answer is not None else "Guess"
            st.button(again, icon=":material/replay:", on_click=forget, args=(issue,), type="tertiary")
        if view.way:
            show_way(issue)
    show_refusal()


def _reproducibility_words(issue: Issue, stored: Report | None) -> str:
    share = None if stored is None else stored.reproducibility(stored.claim(issue.key_figure.claim))
    return "" if share is None else f"Eight seeds show the stored finding in {percent(share)} of draws."


# The guess, which the address of a run also has, and its comparison with the result


def ask_size(slug: str, figure: KeyFigure) -> None:
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


def guess_sentence(figure: KeyFigure, guess: Guess, finding: KeyFinding) -> str:
    if guess.answer is None:
        return ""
    if guess.size is None:
        return guess_result(figure.asks, guess.answer, finding.right)
    of_size = f"The direction is right. Measured: {figure.format_value(finding.after)}."
    return guess_result(figure.asks, guess.answer, finding.right, f", to {figure.format_value(guess.size)}", of_size)


# The key figure: its rows from the trials so far, and the sentence below


# Pixels: the height of a row, of the margins above and below the rows together, and the least height on a phone,
# without and with curves.
ROW, AROUND, LOWEST, LOWEST_CURVES = 37, 40, 200, 230
TALL_LOWEST = 304  # on a larger screen


def key_finding_so_far(figure: KeyFigure, so_far: Report | None, **words: str) -> KeyFinding | None:
    """The finding of the seeds so far; None without a report or with too few seeds."""
    return key_finding_in(figure, so_far, **words) if so_far is not None else None


def outcomes(figure: KeyFigure, stored: Report | None, snapshot: ExperimentSnapshot | None) -> list[KeyFinding]:
    """The findings to show: of the stored seeds, and of a page's seeds. A class's seeds join the stored ones."""
    before = key_finding_so_far(figure, stored, seed="stored seed")
    if before is None or snapshot is None or snapshot.state != "class":
        trained = snapshot if snapshot is None or snapshot.origin == "live" else None
        live = key_finding_so_far(figure, trained, subject="Trained here: it" if before else "")
        # Stored seeds and those of a page are two findings, never one pool.
        return [finding for finding in (before, live) if finding]
    arms = {arm.name for arm in snapshot.experiment.arms}
    trials = [*(trial for trial in stored.trials if trial.arm in arms), *snapshot.trials] if stored else snapshot.trials
    both = report(snapshot.experiment, trials, list(dict.fromkeys(trial.seed for trial in trials)))
    together = key_finding_so_far(figure, both) if snapshot.trials else None
    # The few seeds of a class must not undo a decision of the stored ones.
    return [together if together and (together.right or not before.right) else before]


def key_sections(
    issue: Issue, guess: Guess, whole: bool, sentence: bool, stored: Report | None, snapshot: ExperimentSnapshot
) -> list[Json]:
    """One section with one panel.

    ``whole``: draw all rows, not only the two that the question compares. ``sentence``: show the sentences
    (:func:`outcomes`). ``stored``: the report on the stored seeds, whose dots are above the others.
    """
    figure, numbers = issue.key_figure, key_numbers(issue, snapshot, whole=whole)
    if stored is not None and snapshot.origin == "live":
        there = key_numbers(issue, stored, whole=whole)
        numbers["stored"] = [replace(row, name=f"{row.name}, stored", color=muted()) for row in there["rows"]]
        numbers["share"] &= there["share"]
    live = key_finding_so_far(figure, snapshot)
    sentences = [finding.sentence for finding in outcomes(figure, stored, snapshot)] if sentence else []
    long_run = long_findings_of(issue.slug).get(figure.claim) if sentences and stored is not None else None
    facts = [long_run] if long_run else []
    asking, is_final = snapshot.state == "waiting" and stored is None, snapshot.state != "running"
    announced = sentences[-1:] if is_final else sentences[:1] if stored else []  # a screen reader hears results only
    # The reader's mark is there before the run, and stays if the reader has moved it.
    mark = guess.size
    if mark is None and guess.answer is not None and asking and numbers["share"]:
        mark = 0.5
    drawn = figure_json(key_figure, **numbers, guess=mark, moved=guess.size is not None)
    slide = None
    if sentences and is_final:
        slide = _slide(issue, snapshot, live, " ".join(sentences))
    roles = dict.fromkeys(issue.arm(row.arm).role for row in (figure.rows if whole else figure.rows[:2]))
    high = AROUND + ROW * len(figure.rows)
    panel: Json = {
        "id": "key.figure", "title": figure.quantity, "height": max(LOWEST, high),
        "tall": max(TALL_LOWEST, high), "facts": [*sentences[:1], *facts, *sentences[1:]],
        "result": "".join(announced),
        "alt": " ".join(sentences) or f"{figure.quantity} of {len(numbers['rows'])} rows: no seed has ended yet.", "figure": drawn,
        "legend": [[role, role_color(role)] for role in roles], "picks": True, "drags": asking, "empty": not (stored or live),
        "wide": True, "slide": slide,
    }  # fmt: skip
    if curves := key_curves(issue, snapshot, stored=stored is not None, whole=whole):
        panel |= {"views": _views(issue, curves, numbers["chance"], facts, slide), "views_of": issue.slug}
        panel["height"] = max(LOWEST_CURVES, high)
    return [{"id": "key", "title": "", "note": "", "panels": [panel], "width": 280}]


def _views(
    issue: Issue, curves: Sequence[LearningCurve], chance: float | None, facts: Sequence[str], slide: Json | None
) -> list[Json]:
    figure = issue.key_figure
    steps = sorted({issue.config(issue.arm(row.arm)).steps for row in (figure.before, figure.after)})
    level = figure.level if has_level(figure.before.metric) else None
    drawn = figure_json(
        learning_figure, curves, level=level, steps=steps, chance=chance, share=is_share(figure.before.metric)
    )
    known = any(curve.numbers or curve.live for curve in curves)
    alt = " ".join(
        (f"{figure.quantity} over the steps of training, on a logarithmic axis. {in_words(curves, steps)}.", *facts)
    )
    return [
        {"label": f"After {counted(steps[-1], 'step')}"},
        {
            "label": "Learning curve", "figure": drawn, "alt": alt, "picks": False, "empty": not known,
            "slide": slide and {**slide, "sentence": " ".join(facts) or slide["sentence"]},
        },
    ]  # fmt: skip


def _slide(issue: Issue, snapshot: ExperimentSnapshot, live: KeyFinding | None, sentence: str) -> Json:
    some = "" if live is None or live.seeds == len(snapshot.seeds) else f"{live.seeds} of "
    seeds = f"{some}{snapshot.seeds_in_words}" if live else ""
    address = (st.context.url or "").split("?")[0]
    link = f"{address}?issue={issue.slug}" if address else ""
    foot = ", ".join(filter(None, (seeds, "Attention Lab", link)))
    return {"title": issue.title, "quantity": issue.key_figure.quantity, "sentence": sentence, "foot": foot}


# The figure of a class: a dot for each seed that its participants train


def end_run_of_visitor(issue: Issue) -> None:
    # The cores are for the participants.
    name = shown_runs().pop(issue.slug, "")
    if name and EXPERIMENTS.owned(name, visitor()):
        EXPERIMENTS.leave(name, visitor())


def class_snapshot(issue: Issue, now: Presenting) -> ExperimentSnapshot:
    """The seeds of the class so far, without stored ones, and only the arms of the figure."""
    seeds = class_seeds(now.classroom, now.at, now.round)
    to_begin = len(responses(now.classroom, now.at).present - seeds.this_round - seeds.training)
    return ExperimentSnapshot.of(
        report(class_experiment(issue), seeds.trials, seeds.seeds), "class", participants_to_begin=to_begin
    )


def class_board(issue: Issue, now: Presenting, stored: Report | None) -> None:
    drawn = len(class_seeds(now.classroom, now.at, now.round).seeds)

    def below(snapshot: ExperimentSnapshot) -> None:
        # The rerun gives the participants the sentence of the projector.
        if now.shows("sentence") and len(snapshot.seeds) != drawn:
            st.rerun()

    drawing = Drawing(
        KEY, partial(_sections, issue, now, stored), (now.round, now.phase, stored is not None), below=below
    )
    experiment_board(drawing, f"class.{now.classroom}.{now.at}", partial(class_snapshot, issue, now))


def _sections(issue: Issue, now: Presenting, stored: Report | None, snapshot: ExperimentSnapshot) -> list[Json]:
    whole, sentence = now.shows("figure"), now.shows("sentence")
    sections = key_sections(issue, guess_of(issue.slug), whole, sentence, stored, snapshot)
    seeds = class_seeds(now.classroom, now.at, now.round)
    training = len(seeds.training & responses(now.classroom, now.at).present)
    facts = f"{counted(len(seeds.seeds), 'seed')} from {counted(seeds.participants, 'phone')}"
    facts += f" · {training} {'is' if training == 1 else 'are'} training" if training else ""
    facts += f" · waiting for {snapshot.participants_to_begin}" if snapshot.participants_to_begin else ""
    for panel in sections[0]["panels"]:
        panel["facts"] = [*panel["facts"], facts]
    return sections
