"""The evidence that came with this version speaks of the issues of today; the table over sets of seeds says what they agree on."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from engine.experiments.choice.qualities import CHOICE
from engine.experiments.evidence.shipped import FOLDER, sets_of_seeds, shipped_report, shipped_reports, write_set
from engine.experiments.evidence.table import markdown, write_evidence, write_readme
from engine.experiments.issues import ISSUES
from engine.experiments.statistics import LOWEST_P
from tests.engine.experiments.fake_issue import fake_issue, fake_report

LATER = range(100, 106)


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
    before, *_ = shipped_reports(ISSUES["fixed-encoding"])
    write_set([before], tmp_path)
    (measured,) = sets_of_seeds(tmp_path)
    assert shipped_report(ISSUES["fixed-encoding"], measured) == replace(before, seconds=round(before.seconds, 2))


@pytest.mark.parametrize("first", [0, 100])
def test_the_shipped_files_are_as_they_are_written(tmp_path: Path, first: int) -> None:
    """Also to the last bit of each number, with no field that is not written today."""
    (measured,) = (one for one in sets_of_seeds() if one["seeds"][0] == first)
    found = (shipped_report(issue, measured) for issue in [*ISSUES.values(), CHOICE])
    write_set([report for report in found if report is not None], tmp_path)
    shipped, written = ((folder / f"seeds-{first}.json").read_text("utf-8") for folder in (FOLDER, tmp_path))
    assert shipped.count("\n") < 500, "a line for each arm"
    assert [line for line in shipped.splitlines() if not line.startswith('"machine": ')] == [
        line for line in written.splitlines() if not line.startswith('"machine": ')
    ]


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ISSUES, "fake", fake_issue())


def rows(folder: Path) -> list[str]:
    return [line for line in (folder / "README.md").read_text().splitlines() if line.startswith("| ")][1:]


def test_sets_stand_beside_each_other_and_one_on_the_same_seeds_takes_the_place_of_the_first(tmp_path: Path) -> None:
    write_evidence([fake_report(noise=0.0)], tmp_path)
    first, _ = rows(tmp_path)
    assert "| +0.4 nats |  |  | Holds: +0.4 |" in first, "where all seeds are alike there is neither interval nor p"
    assert (tmp_path / "README.md").read_text().count(LOWEST_P) == 1

    write_evidence([fake_report()], tmp_path)
    first, second = rows(tmp_path)
    assert "`fake`" in first
    assert "**Holds**" in first
    assert "| +0.405 nats (+0.399 to +0.411) | 0.031 | 0.031 | Holds: +0.405 |" in first
    assert "Holds: -0.9" in second
    assert {line.count("|") for line in (first, second)} == {11}

    write_evidence([fake_report(LATER, -0.3)], tmp_path)
    first, second = rows(tmp_path)
    assert "**Undecided**" in first, "the sets contradict each other"
    assert "| Holds: +0.405 | The opposite holds: -0.395 |" in first
    assert "| Holds |" in second


def test_claims_have_words_of_today_and_numbers_of_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_evidence([fake_report()], tmp_path)
    measured = (tmp_path / "seeds-0.json").read_bytes()
    short, *others = fake_issue().claims
    better = replace(short, sentence="One step leaves a higher loss than nine.")
    monkeypatch.setitem(ISSUES, "fake", fake_issue(claims=(better, *others)))
    write_readme(tmp_path)
    first, _ = rows(tmp_path)
    assert "One step leaves a higher loss than nine. | **Holds** | +0.405" in first
    assert (tmp_path / "seeds-0.json").read_bytes() == measured

    monkeypatch.setitem(ISSUES, "other", fake_issue(slug="other"))
    write_evidence([fake_report(LATER), replace(fake_report(LATER), experiment=ISSUES["other"])], tmp_path)
    *_, last = rows(tmp_path)
    assert "| Holds | -0.9 nats |  |  | not run | Holds: -0.9 |" in last


def test_the_shipped_table_follows_from_its_numbers_and_claims_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it fails, a claim has other words now: ``python -m engine.experiments.evidence.table`` writes the table anew."""
    table = (FOLDER / "README.md").read_text("utf-8")
    assert table == markdown(FOLDER)
    for slug in ("missing-skips", "missing-mask", "heads"):
        issue = ISSUES[slug]
        for one, two in pairwise(issue.claims_of()):
            swapped = {one.id: two.sentence, two.id: one.sentence}
            claims = tuple(replace(claim, sentence=swapped.get(claim.id, claim.sentence)) for claim in issue.claims)
            with monkeypatch.context() as patch:
                patch.setitem(ISSUES, slug, replace(issue, claims=claims))
                assert markdown(FOLDER) != table, one.id
