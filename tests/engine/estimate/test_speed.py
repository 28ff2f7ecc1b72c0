"""How fast this machine trains, as it is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.config.run_config import RunConfig
from engine.estimate.prediction import predict
from engine.estimate.speed import Speed, known_speed, remember_speed, speed_file


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))


def test_a_speed_is_remembered() -> None:
    assert known_speed() is None
    remember_speed(Speed(0.0005, 5e9))
    assert known_speed() == Speed(0.0005, 5e9)


@pytest.mark.parametrize(
    "content",
    [
        '{"overhead": "a", "rate": 0}',
        '{"overhead": 0.001, "rate": 0}',
        '{"overhead": -1, "rate": 1e9}',
        '{"overhead": 0.001, "rate": NaN}',
        '{"overhead": 0.001, "rate": Infinity}',
        '{"overhead": 0.001}',
        "[1, 2]",
        '{"overhead": 0.0',
        "",
    ],
)
def test_what_is_no_speed_counts_as_not_measured(content: str) -> None:
    speed_file().write_text(content)
    assert known_speed() is None
    assert predict(RunConfig()).steps_per_second is None
