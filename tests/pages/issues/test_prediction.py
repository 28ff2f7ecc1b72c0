"""Guesses on single claims beside what was measured."""

from __future__ import annotations

from engine.experiments.report import report
from engine.experiments.statistics import Finding
from pages.parts.issues.prediction import compared
from tests.pages.scripted_experiment import issue_of, trials_of


def test_a_guess_is_right_by_what_was_measured() -> None:
    issue = issue_of(4, 3)
    found = report(issue, trials_of(issue, range(8)), range(8))
    rows = compared({0: Finding.HOLDS, 2: Finding.HOLDS}, found)
    assert [row.right for row in rows] == [True, False]
    assert (rows[1].said, rows[1].found) == ("Holds", "No effect worth naming")
    assert compared({}, found) == []
