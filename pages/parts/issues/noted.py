"""What a reader did with an issue: noted for the hand-in; and the link to share."""

import streamlit as st

from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import KeyFigure, Outcome
from engine.experiments.running.experiment_run import ExperimentRun
from pages.parts.app.visitor import mine
from pages.parts.issues.key_panel import outcome_so_far
from pages.parts.stage.document import bars
from pages.parts.stage.ended import key_numbers
from pages.parts.stage.hand_in import NO_FIGURE, Note, offer_hand_in, write_down
from pages.parts.stage.qr import base_address, show_link
from pages.parts.stage.question import Guess, guess_of
from pages.parts.stage.shown import Shown

STORED = "Nothing; looked at stored runs"
"""What was run where an earlier result was looked at."""


def note_issue(issue: Issue, run: ExperimentRun | None, shown: Shown | None) -> None:
    """Note the guess, the run and the result, as they are shown now; nothing where the reader has done nothing yet."""
    figure, guess = issue.key_figure, guess_of(issue.slug)
    outcome = _outcome(figure, shown)
    if guess.answer is None and shown is None:
        return
    ran = _ran(run, shown) if shown is not None and shown.seeds else ""
    drawn = bars(key_numbers(issue, shown)["rows"], figure) if shown is not None and outcome is not None else NO_FIGURE
    found = outcome.sentence if outcome is not None else ""
    write_down(f"issue.{issue.slug}", Note(issue.title, figure.question, _guess(figure, guess), ran, found, drawn))


def _guess(figure: KeyFigure, guess: Guess) -> str:
    if guess.answer is None:
        return ""
    size = f", to {figure.written(guess.size)}" if guess.size is not None else ""
    return f"{figure.asks.in_words(guess.answer)}{size}"


def _ran(run: ExperimentRun | None, shown: Shown) -> str:
    own = "Trained here" if run is not None and mine(run.visitor.id) else "Nothing; watched somebody else’s run"
    words = STORED if shown.origin == "stored" else own
    kept = f"; {shown.reused} of its trials had been trained before" if shown.reused else ""
    return f"{words}: {shown.seeds_in_words}{kept}."


def _outcome(figure: KeyFigure, shown: Shown | None) -> Outcome | None:
    return outcome_so_far(figure, shown) if shown is not None and shown.state != "running" else None


def show_share(issue: Issue) -> None:
    link, own = st.columns([1.3, 1], gap="large")
    with link:
        show_link(f"{base_address('issues')}issues?issue={issue.slug}")
    with own:
        offer_hand_in()
