"""The table over sets of seeds: what each found, and what they agree on."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.experiments.issues import ISSUES
from engine.experiments.report import report
from engine.experiments.table import agreed, write_evidence
from engine.experiments.trial import Trial
from tests.engine.experiments.fake_issue import fake_issue


def found(first_seed: int, short: float):
    seeds = range(first_seed, first_seed + 6)
    trials = [Trial(arm, seed, {"loss": loss}) for seed in seeds for arm, loss in (("short", short), ("long", 0.1))]
    return report(fake_issue(), trials, seeds, seconds=12)


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ISSUES, "fake", fake_issue())


def rows(folder: Path) -> list[str]:
    return [line for line in (folder / "README.md").read_text().splitlines() if line.startswith("| ")][1:]


def test_one_set_has_its_own_verdicts(tmp_path: Path) -> None:
    write_evidence([found(0, 0.5)], tmp_path)
    first, second = rows(tmp_path)
    assert "`fake`" in first
    assert "**shown**" in first
    assert "shown: +0.4 nats (+0.4 to +0.4), p 0.031" in first
    assert "shown: -0.9" in second
    assert {line.count("|") for line in (first, second)} == {7}


def test_a_second_set_stands_beside_the_first_and_a_disagreement_is_inconclusive(tmp_path: Path) -> None:
    write_evidence([found(0, 0.5)], tmp_path)
    write_evidence([found(100, 0.1)], tmp_path)
    first, second = rows(tmp_path)
    assert "**inconclusive**" in first
    assert "shown: +0.4 nats" in first
    assert "not shown: +0 nats" in first
    assert "| shown |" in second


def test_an_issue_measured_again_takes_the_place_of_the_first_time(tmp_path: Path) -> None:
    write_evidence([found(0, 0.1)], tmp_path)
    write_evidence([found(0, 0.5)], tmp_path)
    first, _ = rows(tmp_path)
    assert "**shown**" in first


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["shown", "shown"], "shown"),
        (["shown", "inconclusive"], "inconclusive"),
        (["not shown", None], "not shown"),
        ([None], "inconclusive"),
    ],
)
def test_verdicts_agree_or_are_inconclusive(verdicts: list[str | None], expected: str) -> None:
    assert agreed(verdicts) == expected
