import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from engine.experiments.benchmark.costs import shipped_times
from engine.experiments.sweeps.plan import Plan
from engine.experiments.sweeps.store import from_json, shipped
from engine.foundation.provenance import today
from tests.engine.experiments.sweeps.scripted_pool import ScriptedPool
from tools import costs


def test_the_sweep_is_measured_and_written_and_what_is_shipped_is_of_the_default_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(costs, "warm_pool", lambda *_: nullcontext(ScriptedPool()))
    file = tmp_path / "sweep.json"
    costs.measure_sweep(Plan(longest=256, rounds=1), file)
    result = from_json(json.loads(file.read_text()))
    assert (result.state, result.plan.longest, result.plan.rounds) == ("finished", 256, 1)
    assert shipped().plan == Plan(rounds=costs.ROUNDS)


def test_the_time_of_encodings_is_measured_and_written(tmp_path: Path) -> None:
    file = tmp_path / "times.json"
    costs.measure_encodings(["alibi"], file)
    found = shipped_times(file)
    assert list(found.by_encoding) == ["alibi"]
    assert found.by_encoding["alibi"]["ratio"] > 0
    assert found.machine["processor"]
    assert found.machine["date"] == today()
