"""The table over sets of seeds: what each found, and what they agree on."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from engine.experiments.evidence.shipped import FOLDER
from engine.experiments.evidence.table import markdown, write_evidence, write_readme
from engine.experiments.issues import ISSUES
from engine.experiments.report import Report, report
from engine.experiments.statistics import LOWEST_P
from engine.experiments.trial import Trial
from tests.engine.experiments.fake_issue import fake_issue


def found(first_seed: int, short: float, noise: float = 0.01) -> Report:
    seeds = range(first_seed, first_seed + 6)
    trials = [
        Trial(arm, seed, {"loss": loss})
        for seed in seeds
        for arm, loss in (("short", short + noise * (seed % 2)), ("long", 0.1))
    ]
    return report(fake_issue(), trials, seeds, seconds=12)


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ISSUES, "fake", fake_issue())


def rows(folder: Path) -> list[str]:
    return [line for line in (folder / "README.md").read_text().splitlines() if line.startswith("| ")][1:]


def test_sets_stand_beside_each_other_and_one_on_the_same_seeds_takes_the_place_of_the_first(tmp_path: Path) -> None:
    write_evidence([found(0, 0.5, noise=0.0)], tmp_path)
    first, _ = rows(tmp_path)
    assert "| Holds: +0.4 nats |" in first, "where every seed has the same effect there is neither interval nor p"
    assert (tmp_path / "README.md").read_text().count(LOWEST_P) == 1

    write_evidence([found(0, 0.5)], tmp_path)
    first, second = rows(tmp_path)
    assert "`fake`" in first
    assert "**Holds**" in first
    assert "Holds: +0.405 nats (+0.399 to +0.411), p 0.031" in first
    assert "Holds: -0.9" in second
    assert {line.count("|") for line in (first, second)} == {7}

    write_evidence([found(100, -0.3)], tmp_path)
    first, second = rows(tmp_path)
    assert "**Undecided**" in first, "the sets disagree"
    assert "| Holds: +0.405 nats" in first
    assert "| The opposite holds: -0.395 nats" in first
    assert "| Holds |" in second


def test_claims_have_the_words_of_today_and_the_numbers_of_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_evidence([found(0, 0.5)], tmp_path)
    measured = (tmp_path / "seeds-0.json").read_bytes()
    short, *others = fake_issue().claims
    better = replace(short, sentence="One step leaves a higher loss than nine.")
    monkeypatch.setitem(ISSUES, "fake", fake_issue(claims=(better, *others)))
    write_readme(tmp_path)
    first, _ = rows(tmp_path)
    assert "One step leaves a higher loss than nine. | **Holds** | Holds: +0.405" in first
    assert (tmp_path / "seeds-0.json").read_bytes() == measured

    monkeypatch.setitem(ISSUES, "other", fake_issue(slug="other"))
    write_evidence([found(100, 0.5), replace(found(100, 0.5), experiment=ISSUES["other"])], tmp_path)
    *_, last = rows(tmp_path)
    assert "| Holds | not run | Holds: -0.9 nats |" in last


def test_the_table_that_comes_with_this_version_is_what_its_numbers_give_and_no_two_claims_can_be_swapped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
