"""A prediction beside what was measured."""

from __future__ import annotations

from engine.experiments.report import report
from pages.parts.issues.prediction import Prediction, compared
from tests.pages.scripted_experiment import issue_of, trials_of


def test_a_prediction_is_right_by_what_was_measured() -> None:
    issue = issue_of(4, 3)
    found = report(issue, trials_of(issue, range(8)), range(8))
    effect = found.claims[0].weighed.effect
    assert effect is not None
    rows = compared(Prediction({0: "will hold", 2: "will hold"}, effect + 0.1), found)
    assert [row.right for row in rows] == [True, True, False]
    assert not compared(Prediction({}, effect + 0.3), found)[0].right
    assert compared(Prediction({}), found) == []
