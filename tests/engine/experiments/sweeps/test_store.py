import csv
import io
import json
from statistics import median

import pytest

from engine.experiments.sweeps import store
from engine.experiments.sweeps.result import Result
from engine.foundation.provenance import provenance
from engine.foundation.visitor import Visitor
from tests.engine.at_once import at_once
from tests.engine.experiments.sweeps.scripted_pool import ScriptedPool
from tests.engine.experiments.sweeps.test_sweep import finish_sweep

pytestmark = pytest.mark.usefixtures("own_data_folder")
NAME = "a-sweep-0123"


@pytest.fixture(scope="module")
def result() -> Result:
    return finish_sweep(ScriptedPool(), longest=512, rounds=2, kinds="fused,gru", patience=0.03).result


def test_it_comes_back_as_it_was_and_the_oldest_are_removed(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    assert result.skips
    store.keep(NAME, result)
    assert store.find(NAME) == result
    assert store.to_json(result)["provenance"] == provenance()
    assert store.shipped().provenance == {}, "it was measured before the origin was noted"

    monkeypatch.setattr(store, "MAX_SWEEPS", 2)
    for number in range(4):
        store.keep(f"sweep-number-{number}", result)
    assert len(list(store.folder().glob("*.json"))) == 2


def test_a_visitor_s_many_sweeps_push_out_its_own_only(result: Result) -> None:
    store.keep(NAME, result, Visitor("anna", "10.0.0.1"))
    for number in range(store.MAX_SWEEPS_OF_VISITOR + 5):
        store.keep(f"sweep-number-{number}", result, Visitor("ben", "10.0.0.1"))
    assert store.find(NAME) == result
    assert len(list(store.folder().glob("*.json"))) == store.MAX_SWEEPS_OF_VISITOR + 1


def test_thirty_sweeps_that_end_at_once_are_all_kept(result: Result) -> None:
    at_once(lambda number: store.keep(f"sweep-number-{number}", result, Visitor(f"visitor {number}", "10.0.0.1")))
    assert all(store.find(f"sweep-number-{number}") == result for number in range(30))


def test_a_name_of_no_sweep_finds_none_and_a_file_that_is_none_is_passed_over() -> None:
    for name in ("unknown-name", "../../etc/passwd", "", "a/b", "x" * 200):
        assert store.find(name) is None
    store.folder().mkdir(parents=True)
    for text in ("", "[]", "{}", '{"format": 2}', '{"format": 1, "plan": {"zork": 1}}'):
        (store.folder() / f"{NAME}.json").write_text(text)
        assert store.find(NAME) is None


def test_the_table_has_a_row_for_each_visit(result: Result) -> None:
    rows = list(csv.DictReader(io.StringIO(store.to_csv(result))))
    assert len(rows) == len(result.visits)
    for row, visit in zip(rows, result.visits, strict=True):
        assert (row["kind"], int(row["length"]), float(row["train_s"])) == (visit.kind, visit.tick, visit.train)
        assert row["saved"] == (str(visit.memory.saved) if visit.memory else "")
        assert bool(row["predicted_saved"]) == (visit.kind == "fused")


def test_a_measurement_of_an_earlier_version_is_still_read(result: Result) -> None:
    """It also held power laws, and with each visit the width and the number of parameters."""
    row = json.loads(json.dumps(store.to_json(result)))
    row["visits"] = [{**visit, "width": 32, "parameters": 9258} for visit in row["visits"]]
    law = {"exponent": 1.5, "low": 1.4, "high": 1.6, "intercept": -10.0, "first": 64.0, "last": 512.0, "points": 4}
    earlier = {**row, "fits": {"fused.train": law}}
    assert store.from_json(earlier) == result


def test_each_place_has_medians_and_the_range_of_a_step(result: Result) -> None:
    for kind in result.plan.kinds:
        for step in result.summaries(kind, "train"):
            visits = [visit for visit in result.visits if (visit.kind, visit.tick) == (kind, step.tick)]
            steps = [visit.train for visit in visits]
            assert (step.value, step.low, step.high) == (median(steps), min(steps), max(steps))
            (saved,) = [level.value for level in result.summaries(kind, "saved") if level.tick == step.tick]
            assert saved == next(visit.memory.saved for visit in visits if visit.memory)
        assert not result.summaries(kind, "cached"), "this machine times no token with its past kept"
