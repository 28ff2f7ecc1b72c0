"""The key figure of an issue as a panel of a board: its rows from the trials so far, and the sentence under it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import KeyFigure, Outcome, outcome_of
from engine.foundation.formatting import counted
from pages.parts.boards.component import Plain
from pages.parts.charts.base import plain_figure
from pages.parts.charts.experiments.arms import role_color
from pages.parts.charts.experiments.key_figure import SCALE, Slide, key_figure, slide_figure
from pages.parts.charts.experiments.strip import Ended
from pages.parts.issues.guess import Guess
from pages.parts.stage.ended import key_numbers
from pages.parts.stage.shown import Shown

ROW, AROUND, LOWEST = 44, 40, 200
"""Pixels: the height of a row, of what is above and below the rows, and of the whole at least, on a phone."""
TALL_ROW, TALL_LOWEST = 54, 330
"""The same where there is more room."""


def outcome_so_far(figure: KeyFigure, shown: Shown) -> Outcome | None:
    return outcome_of(figure, shown.values, shown.claim(figure.claim).weighed)


def key_sections(issue: Issue, figure: KeyFigure, guess: Guess, whole: bool, said: bool, shown: Shown) -> list[Plain]:
    """One section with one panel. The reader's mark stands in it before the run; where it was moved, for good. ``whole``: whether all
    rows are shown, and not only the two that the question compares; ``said``: whether the sentence is shown."""
    numbers = key_numbers(issue, shown, whole=whole)
    rows = numbers["rows"]
    outcome = outcome_so_far(figure, shown)
    sentence = outcome.sentence if outcome and said else ""
    mark = guess.size
    if mark is None and guess.answer is not None and shown.state == "waiting" and numbers["share"]:
        mark = 0.5
    draw: Callable[..., Plain] = partial(plain_figure, **numbers)
    drawn = draw(key_figure, guess=mark, moved=guess.size is not None)
    slide = None
    if outcome and sentence and shown.state != "running":
        made = draw(_slide, words=_words(issue, shown, outcome))
        slide = {"layout": made["layout"], "scale": SCALE}  # its traces are those of the figure
    roles = dict.fromkeys(issue.arm(row.arm).role for row in (figure.rows if whole else figure.rows[:2]))
    panel: Plain = {
        "id": "key.figure", "title": figure.quantity, "height": max(LOWEST, AROUND + ROW * len(figure.rows)),
        "tall": max(TALL_LOWEST, AROUND + TALL_ROW * len(figure.rows)), "words": sentence, "result": sentence,
        "alt": sentence or f"{figure.quantity} of {len(rows)} rows: no seed has ended yet.", "figure": drawn,
        "legend": [[role, role_color(role)] for role in roles], "picks": True, "drags": shown.state == "waiting",
        "wide": True, "slide": slide,
    }  # fmt: skip
    return [{"id": "key", "title": "", "note": "", "panels": [panel], "width": 280, "table": None}]


def _slide(words: Slide, rows: Sequence[Ended], **named: Any) -> go.Figure:
    return slide_figure(key_figure(rows, **named), [row.name for row in rows], words)


def _words(issue: Issue, shown: Shown, outcome: Outcome) -> Slide:
    """The words around the figure on a slide: "8 seeds (0 to 7)" in small letters."""
    first, last = shown.seeds[0], shown.seeds[-1]
    some = "" if outcome.seeds == len(shown.seeds) else f"{outcome.seeds} of "
    which = f"{first} to {last}" if last > first else f"seed {first}"
    of_class = shown.state == "class"  # their seeds follow from the phones, and are no range
    seeds = f"{some}{counted(len(shown.seeds), 'seed')}" + ("" if of_class else f" ({which})")
    address = (st.context.url or "").split("?")[0]
    link = f", {address}?issue={issue.slug}" if address else ""
    return Slide(issue.title, issue.key_figure.quantity, outcome.sentence, f"{seeds}, Attention Lab{link}")
