"""``python -m engine cost``: its tables, its JSON, its refusals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.cli import BAD_INPUT, cost, main
from engine.sweeps.store import from_json
from tests.engine.sweeps.scripted_pool import ScriptedPool


@pytest.fixture
def _scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    @contextmanager
    def pool(*_: object) -> Iterator[ScriptedPool]:
        yield ScriptedPool()

    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))
    monkeypatch.setattr(cost, "warm_pool", pool)


def test_well_known_models_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "--models", "--json"]) == 0
    rows = {row["model"]: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    assert rows["llama3-8b"]["parameters"] == 8_030_261_248
    assert rows["llama3-8b"]["cache_per_token"] == 128 * 1024


@pytest.mark.usefixtures("_scripted")
def test_a_sweep_as_json_and_as_tables(capsys: pytest.CaptureFixture[str]) -> None:
    small = ["cost", "--longest", "1024", "--kinds", "gru,fused", "--patience", "0.06", "--rounds", "2"]
    assert main([*small, "--json"]) == 0
    result = from_json(json.loads(capsys.readouterr().out))
    assert result.plan.kinds == ("fused", "gru")
    assert result.state == "finished"
    assert main(small) == 0
    shown = capsys.readouterr().out
    assert "1.50" in shown
    assert "GRU from 1,024 on was left out" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--longest", "7"], "longest is 7; allowed is"),
        (["--n-heads", "5"], "n_heads is 5; allowed is a divisor of d_model 32"),
    ],
)
def test_what_does_not_fit_is_one_line(given: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", *given]) == BAD_INPUT
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
