"""The figure of a class: the seeds that its phones train fall into it while the wall shows it."""

from functools import partial

import streamlit as st

from engine.experiments.class_seeds import class_experiment, class_seeds
from engine.experiments.classroom import hands
from engine.experiments.issues.issue import Issue
from engine.experiments.report import Report, report
from engine.foundation.formatting import counted
from pages.parts.app.visitor import visitor
from pages.parts.boards.component import Plain
from pages.parts.issues.key_panel import key_sections
from pages.parts.stage.board import Drawing, experiment_board
from pages.parts.stage.experiments import EXPERIMENTS
from pages.parts.stage.issue_list import shown_runs
from pages.parts.stage.presenting import Presenting
from pages.parts.stage.question import guess_of
from pages.parts.stage.shown import Shown


def end_own_run(issue: Issue) -> None:
    """End the presenter's own run: the cores are for the phones."""
    name = shown_runs().pop(issue.slug, "")
    if name and EXPERIMENTS.owned(name, visitor()):
        EXPERIMENTS.leave(name, visitor())


def shown_of_class(issue: Issue, now: Presenting) -> Shown:
    """The seeds of the class so far. Its experiment has the arms of the figure alone; nothing stored is among its trials."""
    found = class_seeds(now.classroom, now.at, now.round)
    waiting = len(hands(now.classroom, now.at).here - found.this_round - found.training)
    return Shown.of(report(class_experiment(issue), found.trials, found.seeds), "class", waiting=waiting)


def class_board(key: str, issue: Issue, now: Presenting, stored: Report | None) -> None:
    """The figure. Once its sentence is told, each further dot draws the page anew, so that wall and phones tell the same."""
    drawn = len(class_seeds(now.classroom, now.at, now.round).seeds)

    def below(shown: Shown) -> None:
        if now.shows("sentence") and len(shown.seeds) != drawn:
            st.rerun()

    drawing = Drawing(
        key, partial(_sections, issue, now, stored), (now.round, now.beat, stored is not None), below=below
    )
    experiment_board(drawing, f"class.{now.classroom}.{now.at}", partial(shown_of_class, issue, now))


def _sections(issue: Issue, now: Presenting, stored: Report | None, shown: Shown) -> list[Plain]:
    """The key figure, and under its sentence the number of seeds and phones."""
    whole, said = now.shows("figure"), now.shows("sentence")
    sections = key_sections(issue, issue.key_figure, guess_of(issue.slug), whole, said, stored, shown)
    found = class_seeds(now.classroom, now.at, now.round)
    training = len(found.training & hands(now.classroom, now.at).here)
    told = f"{counted(len(found.seeds), 'seed')} from {counted(found.phones, 'phone')}"
    told += f" · {training} {'is' if training == 1 else 'are'} training" if training else ""
    told += f" · waiting for {shown.waiting}" if shown.waiting else ""
    for panel in sections[0]["panels"]:
        panel["facts"] = [*panel["facts"], told]
    return sections
