from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.config.run_config import RunConfig, parse
from engine.estimate import recording, speed
from engine.estimate.device import ACCELERATOR_FROM
from engine.estimate.layout import shapes
from engine.estimate.memory import count_parameters
from engine.estimate.prediction import predict, result_seconds
from engine.estimate.recording import interim_size, recording_cost, snapshot_steps, validation_steps
from engine.estimate.speed import (
    BaselineSpeed,
    Speed,
    fully_measured,
    known_speed,
    known_speeds,
    remember_speeds,
    speed_file,
)
from tests.tables import tables_beside

CASES = tables_beside(__file__)

pytestmark = pytest.mark.usefixtures("own_data_folder")


def test_the_file_is_read_once_until_it_is_written_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    assert known_speed() is None
    remember_speeds({"cpu": Speed(0.01, 5e9)})
    reads = list[Path]()
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda file: reads.append(file) or read_bytes(file))
    assert ([known_speed() for _ in range(3)], reads) == ([Speed(0.01, 5e9)] * 3, [speed_file()])
    remember_speeds({"cpu": Speed(0.02, 5e9)})
    speed_file().touch()
    assert known_speed() == Speed(0.02, 5e9)
    speed_file().unlink()
    assert known_speed() is None


@pytest.mark.parametrize("content", CASES["no_speed"])
def test_what_is_no_speed_counts_as_not_measured(content: str) -> None:
    speed_file().write_text(content)
    assert known_speed() is None
    assert predict(RunConfig()).steps_per_second is None


GRU = BaselineSpeed("gru", step=1e-3, layer=1e-4, number=1e-8, flop=1e-11)


def test_a_family_without_attention_has_a_time_and_all_are_measured_where_each_has_a_speed() -> None:
    remember_speeds({"cpu": Speed(0.0005, 5e9, (GRU,))})
    assert known_speed() == Speed(0.0005, 5e9, (GRU,))
    short, long = (predict(RunConfig(family="gru", task="k_back").replace(seq_len=n)).seconds(100) for n in (8, 512))
    assert long > 20 * short
    assert predict(RunConfig(family="lstm")).seconds(10) is None

    every = Speed(0.0005, 5e9, tuple(replace(GRU, family=family) for family in speed.BASELINES))
    for devices, measured in (({"cpu": every}, True), ({"cuda": every}, False), ({"cpu": every, "cuda": every}, True)):
        remember_speeds(devices)
        assert fully_measured() is measured
        assert known_speeds() == devices
    remember_speeds({"cpu": every, "cuda": Speed(0.0005, 5e9)})
    assert not fully_measured()


SMALL, LARGE = {"steps": 100}, {"steps": 100, "d_model": 384, "n_layers": 6, "n_heads": 6}
LAUNCHES = Speed(overhead=1e-2, rate=1e13)  # an accelerator that takes long for each kernel


@pytest.mark.parametrize(
    ("settings", "device", "accelerator", "timed"),
    [
        (SMALL, "auto", False, "cpu"), (LARGE, "auto", True, "cuda"), (LARGE, "cpu", False, "cpu"),
        (SMALL, "cuda", True, "cuda"), (LARGE, "mps", True, "mps"),
    ],
)  # fmt: skip
def test_the_faster_device_is_chosen_and_the_time_is_that_of_the_device_that_the_run_uses(
    settings: dict[str, Any], device: str, accelerator: bool, timed: str
) -> None:
    remember_speeds({"cpu": Speed(1e-3, 1e10), "cuda": LAUNCHES})
    prediction = predict(parse({**settings, "device": device}))
    assert (prediction.device.accelerator, prediction.device.timed) == (accelerator, timed)
    assert bool(prediction.device.why) == (device == "auto")
    alone = {name: predict(parse({**settings, "device": name})).seconds(100) for name in ("cpu", "cuda")}
    assert prediction.seconds(100) == alone.get(timed)
    if device == "auto":
        assert prediction.seconds(100) == min(seconds for seconds in alone.values() if seconds)


def test_where_the_accelerator_is_not_measured_the_size_decides_and_the_time_is_that_of_the_cpu() -> None:
    for speeds in ({}, {"cpu": Speed(1e-3, 1e10)}):
        for settings in (SMALL, LARGE):
            prediction = predict(parse(settings), speeds)
            assert prediction.device.accelerator == (prediction.flops_per_step >= ACCELERATOR_FROM)
            assert prediction.device.timed == "cpu"
            assert prediction.seconds(100) == predict(parse({**settings, "device": "cpu"}), speeds).seconds(100)
    gru = predict(parse({"family": "gru"}), {"cpu": Speed(1e-3, 1e10, (GRU,)), "cuda": LAUNCHES})
    assert gru.device.timed == "cpu", "that family is not measured there"


