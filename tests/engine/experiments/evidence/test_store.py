import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from engine.experiments.comparison import Comparison
from engine.experiments.evidence import store
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.trial import Trial
from engine.foundation.provenance import provenance
from engine.foundation.visitor import Visitor
from engine.serving.pool import Pool
from tests.engine.at_once import at_once

pytestmark = pytest.mark.usefixtures("own_data_folder")
TABLE = Comparison({"design_features": "table"}, ("rope",), ("permutation",), 2)
ARMS = [arm.name for arm in TABLE.experiment.arms]
TRIALS = [Trial(arm, seed, {"accuracy": 0.5 + 0.1 * seed}) for seed in range(TABLE.seeds) for arm in ARMS]
# earlier versions wrote this beside trials and seeds
ROW = {"format": 1, "created": 1.0, "extended": False, "seconds": 3.0, "verdict": "inconclusive", "weighed": []}


def test_a_comparison_is_found_again_by_what_was_compared() -> None:
    assert store.find_comparison(TABLE.name) is None
    by_name = {(trial.arm, trial.seed): trial for trial in TRIALS}
    run = ExperimentRun(TABLE.experiment, Pool, find=lambda arm, seed: by_name.get((arm.name, seed)))  # type: ignore[arg-type]  # never started
    file = store.save(run, TABLE)
    assert (file.parent.name, file.name) == ("designs", f"{TABLE.name}.json")
    found = store.find_comparison(Comparison({"design_features": "table"}, ("rope",), ("permutation",), 2).name)
    assert (found[0], found[1].trials) == (TABLE, TRIALS)
    assert [row.to_json() for row in found[1].claims] == [row.to_json() for row in run.report.claims]
    assert found[1].provenance == run.report.to_json()["provenance"] == provenance()
    assert store.find_comparison("../" + TABLE.name) is None
    assert replace(TABLE, seeds=3).name != TABLE.name
    file.write_text("{")
    assert store.find_comparison(TABLE.name) is None, "one that cannot be read"


def test_the_name_of_a_comparison_and_the_format_of_its_file_are_those_of_earlier_versions() -> None:
    assert TABLE.name == "8da888493e28"
    comparison = {"parts": {"design_features": "table"}, "against": ["rope"], "tasks": ["permutation"], "seeds": 2}
    row = {**ROW, "seeds": [0, 1], "from_before": 1, "trials": [asdict(trial) for trial in TRIALS], "asked": comparison}
    folder = store.folder_of("designs")
    folder.mkdir(parents=True)
    (folder / f"{TABLE.name}.json").write_text(json.dumps(row))
    found = store.find_comparison(TABLE.name)
    assert (found[0], found[1].reused, found[1].seeds) == (TABLE, 1, [0, 1])


def test_thirty_comparisons_that_end_at_once_are_kept_with_each_owner() -> None:
    by_name = {(trial.arm, trial.seed): trial for trial in TRIALS}

    def save(number: int) -> Path:
        visitor = Visitor(f"visitor {number}", "10.0.0.1")
        find = lambda arm, seed: by_name.get((arm.name, seed))  # noqa: E731
        run = ExperimentRun(TABLE.experiment, Pool, visitor=visitor, find=find)  # type: ignore[arg-type]  # never started
        return store.save(run, TABLE)

    (file,) = set(at_once(save))
    assert store.read(file)
    assert len(list((file.parent / "owners").iterdir())) == 30


def test_a_trial_in_a_file_of_an_earlier_version_is_read() -> None:
    row = {
        "arm": "table",
        "seed": 3,
        "numbers": {"accuracy": 0.5},
        "curves": {"loss": [[1, 2.0]]},
        "outcome": "It was ended.",
    }
    assert store.trial_of(row) == Trial("table", 3, {"accuracy": 0.5}, {"loss": [(1, 2.0)]}, failure="It was ended.")
