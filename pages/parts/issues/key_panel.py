"""The key figure of an issue as a panel of a board: its rows from the trials so far, and the sentence under it."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import KeyFigure, Outcome, outcome_of
from engine.experiments.report import Report, report
from pages.parts.boards.component import Plain
from pages.parts.charts.base import plain_figure
from pages.parts.charts.colors import muted
from pages.parts.charts.experiments.arms import role_color
from pages.parts.charts.experiments.key_figure import key_figure
from pages.parts.stage.ended import key_numbers
from pages.parts.stage.question import Guess
from pages.parts.stage.shown import Shown

ROW, AROUND, LOWEST = 44, 40, 200
"""Pixels: the height of a row, of what is above and below the rows, and of the whole at least, on a phone."""
TALL_LOWEST = 330
"""The least height where there is more room."""


def outcome_so_far(figure: KeyFigure, found: Report | None, **words: str) -> Outcome | None:
    """The outcome of the seeds of a report so far; None without a report, or while it has too few of them."""
    return outcome_of(figure, found.values, found.claim(figure.claim).weighed, **words) if found is not None else None


def outcomes(figure: KeyFigure, stored: Report | None, shown: Shown | None) -> list[Outcome]:
    """The outcomes that are told: of the stored seeds, and of those that a page trained, which are never pooled; but a class's few decide
    together with the stored ones. Where they then leave open what the stored ones decide, it is told of these."""
    before = outcome_so_far(figure, stored, seed="stored seed")
    if before is None or shown is None or shown.state != "class":
        live = outcome_so_far(figure, shown, subject="Trained here: it" if before else "")
        return [outcome for outcome in (before, live) if outcome]
    arms = {arm.name for arm in shown.experiment.arms}
    trials = [*(trial for trial in stored.trials if trial.arm in arms), *shown.trials] if stored else shown.trials
    both = report(shown.experiment, trials, list(dict.fromkeys(trial.seed for trial in trials)))
    together = outcome_so_far(figure, both) if shown.trials else None
    return [together if together and (together.right or not before.right) else before]


def key_sections(
    issue: Issue, figure: KeyFigure, guess: Guess, whole: bool, said: bool, stored: Report | None, shown: Shown
) -> list[Plain]:
    """One section with one panel. The reader's mark is shown before the run; once the reader has moved it, it stays.
    ``whole``: whether all rows are shown, and not only the two that the question compares.
    ``said``: whether the sentences are shown (:func:`outcomes`).
    ``stored``: the report on the stored seeds, whose dots stand above the others."""
    numbers = key_numbers(issue, shown, whole=whole)
    if stored is not None:
        there = key_numbers(issue, stored, whole=whole)
        numbers["stored"] = [replace(row, name=f"{row.name}, stored", color=muted()) for row in there["rows"]]
        numbers["share"] &= there["share"]
    live = outcome_so_far(figure, shown)
    sentences = [outcome.sentence for outcome in outcomes(figure, stored, shown)] if said else []
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
    panel: Plain = {
        "id": "key.figure", "title": figure.quantity, "height": max(LOWEST, AROUND + ROW * len(figure.rows)),
        "tall": max(TALL_LOWEST, AROUND + ROW * len(figure.rows)), "facts": sentences,
        "result": "".join(heard),
        "alt": " ".join(sentences) or f"{figure.quantity} of {len(numbers['rows'])} rows: no seed has ended yet.", "figure": drawn,
        "legend": [[role, role_color(role)] for role in roles], "picks": True, "drags": asking, "empty": not (stored or live),
        "wide": True, "slide": slide,
    }  # fmt: skip
    return [{"id": "key", "title": "", "note": "", "panels": [panel], "width": 280}]


def _slide(issue: Issue, shown: Shown, live: Outcome | None, said: str) -> Plain:
    """The words around the figure on a slide: "8 seeds (0 to 7)" of those that were trained here, in small letters."""
    some = "" if live is None or live.seeds == len(shown.seeds) else f"{live.seeds} of "
    seeds = f"{some}{shown.seeds_in_words}" if live else ""
    address = (st.context.url or "").split("?")[0]
    link = f"{address}?issue={issue.slug}" if address else ""
    foot = ", ".join(filter(None, (seeds, "Attention Lab", link)))
    return {"title": issue.title, "quantity": issue.key_figure.quantity, "sentence": said, "foot": foot}