@pytest.mark.parametrize("name", ["shaw", "cope"])
def test_what_an_encoding_looks_up_takes_time_for_each_pair(name: str) -> None:
    """At twice the length, four times the pairs; the FLOPs of the rest stay."""
    remember_speeds({"cpu": Speed(0.0, 5e10)})
    times = {
        (chosen, n): predict(RunConfig().replace(task="k_back", pos_encoding=chosen, seq_len=n)).seconds_per_step or 0
        for chosen in (name, "nope")
        for n in (128, 256)
    }
    added = [times[name, n] - times["nope", n] for n in (128, 256)]
    assert added[1] > 3 * added[0]
    assert times[name, 256] > 1.5 * times["nope", 256]


KNOWN = Speed(overhead=1e-4, rate=1e10)


def seconds(**settings: Any) -> float:
    config = parse({"d_model": 64, "n_heads": 4, "n_layers": 2, **settings})
    return result_seconds(config, KNOWN, count_parameters(config, shapes(config)))


def test_each_test_length_adds_to_it_and_only_what_writes_is_timed_for_writing() -> None:
    times = [seconds(seq_len=16, test_lengths=lengths) for lengths in ((), (16,), (16, 32), (16, 32, 64))]
    assert times == sorted(set(times))
    assert seconds(seq_len=64) > seconds(seq_len=127, task="k_back")  # both read 127 tokens


@pytest.mark.parametrize("family", ["decoder", "encoder_decoder"])
def test_a_whole_pass_for_each_token_grows_with_the_square_of_the_length(family: str) -> None:
    """A fault that forbids to keep the past, against a run that keeps it: twice the length, about four times and twice the time."""
    faulty = [seconds(seq_len=n, family=family, mask_fault="off_by_one", pos_encoding="alibi") for n in (32, 64)]
    durations = [seconds(seq_len=n, family=family, pos_encoding="alibi") for n in (32, 64)]
    assert faulty[1] / faulty[0] > 3
    assert durations[1] / durations[0] < 3
    assert faulty[1] > 10 * durations[1]


LARGE = {"n_layers": 2, "d_model": 64, "n_heads": 4, "seq_len": 32}
CASES: tuple[dict[str, Any], ...] = (
    {},
    LARGE,
    {"seq_len": 64},
    {"n_layers": 4, "steps": 1000},
    {"steps": 20_000},
    {"batch_size": 1, "seq_len": 128, "steps": 500},
)


@pytest.mark.parametrize("flat", CASES)
def test_the_first_and_the_last_step_are_among_them_and_they_are_dense_at_first(flat: dict[str, Any]) -> None:
    config = parse(flat)
    for steps in (validation_steps(config), snapshot_steps(config)):
        assert {1, config.steps} <= steps
        assert steps <= set(range(1, config.steps + 1))
        at = sorted(steps)
        assert at[1] - at[0] <= at[-1] - at[-2]


def test_the_shortest_runs_record_every_step_and_recording_is_a_small_share_of_others() -> None:
    for steps in (1, 2, 5):
        config = parse({"steps": steps})
        assert validation_steps(config) == snapshot_steps(config) == frozenset(range(1, steps + 1))
    for config in map(parse, CASES[:-1]):
        assert recording_cost(config) < 0.13 * config.steps


def test_a_dearer_pass_is_taken_and_larger_patterns_are_stored_less_often() -> None:
    cheap, dear = (len(validation_steps(parse({"batch_size": size, "steps": 500}))) for size in (32, 2))
    assert recording.VALIDATIONS[0] <= dear < cheap <= recording.VALIDATIONS[-1]
    small, large = (len(snapshot_steps(parse({**LARGE, "seq_len": n, "steps": 5000}))) for n in (16, 512))
    assert recording.SNAPSHOTS[0] <= large < small <= recording.SNAPSHOTS[-1] + 1


def test_a_validation_during_the_run_reads_fewer_sequences() -> None:
    cases = ({}, {"batch_size": 4}, {"seq_len": 1024, "batch_size": 64})
    assert [interim_size(parse(flat)) for flat in cases] == [64, 8, 4]
