from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from engine.experiments.benchmark.criteria import CHOICE
from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.shipped import sets_of_seeds, write_set
from engine.experiments.experiment import CONFIRMATORY_SEEDS, Arm, Claim, difference
from engine.experiments.issues import ISSUES
from engine.experiments.key_figure import Row
from engine.experiments.long_findings import LastingFinding, SpeedFinding, shares, shipped_long_finding
from engine.experiments.report import Report, report
from engine.experiments.statistics import LOWEST_P
from engine.experiments.trial import Trial
from engine.foundation.code_hash import code_hash
from engine.foundation.provenance import provenance
from engine.serving.pool import Pool
from tests.engine.experiments.fake_issue import fake_issue, fake_report
from tests.engine.serving.test_pool import FAKE, some
from tools import evidence, rates
from tools.evidence import markdown, write_readme
from tools.long_runs import write

LATER = range(100, 106)


def write_evidence(reports: Sequence[Report], folder: Path) -> None:
    write_set(reports, folder)
    write_readme(folder)


@pytest.mark.usefixtures("own_data_folder")
def test_an_issue_and_the_table_of_encodings_are_measured_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ISSUES, "fake", fake_issue(base={"steps": 9, "learning_rate": 0.001}))
    arms = tuple(replace(arm, settings={**arm.settings, "steps": 1}) for arm in CHOICE.arms[:2])
    monkeypatch.setattr(rates, "CHOICE", replace(CHOICE, arms=arms, seeds=2))
    monkeypatch.setattr(evidence, "SETS", (0,))
    monkeypatch.setattr("engine.cli.cluster.Pool", partial(Pool, training=FAKE, predict=some))
    evidence.main(["fake", "choice", "--seeds", "2", "--first-seed", "0", "--write", str(tmp_path)])
    (measured,) = sets_of_seeds(tmp_path)
    assert measured["seeds"] == [0, 1]
    assert {slug: list(row["arms"]) for slug, row in measured["issues"].items()} == {
        "fake": [arm.name for arm in fake_issue().arms_of()],
        "choice": [arm.name for arm in arms],
    }
    assert "`python -m tools.evidence --all --seeds 2 --first-seed 0`" in (tmp_path / "README.md").read_text()


@pytest.mark.usefixtures("own_data_folder")
def test_on_request_only_new_arms_are_measured_and_their_origin_stands_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = fake_report(range(2))
    before = replace(report, provenance={**provenance(), "code": "earlier"})
    write_set([before], tmp_path)
    stored = sets_of_seeds(tmp_path)[0]["issues"]["fake"]
    changed = fake_issue()
    arms = (
        changed.arms[0],
        replace(changed.arms[1], settings={"steps": 8}),
        Arm("new", "remedy", {"steps": 20}, "loss"),
    )
    monkeypatch.setitem(ISSUES, "fake", replace(changed, arms=arms, claims=changed.claims[:2]))
    monkeypatch.setattr("engine.cli.cluster.Pool", partial(Pool, training=FAKE, predict=some))
    evidence.main(["fake", "--only-new", "--seeds", "2", "--first-seed", "0", "--write", str(tmp_path)])
    row = sets_of_seeds(tmp_path)[0]["issues"]["fake"]
    assert row["arms"]["short"] == stored["arms"]["short"]
    assert row["arms"]["long"]["loss"] == [1 / 9, 1 / 10], "an arm whose settings changed is a new one"
    assert row["arms"]["new"]["loss"] == [1 / 21, 1 / 22]
    assert row["provenance"]["code"] == "earlier"
    assert {name: origin["code"] for name, origin in row["moved"].items()} == dict.fromkeys(
        ("long", "new"), code_hash()
    )


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ISSUES, "fake", fake_issue())


def rows(folder: Path) -> list[str]:
    return [line for line in (folder / "README.md").read_text().splitlines() if line.startswith("| ")][1:]


