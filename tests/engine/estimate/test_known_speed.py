"""The speed of this machine: read once, and again only when it was measured anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.estimate import speed
from engine.estimate.speed import Speed, known_speed, remember_speed
from engine.foundation.paths import DATA_VARIABLE


def test_the_file_is_read_once_until_it_is_written_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert known_speed() is None
    remember_speed(Speed(0.01, 5e9))
    reads = list[Path]()
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda file: reads.append(file) or read_bytes(file))
    assert [known_speed() for _ in range(3)] == [Speed(0.01, 5e9)] * 3
    assert reads == [speed.speed_file()]
    remember_speed(Speed(0.02, 5e9))
    speed.speed_file().touch()
    assert known_speed() == Speed(0.02, 5e9)
    speed.speed_file().unlink()
    assert known_speed() is None
