"""``python -m engine cost``: its tables and its JSON."""

import json
from contextlib import nullcontext

import pytest

from engine.cli import cost, main
from engine.sweeps.store import from_json
from tests.engine.sweeps.scripted_pool import ScriptedPool


def test_well_known_models_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "--models", "--json"]) == 0
    rows = {row["model"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert rows["llama3-8b"]["parameters"] == 8_030_261_248
    assert rows["llama3-8b"]["cache_per_token"] == 128 * 1024


def test_a_sweep_as_json_and_as_tables(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "warm_pool", lambda *_: nullcontext(ScriptedPool()))
    small = ["cost", "--longest", "1024", "--kinds", "gru,fused", "--patience", "0.06", "--rounds", "2"]
    assert main([*small, "--json"]) == 0
    result = from_json(json.loads(capsys.readouterr().out))
    assert (result.plan.kinds, result.state) == (("fused", "gru"), "finished")
    assert main(small) == 0
    shown = capsys.readouterr().out
    assert "1.50" in shown
    assert "GRU from 1,024 on was left out" in " ".join(shown.split())
