"""How fast this machine trains, as it is remembered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.config.run_config import RunConfig
from engine.estimate.prediction import predict
from engine.estimate.speed import (
    BASELINES,
    BaselineSpeed,
    Speed,
    fully_measured,
    known_speed,
    remember_speed,
    speed_file,
)
from engine.hosting.limits import Limits, refusal


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))


def test_the_file_is_read_once_until_it_is_written_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    assert known_speed() is None
    remember_speed(Speed(0.01, 5e9))
    reads = list[Path]()
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda file: reads.append(file) or read_bytes(file))
    assert [known_speed() for _ in range(3)] == [Speed(0.01, 5e9)] * 3
    assert reads == [speed_file()]
    remember_speed(Speed(0.02, 5e9))
    speed_file().touch()
    assert known_speed() == Speed(0.02, 5e9)
    speed_file().unlink()
    assert known_speed() is None


@pytest.mark.parametrize(
    "content",
    [
        '{"overhead": "a", "rate": 0}',
        '{"overhead": 0.001, "rate": 0}',
        '{"overhead": -1, "rate": 1e9}',
        '{"overhead": 0.001, "rate": NaN}',
        '{"overhead": 0.001, "rate": Infinity}',
        '{"overhead": 0.001}',
        '{"overhead": 0.001, "rate": 1e9, "baselines": [{"family": "gru", "step": 0, "layer": -1, "number": 0, "flop": 0}]}',
        '{"overhead": 0.001, "rate": 1e9, "baselines": [{"family": "gru"}]}',
        '{"overhead": 0.001, "rate": 1e9, "baselines": 7}',
        "[1, 2]",
        '{"overhead": 0.0',
        "",
    ],
)
def test_what_is_no_speed_counts_as_not_measured(content: str) -> None:
    speed_file().write_text(content)
    assert known_speed() is None
    assert predict(RunConfig()).steps_per_second is None


GRU = BaselineSpeed("gru", step=1e-3, layer=1e-4, number=1e-8, flop=1e-11)


def test_a_file_of_an_earlier_version_is_read_and_its_missing_families_are_measured_again() -> None:
    speed_file().write_text('{"overhead": 0.0005, "rate": 5e9}')
    assert known_speed() == Speed(0.0005, 5e9)
    assert not fully_measured()
    assert predict(RunConfig()).seconds(10) is not None
    assert predict(RunConfig(family="gru")).seconds(10) is None


def test_a_family_without_attention_has_a_time_and_all_are_measured_where_each_has_a_speed() -> None:
    remember_speed(Speed(0.0005, 5e9, (GRU,)))
    assert known_speed() == Speed(0.0005, 5e9, (GRU,))
    short, long = (predict(RunConfig(family="gru", task="k_back").replace(seq_len=n)).seconds(100) for n in (8, 512))
    assert short is not None
    assert long is not None
    assert long > 20 * short
    assert predict(RunConfig(family="lstm")).seconds(10) is None

    remember_speed(Speed(0.0005, 5e9, tuple(replace(GRU, family=family) for family in BASELINES)))
    assert fully_measured()


@pytest.mark.parametrize("name", ["shaw", "cope"])
def test_what_an_encoding_looks_up_takes_time_for_each_pair(name: str) -> None:
    """At twice the length, four times the pairs; the FLOPs of the rest stay where they are told."""
    remember_speed(Speed(0.0, 5e10))
    times = {
        (chosen, n): predict(RunConfig().replace(task="k_back", pos_encoding=chosen, seq_len=n)).seconds_per_step or 0
        for chosen in (name, "nope")
        for n in (128, 256)
    }
    added = [times[name, n] - times["nope", n] for n in (128, 256)]
    assert added[1] > 3 * added[0]
    assert times[name, 256] > 2 * times["nope", 256]


def test_a_run_that_looks_much_up_meets_the_limit_of_time() -> None:
    remember_speed(Speed(0.0005, 5e10))
    limits = Limits(seconds=90)
    plain, counted = (
        RunConfig().replace(task="k_back", pos_encoding=name, seq_len=128, steps=5000) for name in ("rope", "cope")
    )
    assert refusal(plain, predict(plain), limits, predict) is None
    sentence = refusal(counted, predict(counted), limits, predict)
    assert sentence is not None
    assert sentence.startswith("steps is 5000: the run would take about")
