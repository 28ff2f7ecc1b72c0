from dataclasses import asdict, replace
from typing import Any

import pytest

from engine.experiments import long_runs
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import Row
from engine.experiments.lessons import Lesson, LessonStep
from engine.experiments.report import report
from engine.experiments.trial import Trial
from pages.parts.experiments.experiment_snapshot import ExperimentSnapshot, TrialSoFar
from pages.parts.experiments.presenting import PHASES, Presenting
from pages.parts.experiments.question import Guess
from pages.parts.questions.view import experiment_view, key_sections
from tests.pages.scripted_experiment import issue_of, trials_of

SLUG = "missing-mask"
LESSON = Lesson("", (LessonStep(5, SLUG),))
ALL = {"whole": True, "sentence": True, "remedy": True}


def presenting_at(phase: str, round: int = 0) -> Presenting:
    return Presenting(LESSON, phase=PHASES.index(phase), round=round)


def visible_parts(now: Presenting | None, run: str = "", slug: str = SLUG, **given: bool) -> dict[str, Any]:
    """The shown parts, without those that are empty or false."""
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
    assert visible_parts(now, **given) == ALL | expected


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
    assert visible_parts(presenting_at(phase), **given) == {"room": True} | expected


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
    back = visible_parts(presenting_at("guess"), run, answered=bool(run), closed=True, guessed=True)
    assert back == {"room": True, "seeds": "none", "guess": "closed", "closed_note": note}


@pytest.mark.parametrize("answered", [False, True])
def test_once_phones_are_asked_for_seeds_the_figure_is_theirs_and_stored_ones_come_with_the_sentence(
    answered: bool,
) -> None:
    theirs = {"room": True, "seeds": "class", "guess": "closed", "whole": True}
    assert visible_parts(presenting_at("figure", round=1), answered=answered, guessed=True) == theirs
    assert visible_parts(presenting_at("sentence", round=2), answered=answered, guessed=True) == theirs | {
        "stored": True,
        "sentence": True,
    }
    before = visible_parts(presenting_at("guess", round=1), answered=answered)
    assert before == {"room": True, "seeds": "none", "guess": "open"}
    elsewhere = visible_parts(presenting_at("figure", round=1), slug="heads", guessed=True)
    assert elsewhere["seeds"] == "own", "an issue that is not that of the step"


# The learning curves, the second view of the figure


STEPS = (4, 40, 400)
SEEDS = range(1000, 1006)


@pytest.fixture
def issue(monkeypatch: pytest.MonkeyPatch) -> Issue:
    """An issue whose three rows have long runs of two seeds."""
    made = issue_of(3)
    rows = {
        arm.name: {
            "rate": 0.01,
            "steps": STEPS,
            "fingerprint": made.fingerprint(arm),
            "values": {"accuracy": [[0.1, 0.3, 1.0], [0.3, 0.5, 0.8]]},
        }
        for arm in made.arms
    }
    monkeypatch.setattr(long_runs, "rows", lambda _: {made.slug: rows})
    return made


def panel(issue: Issue, snapshot: ExperimentSnapshot, stored: bool = False, whole: bool = True) -> dict[str, Any]:
    answer = report(issue, trials_of(issue, SEEDS), SEEDS) if stored else None
    (section,) = key_sections(issue, Guess(), whole, False, answer, snapshot)
    (only,) = section["panels"]
    return only


def so_far(issue: Issue, *trials: Trial, running: tuple[TrialSoFar, ...] = ()) -> ExperimentSnapshot:
    seeds = [10_000, 10_001]
    return ExperimentSnapshot.of(report(issue, trials, seeds), "running" if running else "waiting", running=running)


def curves(panel: dict[str, Any]) -> dict[str, list[tuple[int, float]]]:
    """The lines of the second view by their ids."""
    traces = panel["views"][1]["figure"]["data"]
    return {trace["uid"]: list(zip(trace["x"], trace["y"], strict=True)) for trace in traces}


def test_a_figure_has_a_second_view_where_both_compared_rows_have_long_runs(
    issue: Issue, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = panel(issue, so_far(issue))["views"]
    assert (first["label"], second["label"]) == ("After 40 steps", "Learning curve")
    one = issue.key_figure.after.arm
    stored = long_runs.rows(long_runs.FOLDER)
    monkeypatch.setattr(long_runs, "rows", lambda _: {issue.slug: {one: stored[issue.slug][one]}})
    assert "views" not in panel(issue, so_far(issue))


def test_before_the_answer_the_second_view_is_veiled_as_the_first(issue: Issue) -> None:
    asked = panel(issue, so_far(issue))
    assert asked["empty"]
    assert asked["views"][1]["empty"]
    assert asked["views"][1]["alt"].count("not shown yet") == len(issue.key_figure.rows)
    assert [point for line in curves(asked).values() for point in line if point[1] is not None] == []
    answered = panel(issue, so_far(issue), stored=True)
    assert not answered["views"][1]["empty"]
    assert curves(answered)["mean-before"] == [(4, 0.2), (40, 0.4), (400, 0.9)]
    assert curves(answered)["lowest-seed-after"] == [(4, 0.1), (40, 0.3), (400, 0.8)]
    assert "before: 0.40 at step 40, 0.90 at step 400" in answered["views"][1]["alt"]
    axes = [one["views"][1]["figure"]["layout"]["xaxis"]["range"] for one in (asked, answered)]
    assert axes[0] == axes[1], "nothing moves when the curves come"


def test_seeds_that_train_now_are_in_it_as_they_come(issue: Issue) -> None:
    before, after = issue.key_figure.rows[:2]
    along = {"validation.accuracy": [(10, 0.2), (20, 0.3)]}
    running = TrialSoFar(before.arm, 10_001, 0.5, lambda: along)
    ended = Trial(before.arm, 10_000, {"accuracy": 0.6}, {"validation.accuracy": [(10, 0.1), (40, 0.6)]})
    without_curve = Trial(after.arm, 10_000, {"accuracy": 0.9})
    found = panel(issue, so_far(issue, ended, without_curve, running=(running,)))
    shown = {name: [point for point in line if point[1] is not None] for name, line in curves(found).items()}
    assert shown["live-before"] == [(10, 0.1), (40, 0.6), (10, 0.2), (20, 0.3)]
    assert shown["live-after"] == [(40, 0.9)], "at its last step"
    assert shown["mean-before"] == []
    assert "before: trained here 0.45 in 2 seeds" in found["views"][1]["alt"]
    assert not found["views"][1]["empty"]


def test_a_room_sees_the_curves_of_the_rows_that_it_has_come_to(issue: Issue) -> None:
    rows = (*issue.key_figure.rows, Row("remedy", issue.arms[2].name, "accuracy"))
    issue = replace(issue, key_figure=replace(issue.key_figure, rows=rows))
    assert "mean-remedy" in curves(panel(issue, so_far(issue)))
    assert "mean-remedy" not in curves(panel(issue, so_far(issue), whole=False))
