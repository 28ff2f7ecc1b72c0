"""Cards to share: their picture, their QR code, and sentences that say what the runs say."""

import io
from dataclasses import replace

import numpy as np
import pytest
import segno
from PIL import Image

from engine.experiments.evidence.shipped import shipped_result
from engine.experiments.issues import ISSUES
from engine.runs.events import Sample
from pages.parts.boards.recorded import recorded_run
from pages.parts.issues.noted import card_of as issue_card
from pages.parts.lab import card as lab_card
from pages.parts.stage.card import EDGE, HEIGHT, QR, WIDTH, Bar, Card, Written, gif, png
from pages.parts.stage.shown import Shown
from pages.parts.story.screen import card_of as story_card

BASE = "https://lab.example/"


def pixels(file: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(file)).convert("L"))


def test_the_picture_holds_the_link_as_a_qr_code_and_one_that_is_too_long_leaves_its_place_empty() -> None:
    bar = Bar("before", 1.0, "0.9", "#2A5BD7")
    card = Card("One sentence.", (bar,), f"{BASE}lab?run=abc", "foot")
    drawn = pixels(png(card))
    assert drawn.shape == (HEIGHT, WIDTH)
    corner = (slice(HEIGHT - EDGE - QR, HEIGHT - EDGE), slice(WIDTH - EDGE - QR, WIDTH - EDGE))
    modules = np.array([list(row) for row in segno.make(card.link, micro=False).matrix], bool)
    places = ((np.arange(len(modules)) + 0.5) * QR / len(modules)).astype(int)
    assert np.array_equal(drawn[corner][np.ix_(places, places)] < 128, modules)
    assert (pixels(png(replace(card, link="x" * 4000)))[corner] == 255).all()


@pytest.mark.parametrize("words", ["Short.", "A sentence of some length that goes on for a while. " * 4])
def test_nothing_leaves_the_card_whatever_its_length(words: str) -> None:
    rows = tuple(Bar(f"row {n}", n / 6, f"{n}", "#2A5BD7") for n in range(6))
    edge = EDGE // 2
    drawn = pixels(png(Card(words, rows, BASE, "foot")))
    assert (drawn[:edge] == 255).all()
    assert (drawn[-edge:] == 255).all()
    assert (drawn[:, :edge] == 255).all()
    assert (drawn[:, -edge:] == 255).all()


def test_a_moving_card_has_a_picture_for_each_row_of_its_film() -> None:
    film = tuple(Written(f"step {n}", ["1", "2", ""], [n > 0, n > 1, None]) for n in range(3))
    moving = Image.open(io.BytesIO(gif(Card("It moves.", film[-1:], BASE, "foot", film))))
    assert (moving.n_frames, moving.size) == (3, (WIDTH, HEIGHT))


def test_the_card_of_an_issue_says_the_sentence_and_whose_seeds_they_are() -> None:
    issue = ISSUES["missing-skips"]
    found = shipped_result(issue, issue.key_figure)
    assert found is not None
    card = issue_card(issue, Shown.of(found.report, "shipped"), found.outcome, BASE)
    assert card.sentence == found.outcome.sentence
    assert card.link == f"{BASE}issues?issue=missing-skips"
    assert f"stored runs, {found.report.seeds_in_words}" in card.foot
    assert "stored" not in issue_card(issue, Shown.of(found.report, "finished"), found.outcome, BASE).foot
    written = [issue.key_figure.written(mean) for mean in (found.outcome.before, found.outcome.after)]
    assert [row.words for row in card.rows if isinstance(row, Bar)] == written
    assert png(card)


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        ([True] * 6, "cut one skip line and no answer breaks."),
        ([True] + [False] * 5, "cut one skip line and 5 of 6 answers break."),
        ([False] * 6, "cut one skip line and 6 of 6 answers break."),
    ],
)
def test_the_card_of_a_run_says_when_it_learned_and_what_breaks(
    now: list[bool], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = recorded_run()
    whole = run.events.landmarks()
    last = [one for one in whole if type(one).__name__ == "Snapshot"][-1].samples[0]
    marks = iter(now)
    kept = [
        word if mark is None or next(marks) else "x" for word, mark in zip(last.predictions, last.marks, strict=True)
    ]
    cut = Sample(last.tokens, last.targets, kept)
    monkeypatch.setattr(lab_card, "without_skip", lambda run: cut)
    card = lab_card.card_of(run, BASE)
    assert card is not None
    assert card.sentence.startswith("My transformer learned to reverse in ")
    assert card.sentence.endswith(sentence)
    assert [row.name for row in card.rows if isinstance(row, Written)] == [
        "Untrained",
        f"After {run.step} steps",
        "One skip line cut",
    ]
    assert card.film[-1].name == "One skip line cut"


def test_the_card_of_the_story_compares_the_steps_that_were_tried() -> None:
    assert story_card([("1. One", 0.3)], BASE) is None
    card = story_card([("1. One", 0.3), ("2. Two", 0.995)], BASE)
    assert card is not None
    assert "2 small transformers" in card.sentence
    assert "the worst had 30 % right, the best 99.5 %" in card.sentence
    assert [row.length for row in card.rows if isinstance(row, Bar)] == [0.3, 0.995]
