"""What the first screen of a question shows, from the lesson, the run and the guess."""

from dataclasses import asdict
from typing import Any

import pytest

from engine.experiments.lessons import Lesson, LessonStep
from pages.parts.experiments.presenting import PHASES, Presenting
from pages.parts.questions.view import experiment_view

SLUG = "missing-mask"
LESSON = Lesson("", (LessonStep(5, SLUG),))
ALL = {"whole": True, "sentence": True, "remedy": True}


def at(phase: str, round: int = 0) -> Presenting:
    return Presenting(LESSON, phase=PHASES.index(phase), round=round)


def shown(now: Presenting | None, run: str = "", slug: str = SLUG, **given: bool) -> dict[str, Any]:
    """What is shown, without what is empty or false."""
    flags = {"answered": False, "closed": now is not None and now.on and now.past_guessing, "guessed": False}
    return {
        name: value for name, value in asdict(experiment_view(slug, now, run, **{**flags, **given})).items() if value
    }


@pytest.mark.parametrize(
    ("now", "given", "expected"),
    [
        (None, {}, {"seeds": "own", "guess": "open", "controls": True}),
        (None, {"guessed": True}, {"seeds": "own", "guess": "open", "controls": True}),
        (None, {"answered": True}, {"seeds": "own", "guess": "closed", "controls": True, "stored": True, "way": True}),
        (
            None,
            {"answered": True, "run": "finished"},
            {"seeds": "own", "guess": "closed", "controls": True, "stored": True, "way": True},
        ),
        # The answer is not shown because something trains.
        (None, {"run": "running"}, {"seeds": "own", "guess": "closed", "controls": True, "way": True}),
        (
            Presenting(LESSON, on=False),
            {"answered": True, "run": "running"},
            {"seeds": "own", "guess": "closed", "controls": True, "stored": True},
        ),
    ],
)
def test_who_is_alone_sees_all_and_can_run_again(
    now: Presenting | None, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert shown(now, **given) == ALL | expected


@pytest.mark.parametrize(
    ("phase", "given", "expected"),
    [
        ("question", {}, {"seeds": "none", "guess": "later"}),
        ("guess", {}, {"seeds": "none", "guess": "open"}),
        # An earlier result is no answer to a room that has not guessed.
        ("guess", {"answered": True, "run": "finished"}, {"seeds": "none", "guess": "open"}),
        # To go on to the run shows what stored seeds gave.
        ("run", {"guessed": True}, {"seeds": "own", "guess": "closed", "stored": True, "controls": True}),
        ("run", {"run": "running"}, {"seeds": "own", "guess": "missed", "stored": True, "controls": True}),
        ("figure", {"run": "finished"}, {"seeds": "own", "guess": "missed", "stored": True, "whole": True}),
        (
            "sentence",
            {"run": "running", "guessed": True},
            {"seeds": "own", "guess": "closed", "stored": True, "whole": True, "sentence": True, "controls": True},
        ),
        ("remedy", {"run": "running", "guessed": True}, ALL | {"seeds": "own", "guess": "closed", "stored": True}),
    ],
)  # fmt: skip
def test_a_room_sees_what_its_beat_has_come_to(phase: str, given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert shown(at(phase), **given) == {"room": True} | expected


@pytest.mark.parametrize(
    ("run", "note"),
    [
        ("", "Guessing is closed."),
        ("running", "The run continues. Guessing is closed."),
        ("finished", "The run has ended. Guessing is closed."),
        ("stopped", "The run has ended. Guessing is closed."),
    ],
)
def test_after_a_step_back_before_the_run_a_room_sees_no_result_and_no_run(run: str, note: str) -> None:
    back = shown(at("guess"), run, answered=bool(run), closed=True, guessed=True)
    assert back == {"room": True, "seeds": "none", "guess": "closed", "gone_back": note}


@pytest.mark.parametrize("answered", [False, True])
def test_once_phones_are_asked_for_seeds_the_figure_is_theirs_and_stored_ones_come_with_the_sentence(
    answered: bool,
) -> None:
    theirs = {"room": True, "seeds": "class", "guess": "closed", "whole": True}
    assert shown(at("figure", round=1), answered=answered, guessed=True) == theirs
    assert shown(at("sentence", round=2), answered=answered, guessed=True) == theirs | {
        "stored": True,
        "sentence": True,
    }
    before = shown(at("guess", round=1), answered=answered)
    assert before == {"room": True, "seeds": "none", "guess": "open"}
    elsewhere = shown(at("figure", round=1), slug="heads", guessed=True)
    assert elsewhere["seeds"] == "own", "an issue that is not that of the step"
