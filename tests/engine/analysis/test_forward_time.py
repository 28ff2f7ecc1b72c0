"""The time of a forward pass: plain numbers, kept and read again. How fast is for the benchmarks."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.analysis.encodings.forward_time import known_times, measure_all
from engine.config.run_config import parse


def test_times_are_measured_beside_none_and_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))
    assert known_times() == {}
    found = measure_all(parse({"task": "own_position", "seq_len": 8, "d_model": 16, "batch_size": 2}), ["rope"])
    assert 0 < found["rope"]["low"] <= found["rope"]["ratio"] <= found["rope"]["high"]
    assert found["rope"]["seconds"] > 0
    assert known_times() == found
    (tmp_path / "encoding-times.json").write_text('{"rope": {"ratio": 1}}')
    assert known_times() == {}
