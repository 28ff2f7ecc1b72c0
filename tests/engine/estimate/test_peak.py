import sys
from typing import Any

import pytest

from engine.analysis.measurements import MEASUREMENTS, with_measurements
from engine.config.run_config import parse
from engine.estimate.peak import Work, measuring_bytes
from engine.estimate.prediction import predict
from engine.settings.architectures import ARCHITECTURES
from tools.peak import MEDIUM, real_peak


def peak(**flat: Any) -> int:
    return predict(parse({**MEDIUM, **flat})).peak


@pytest.mark.parametrize("family", ARCHITECTURES)
def test_every_family_has_a_peak_that_grows_with_each_size(family: str) -> None:
    task = "reverse" if family == "encoder_decoder" else "k_back"
    plain = peak(family=family, task=task, batch_size=64)
    for larger in ({"batch_size": 256}, {"seq_len": 512, "batch_size": 64}, {"d_model": 512, "batch_size": 64}):
        assert peak(**{"family": family, "task": task, **larger}) > plain


@pytest.mark.parametrize(
    "more",
    [
        {"dataset_size": 1_000_000},
        {"test_lengths": (2048,), "batch_size": 4, "attention_impl": "materialised"},
        {"n_heads": 64, "batch_size": 4, "seq_len": 512},
    ],
)
def test_what_is_done_beside_the_steps_counts(more: dict[str, Any]) -> None:
    """A training set, test lengths, the snapshot's patterns: each above everything of the step."""
    config = parse({**MEDIUM, **more})
    prediction = predict(config)
    assert prediction.peak > 1.5 * (prediction.memory.total or 0) + 100 * 2**20


def test_kernels_for_16_bits_are_those_of_a_process_not_of_each_run_between_its_steps() -> None:
    mixed, on_gpu = (predict(parse({"dtype": "bfloat16_mixed", "device": device})) for device in ("cpu", "cuda"))
    assert mixed.peak - on_gpu.peak == 44 * 2**20
    assert mixed.between == on_gpu.between


def test_a_set_holds_two_numbers_a_token() -> None:
    small, large = (peak(dataset_size=size) for size in (500_000, 1_000_000))
    assert large - small == 500_000 * parse(MEDIUM).seq_len * 16


REAL: dict[str, dict[str, Any]] = {
    "fused": {},
    "cope": {"pos_encoding": "cope", "batch_size": 8},
    "dropout": {"dropout": 0.1},
    "mixed precision": {"dtype": "bfloat16_mixed", "task": "reverse"},
    "64 heads": {"n_heads": 64, "batch_size": 1, "seq_len": 256, "task": "reverse"},
    "a set": {"dataset_size": 200_000},
    "gru": {"family": "gru", "batch_size": 128},
    "lstm": {"family": "lstm", "batch_size": 128},
    "cnn": {"family": "cnn", "batch_size": 128},
}


@pytest.mark.acceptance
@pytest.mark.skipif(sys.platform != "linux", reason="the resident memory is read from /proc")
@pytest.mark.parametrize("name", REAL)
def test_a_real_process_stays_below_the_peak(name: str) -> None:
    flat = {**MEDIUM, **REAL[name]}
    prediction, real = predict(parse({"device": "cpu", **flat})), real_peak(flat)
    assert prediction.peak >= real
    assert prediction.memory.saved is None or prediction.peak <= 2.5 * real


PROBED = {"task": "own_position", "family": "encoder", "seq_len": 64, "n_layers": 6, "batch_size": 8, "steps": 3}
POINTED = {"task": "lookup", "family": "encoder", "n_layers": 6, "batch_size": 8, "steps": 3}


def peak_with(flat: dict[str, Any], *names: str) -> int:
    config = parse(flat)
    return with_measurements(predict(config), config, names).peak


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_a_measurement_never_lowers_the_peak(name: str) -> None:
    assert peak_with(PROBED, name) >= peak_with(PROBED)


def test_the_largest_of_several_counts_and_an_unknown_one_is_left_to_the_run() -> None:
    both = peak_with(PROBED, "position_probe", "neighbour_cosine")
    assert both == max(peak_with(PROBED, "position_probe"), peak_with(PROBED, "neighbour_cosine"))
    assert both > peak_with(PROBED)
    assert peak_with(PROBED, "zork") == peak_with(PROBED)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (Work(64), Work(256)),
        (Work(64), Work(64, written_out=True)),
        (Work(64, written_out=True), Work(64, written_out=True, keeps_records=True)),
        (Work(64), Work(64, gradient=True)),
        (Work(64), Work(64, streams=lambda n_layers: n_layers)),
        (Work(64), Work(64, models=1)),
        (Work(64, written_out=True, keeps_records=True), Work(64, written_out=True, keeps_records=True, tested=True)),
    ],
)
def test_all_that_is_held_counts(less: Work, more: Work) -> None:
    config = parse({**PROBED, "test_lengths": (128,)})
    memory = predict(config).memory
    assert measuring_bytes(config, memory, more) > measuring_bytes(config, memory, less)


@pytest.mark.acceptance
@pytest.mark.skipif(sys.platform != "linux", reason="the resident memory is read from /proc")
@pytest.mark.parametrize(
    ("flat", "name"), [(PROBED, "position_probe"), (POINTED, "pointing"), (POINTED, "head_pruning")]
)
def test_a_real_process_stays_below_the_peak_while_measuring(flat: dict[str, Any], name: str) -> None:
    real = real_peak(flat, name)
    assert real <= peak_with(flat, name) <= 4 * real + 32 * 2**20
