"""The program for fresh seeds runs only fixed designs, each once, with a source of its own for each seed."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from engine.experiments.evidence.design import design_hash
from engine.experiments.evidence.shipped import sets_of_seeds
from engine.experiments.experiment import FRESH_SEEDS, Experiment
from engine.experiments.issues import ISSUES
from engine.serving.pool import Pool
from tests.engine.experiments.fake_issue import fake_issue
from tests.engine.serving.test_pool import FAKE, some
from tools import fresh


@pytest.fixture(autouse=True)
def _only_the_fake(own_data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for slug in list(ISSUES):
        monkeypatch.delitem(ISSUES, slug)
    monkeypatch.setitem(ISSUES, "fake", fake_issue())
    monkeypatch.setattr("engine.cli.cluster.Pool", partial(Pool, training=FAKE, predict=some))


def test_a_design_is_fixed_then_run_once_and_may_not_change_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ["--write", str(tmp_path)]
    with pytest.raises(SystemExit):
        fresh.main(["run", *folder])
    assert "fake is not the fixed one" in capsys.readouterr().err
    fresh.main(["fix", *folder])
    fresh.main(["run", "fake", *folder])
    (measured,) = sets_of_seeds(tmp_path)
    row = measured["issues"]["fake"]
    assert measured["seeds"] == list(FRESH_SEEDS)
    assert row["design"] == design_hash(ISSUES["fake"])
    assert row["arms"].keys() == {"short", "long", "longest"}

    monkeypatch.setattr(fresh, "run_to_end", pytest.fail)
    fresh.main(["run", *folder])  # nothing is left to run
    changed = fake_issue()
    monkeypatch.setitem(ISSUES, "fake", replace(changed, claims=changed.claims[:2]))
    with pytest.raises(ValueError, match="fake has been run"):
        fresh.main(["fix", *folder])


@pytest.mark.parametrize(
    ("base", "source"), [({"task": "markov"}, "source_seed"), ({"task": "permutation"}, "permutation_seed")]
)
def test_each_seed_has_a_source_of_its_own_where_the_task_has_one(base: dict[str, object], source: str) -> None:
    issue = fake_issue(base={**base, "steps": 9}, own_sources=True)
    configs = [issue.config(issue.arms[1], seed) for seed in (6000, 6001)]
    assert [(config.seed, config.flat()[source]) for config in configs] == [(6000, 6000), (6001, 6001)]
    shared = replace(issue, own_sources=False)
    assert {shared.config(issue.arms[1], seed).flat()[source] for seed in (6000, 6001)} == {0}
    assert shared.identity(issue.arms[1]) != issue.identity(issue.arms[1])
    assert shared.fingerprint(issue.arms[1]) == issue.fingerprint(issue.arms[1])


def test_a_task_without_a_source_is_run_as_it_is() -> None:
    issue: Experiment = fake_issue(base={"task": "reverse", "steps": 9})
    arm = issue.arms[1]
    assert replace(issue, own_sources=True).config(arm, 6000) == issue.config(arm, 6000)
