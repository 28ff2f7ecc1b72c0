"""Evidence on this machine: it is found again, weighed by today's claims, and old files open."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from engine.experiments.comparison import Comparison
from engine.experiments.evidence import store
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.trial import Trial
from engine.workers.pool import Pool
from tests.engine.experiments.fake_issue import fake_issue

pytestmark = pytest.mark.usefixtures("own_data_folder")


def saved(pool: Pool) -> ExperimentRun:
    run = ExperimentRun(fake_issue(seeds=6), pool).start()
    assert run.wait(600)
    store.save(run)
    return run


def test_evidence_is_kept(pool: Pool) -> None:
    assert store.latest(fake_issue()) is None
    assert not store.has_evidence("fake")
    run = saved(pool)
    found = store.latest(fake_issue())
    assert found is not None
    assert found.trials == list(run.trials)
    assert found.claims == run.report.claims
    assert store.has_evidence("fake")


def test_a_claim_that_changed_since_is_weighed_anew(pool: Pool) -> None:
    saved(pool)
    first, *others = fake_issue().claims
    found = store.latest(fake_issue(claims=(replace(first, smallest_effect=0.9), *others)))
    assert found is not None
    assert found.claims[0].finding == "none"


def test_a_file_that_cannot_be_read_is_passed_over(pool: Pool) -> None:
    saved(pool)
    (store.folder_of("fake") / "99999999999999999999.json").write_text("{")
    assert store.has_evidence("fake")
    assert store.latest(fake_issue()) is not None


TABLE = Comparison({"design_features": "table"}, ("rope",), ("permutation",), 2)


def trials_of(asked: Comparison) -> list[Trial]:
    arms = asked.experiment.arms
    return [Trial(arm.name, seed, {"accuracy": 0.5 + 0.1 * seed}) for seed in range(asked.seeds) for arm in arms]


def test_a_comparison_is_found_again_by_what_was_compared() -> None:
    assert store.find_comparison(TABLE.name) is None
    trials = trials_of(TABLE)
    by_name = {(trial.arm, trial.seed): trial for trial in trials}
    run = ExperimentRun(TABLE.experiment, Pool, find=lambda arm, seed: by_name.get((arm.name, seed)))  # type: ignore[arg-type]  # never started
    file = store.save(run, TABLE)
    assert (file.parent.name, file.name) == ("designs", f"{TABLE.name}.json")
    found = store.find_comparison(Comparison({"design_features": "table"}, ("rope",), ("permutation",), 2).name)
    assert found is not None
    assert found[0] == TABLE
    assert found[1].trials == trials
    assert [row.to_json() for row in found[1].claims] == [row.to_json() for row in run.report.claims]
    assert store.find_comparison("../" + TABLE.name) is None
    assert replace(TABLE, seeds=3).name != TABLE.name


def test_the_name_of_a_comparison_and_the_format_of_its_file_are_those_of_earlier_versions() -> None:
    assert TABLE.name == "8da888493e28"
    row = {
        "format": 1, "created": 1.0, "seeds": [0, 1], "extended": False, "seconds": 3.0, "from_before": 1,
        "verdict": "inconclusive", "weighed": [], "trials": [asdict(trial) for trial in trials_of(TABLE)],
        "asked": {"parts": {"design_features": "table"}, "against": ["rope"], "tasks": ["permutation"], "seeds": 2},
    }  # fmt: skip
    folder = store.folder_of("designs")
    folder.mkdir(parents=True)
    (folder / f"{TABLE.name}.json").write_text(json.dumps(row))
    found = store.find_comparison(TABLE.name)
    assert found is not None
    assert (found[0], found[1].reused, found[1].seeds) == (TABLE, 1, [0, 1])
