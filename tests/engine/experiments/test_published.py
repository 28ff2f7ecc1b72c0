"""The evidence that came with this version: all of it can be read, and it speaks of the issues as they are today."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from engine.experiments.issues import ISSUES
from engine.experiments.published import FOLDER, shipped_numbers, shipped_reports, trials_of
from engine.experiments.report import Report

ROWS = [row for file in sorted(FOLDER.glob("seeds-*.json")) for row in json.loads(file.read_text("utf-8"))["reports"]]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['slug']}-{row['seeds'][0]}")
def test_a_report_survives_json_and_is_weighed_as_it_was(row: dict[str, Any]) -> None:
    """The files were written with the words of an earlier version and with scipy's intervals."""
    found = Report.from_json(row)
    now = found.to_json()
    assert Report.from_json(json.loads(json.dumps(now))) == found
    assert now["arms"] == row["arms"]
    for claim, before in zip(now["claims"], row["claims"], strict=True):
        words = {"shown": {"holds"}, "not shown": {"none", "opposite"}, "inconclusive": {"undecided"}}
        assert claim["finding"] in words[before["verdict"]]
        assert claim["ci"] == pytest.approx(before["ci"], rel=1e-9)
        same = ("claim", "effect", "p", "unit", "smallest_effect", "direction", "condition", "about", "why", "effects")
        assert {name: claim[name] for name in same} == {name: before[name] for name in same}


@pytest.mark.parametrize("slug", sorted({row["slug"] for row in ROWS}))
def test_what_was_measured_are_the_claims_and_arms_of_today(slug: str) -> None:
    issue = ISSUES[slug]
    reports = shipped_reports(issue)
    assert [report.seeds for report in reports] == [list(range(8)), list(range(100, 108))]
    for report in reports:
        assert [claim.claim for claim in report.claims] == [c.sentence for c in issue.claims_of(report.extended)]


def test_other_words_keep_the_evidence_and_other_claims_or_arms_do_not() -> None:
    issue = ISSUES["heads"]
    said = replace(issue.claims[0], sentence="Other words.", condition="", unit="parts")
    report, *_ = shipped_reports(replace(issue, claims=(said, *issue.claims[1:])))
    assert (report.claims[0].claim, report.claims[0].unit) == ("Other words.", "parts")
    assert report.claims[0].weighed == shipped_reports(issue)[0].claims[0].weighed
    larger = replace(issue.claims[0], smallest_effect=0.9)
    assert shipped_reports(replace(issue, claims=(larger, *issue.claims[1:]))) == []
    turned, *_ = shipped_reports(replace(issue, claims=issue.claims[::-1]))
    assert turned.claims == shipped_reports(issue)[0].claims[::-1], "evidence belongs to a claim's id, not to its place"
    renamed = replace(issue.claims[0], id="other")
    assert shipped_reports(replace(issue, claims=(renamed, *issue.claims[1:]))) == []
    assert shipped_reports(replace(issue, arms=issue.arms[1:])) == []


def test_its_trials_tell_the_numbers_that_the_report_tells() -> None:
    numbers, _ = shipped_numbers("longer-sequences")
    trials = [trial for report in shipped_reports(ISSUES["longer-sequences"]) for trial in trials_of(report)]
    for (arm, metric), known in numbers.items():
        assert [(t.seed, t.numbers[metric]) for t in trials if t.arm == arm and metric in t.numbers] == known
