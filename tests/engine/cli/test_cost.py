"""``python -m engine cost``: its tables and its JSON."""

from contextlib import nullcontext

from engine.cli import cost
from engine.sweeps.store import from_json
from tests.engine.cli.test_cli import Patch, Printed, printed, rows_of
from tests.engine.sweeps.scripted_pool import ScriptedPool


def test_a_sweep_as_json_and_as_tables(capsys: Printed, monkeypatch: Patch) -> None:
    monkeypatch.setattr(cost, "warm_pool", lambda *_: nullcontext(ScriptedPool()))
    small = ["cost", "--longest", "1024", "--kinds", "gru,fused", "--patience", "0.06", "--rounds", "2"]
    result = from_json(*rows_of(capsys, *small))
    assert (result.plan.kinds, result.state) == (("fused", "gru"), "finished")
    shown = printed(capsys, *small)
    assert "1.50" in shown
    assert "GRU from 1,024 on was left out" in " ".join(shown.split())
