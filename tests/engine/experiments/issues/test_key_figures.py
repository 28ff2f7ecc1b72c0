"""The key figures of all issues: complete, short enough for one screen, and no constant answer wins."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.experiments.evidence.shipped import shipped_reports, shipped_result
from engine.experiments.issues import ISSUES
from engine.experiments.key_figure import ANSWERS

MOST_WORDS = 60
MOST_RIGHT = 0.6
MOST_CLAIMS = 2


@pytest.mark.parametrize("slug", ISSUES)
def test_rows_and_claims_are_those_of_the_issue_and_its_evidence_and_what_is_read_first_is_short(slug: str) -> None:
    issue = ISSUES[slug]
    figure = issue.key_figure
    for row in figure.rows:
        assert row.arm in {arm.name for arm in issue.arms_of()}
        for report in shipped_reports(issue):
            numbers = [trial.numbers for trial in report.trials if trial.arm == row.arm]
            assert any(row.metric in found for found in numbers), f"{row.label}: no {row.metric}"
    words = " ".join([issue.title, figure.sample, figure.question, *figure.answers, "Your guess"]).split()
    assert len(words) <= MOST_WORDS
    assert len(set(figure.answers)) == len(ANSWERS)
    assert figure.question.endswith("?")
    assert len(figure.also) <= MOST_CLAIMS
    assert {figure.claim, *figure.also} <= {claim.id for claim in issue.claims_of()}


def test_no_constant_answer_wins() -> None:
    right = Counter(
        result.outcome.answer for issue in ISSUES.values() if (result := shipped_result(issue, issue.key_figure))
    )
    assert sum(right.values()) >= 19
    assert max(right.values()) <= MOST_RIGHT * sum(right.values()), right
