"""The program that measures what Memory and time shows on arrival."""

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from engine.sweeps.store import from_json, shipped
from tests.engine.sweeps.scripted_pool import ScriptedPool
from tools import costs


def test_the_sweep_is_measured_and_written_and_what_is_shipped_is_of_the_default_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(costs, "warm_pool", lambda *_: nullcontext(ScriptedPool()))
    file = tmp_path / "shipped.json"
    costs.main(["--longest", "256", "--rounds", "1", "--write", str(file)])
    result = from_json(json.loads(file.read_text()))
    assert (result.state, result.plan.longest, result.plan.rounds) == ("finished", 256, 1)
    assert shipped().plan.rounds == costs.ROUNDS
