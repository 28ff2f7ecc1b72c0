"""The evidence that came with this version: it speaks of the issues of today, and its reports are computed when they are read."""

from dataclasses import replace
from pathlib import Path

from engine.experiments.evidence.shipped import sets_of_seeds, shipped_report, shipped_reports, write_set
from engine.experiments.issues import ISSUES


def test_what_was_measured_are_the_claims_and_arms_of_today() -> None:
    measured_ones = {slug: shipped_reports(issue) for slug, issue in ISSUES.items() if shipped_reports(issue)}
    assert len(measured_ones) >= 19
    for slug, reports in measured_ones.items():
        issue = ISSUES[slug]
        assert [found.seeds for found in reports] == [list(range(8)), list(range(100, 108))]
        for found in reports:
            assert {trial.arm for trial in found.trials} <= {arm.name for arm in found.arms}
            assert all(row.weighed.seeds == len(found.seeds) for row in found.claims), slug
        for row in (measured["issues"][slug] for measured in sets_of_seeds()):
            assert set(row["arms"]) == {arm.name for arm in issue.arms_of(row["extended"])}
            assert row["effects"].keys() <= {claim.id for claim in issue.claims_of(row["extended"])}


def test_words_and_statistics_are_those_of_today() -> None:
    issue = ISSUES["heads"]
    first, *others = issue.claims
    changed = replace(first, sentence="Other words.", smallest_effect=99.0)
    other, *_ = shipped_reports(replace(issue, claims=(changed, *others)))
    before, *_ = shipped_reports(issue)
    assert other.claims[0].claim.sentence == "Other words."
    assert other.claims[0].effects == before.claims[0].effects
    assert (before.claims[0].finding, other.claims[0].finding) == ("holds", "none")


def test_what_is_written_gives_the_same_report_again(tmp_path: Path) -> None:
    """Where the trials hold all numbers, no effect is stored."""
    before, *_ = shipped_reports(ISSUES["fixed-encoding"])
    write_set([before], tmp_path)
    (measured,) = sets_of_seeds(tmp_path)
    assert measured["issues"]["fixed-encoding"]["effects"] == {}
    assert shipped_report(ISSUES["fixed-encoding"], measured) == replace(before, seconds=round(before.seconds, 2))