def test_the_finding_is_that_of_the_confirmatory_seeds_and_seen_sets_stand_beside_it(tmp_path: Path) -> None:
    write_evidence([fake_report()], tmp_path)
    assert "not run on the confirmatory seeds" in rows(tmp_path)[0]

    write_evidence([fake_report(CONFIRMATORY_SEEDS, noise=0.0)], tmp_path)
    first, *_ = rows(tmp_path)
    assert "**Holds** | +0.4 nats |  |  |" in first, "where all seeds are alike there is neither interval nor p"
    text = (tmp_path / "README.md").read_text()
    assert text.count(LOWEST_P) == 1
    assert "Of 2 claims that were measured: holds 2, the opposite holds 0" in text

    write_evidence([fake_report(CONFIRMATORY_SEEDS)], tmp_path)
    first, second, *_ = rows(tmp_path)
    assert "`fake`" in first
    assert "| **Holds** | +0.4" in first
    assert "| Holds: +0.405 |" in first
    assert {line.count("|") for line in (first, second)} == {13}
    assert "| 3.1e-05 | 3.1e-05 |" in first, "p is corrected from sixteen seeds on"

    write_evidence([fake_report(LATER, -0.3)], tmp_path)
    first, second, *_ = rows(tmp_path)
    assert "| **Holds** |" in first, "seen seeds do not change what the confirmatory ones say"
    assert "| Holds: +0.405 | **contradicts** The opposite holds: -0.395 |" in first


@pytest.mark.parametrize("metric", ["loss", "accuracy"])
def test_at_the_claim_of_the_key_figure_stands_what_long_runs_say_and_above_the_table_how_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metric: str
) -> None:
    rows_of_metric = tuple(Row(*row[:2], metric) for row in fake_issue().key_figure.rows)
    claim = Claim("short", difference("short", "long", metric), 0.01, unit="nats", sentence="Short runs end higher.")
    made = fake_issue(
        key_figure=replace(fake_issue().key_figure, rows=rows_of_metric), claims=(claim, *fake_issue().claims[1:])
    )
    monkeypatch.setitem(ISSUES, "fake", made)
    stored = report(
        made,
        [Trial(arm, seed, {"loss": value, metric: value + 0.01 * (seed % 2) * (arm == "short")})
         for arm, value in (("short", 0.5), ("long", 0.1)) for seed in CONFIRMATORY_SEEDS],
        CONFIRMATORY_SEEDS, seconds=12,
    )  # fmt: skip
    write_evidence([stored], tmp_path)
    assert "contrast" not in (tmp_path / "README.md").read_text()
    curves = {"long": [0.1, 0.5, 0.9, 0.9], "short": [0.9, 1.0, 1.0, 1.0]}
    for arm, curve in curves.items():
        row = {"rate": 0.01, "steps": [1, 10, 100, 1000], "values": {metric: [curve] * 16}}
        write("fake", arm, {**row, "fingerprint": fake_issue().fingerprint(fake_issue().arm(arm))}, tmp_path)
    write_readme(tmp_path)
    found = shipped_long_finding(ISSUES["fake"], tmp_path)
    assert isinstance(found, SpeedFinding if metric == "accuracy" else LastingFinding)
    first, second, *_ = rows(tmp_path)
    assert f"| {found.sentence} |" in first
    assert found.sentence not in second
    assert shares([found]) in (tmp_path / "README.md").read_text()


def test_the_shipped_table_follows_from_its_numbers_and_claims_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """If it fails, a claim has other words now: ``python -m tools.evidence`` writes the table again."""
    table = (FOLDER / "README.md").read_text("utf-8")
    assert table == markdown(FOLDER)
    first = {}
    for slug in ("missing-skips", "missing-mask", "heads"):
        issue = ISSUES[slug]
        one, two, *_ = issue.claims_of(issue.arms_of())
        swapped = {one.id: two.sentence, two.id: one.sentence}
        claims = tuple(replace(claim, sentence=swapped.get(claim.id, claim.sentence)) for claim in issue.claims)
        monkeypatch.setitem(ISSUES, slug, replace(issue, claims=claims))
        first[slug] = f"| `{slug}` | {one.sentence} "
    assert [slug for slug, row in first.items() if row not in table or row in markdown(FOLDER)] == []
