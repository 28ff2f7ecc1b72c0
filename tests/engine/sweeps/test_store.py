"""A sweep on disk and as a table."""

import csv
import io
from statistics import median

import pytest

from engine.foundation.provenance import provenance
from engine.foundation.visitor import Visitor
from engine.settings.costs import Memory
from engine.sweeps import store
from engine.sweeps.frames import fits_frame, visits_frame
from engine.sweeps.result import Result
from tests.engine.at_once import at_once
from tests.engine.sweeps.scripted_pool import ScriptedPool
from tests.engine.sweeps.test_sweep import ended

pytestmark = pytest.mark.usefixtures("own_data_folder")
NAME = "a-sweep-0123"


@pytest.fixture(scope="module")
def result() -> Result:
    return ended(ScriptedPool(), longest=512, rounds=2, kinds="fused,gru", patience=0.03).result


def test_it_comes_back_as_it_was_and_the_oldest_are_removed(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    assert result.skips
    assert result.fits
    store.keep(NAME, result)
    assert store.find(NAME) == result
    assert store.to_json(result)["provenance"] == provenance()
    assert store.shipped().provenance == {}, "it was measured before the origin was noted"

    monkeypatch.setattr(store, "MAX_KEPT", 2)
    for number in range(4):
        store.keep(f"sweep-number-{number}", result)
    assert len(list(store.folder().glob("*.json"))) == 2


def test_a_visitor_s_many_sweeps_push_out_its_own_only(result: Result) -> None:
    store.keep(NAME, result, Visitor("anna", "10.0.0.1"))
    for number in range(store.MAX_KEPT_OF_VISITOR + 5):
        store.keep(f"sweep-number-{number}", result, Visitor("ben", "10.0.0.1"))
    assert store.find(NAME) == result
    assert len(list(store.folder().glob("*.json"))) == store.MAX_KEPT_OF_VISITOR + 1


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
    rows = list(csv.DictReader(io.StringIO(visits_frame(result).to_csv(index=False))))
    assert len(rows) == len(result.visits)
    for row, visit in zip(rows, result.visits, strict=True):
        assert (row["kind"], int(row["length"]), float(row["train_s"])) == (visit.kind, visit.place, visit.train)
        assert row["saved"] == (str(visit.memory.saved) if visit.memory else "")
        assert bool(row["predicted_saved"]) == (visit.kind == "fused")
    memory = list(Memory.__dataclass_fields__)
    assert list(visits_frame(result)) == [
        "kind", "length", "depth", "batch_size", "width", "parameters", "round", "train_s", "inference_s", "cached_s",
        "cache_bytes", *memory, "inference_peak", "predicted_saved",
    ]  # fmt: skip


def test_each_place_has_medians_and_the_range_of_a_step(result: Result) -> None:
    for kind in result.plan.kinds:
        for step in result.summaries(kind, "train"):
            visits = [visit for visit in result.visits if (visit.kind, visit.place) == (kind, step.place)]
            steps = [visit.train for visit in visits]
            assert (step.value, step.low, step.high) == (median(steps), min(steps), max(steps))
            (saved,) = [level.value for level in result.summaries(kind, "saved") if level.place == step.place]
            assert saved == next(visit.memory.saved for visit in visits if visit.memory)
        assert not result.summaries(kind, "cached"), "this machine times no token with its past kept"


def test_a_row_for_each_power_law(result: Result) -> None:
    rows = fits_frame(result).to_dict("records")
    assert {f"{row['kind']}.{row['quantity']}" for row in rows} == result.fits.keys()
    for row in rows:
        fit = result.fits[f"{row['kind']}.{row['quantity']}"]
        assert (row["exponent"], row["low"], row["high"], row["says"]) == (fit.exponent, fit.low, fit.high, fit.says)
