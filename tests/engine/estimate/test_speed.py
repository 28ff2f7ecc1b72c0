"""How fast this machine trains, as it is remembered, and the predicted time of what is measured after the last step."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.config.run_config import RunConfig, parse
from engine.estimate.layout import shapes
from engine.estimate.memory import count_parameters
from engine.estimate.prediction import predict, result_seconds
from engine.estimate.speed import (
    BASELINES,
    BaselineSpeed,
    Speed,
    fully_measured,
    known_speed,
    remember_speed,
    speed_file,
)


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


KNOWN = Speed(overhead=1e-4, rate=1e10)


def seconds(**settings: Any) -> float:
    config = parse({"d_model": 64, "n_heads": 4, "n_layers": 2, **settings})
    return result_seconds(config, KNOWN, count_parameters(config, **shapes(config).of_model))


def test_each_test_length_adds_to_it_and_only_what_writes_is_timed_for_writing() -> None:
    times = [seconds(seq_len=16, test_lengths=lengths) for lengths in ((), (16,), (16, 32), (16, 32, 64))]
    assert times == sorted(set(times))
    assert seconds(seq_len=64) > seconds(seq_len=127, task="k_back")  # both read 127 tokens


@pytest.mark.parametrize("family", ["decoder", "encoder_decoder"])
def test_a_whole_pass_for_each_token_grows_with_the_square_of_the_length(family: str) -> None:
    """Where a fault forbids to keep the past, against where it is kept: twice the length, about four times and twice the time."""
    faulty = [seconds(seq_len=n, family=family, mask_fault="off_by_one", pos_encoding="alibi") for n in (32, 64)]
    kept = [seconds(seq_len=n, family=family, pos_encoding="alibi") for n in (32, 64)]
    assert faulty[1] / faulty[0] > 3
    assert kept[1] / kept[0] < 3
    assert faulty[1] > 10 * kept[1]
