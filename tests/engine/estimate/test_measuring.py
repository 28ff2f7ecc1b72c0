"""The predicted peak of a run with measurements: never below that of the run alone, and above what a real process takes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from engine.analysis.measurements import MEASUREMENTS, with_measurements
from engine.config.run_config import parse
from engine.estimate.peak import Work, measuring_bytes
from engine.estimate.prediction import predict

PROBED = {"task": "own_position", "family": "encoder", "seq_len": 64, "n_layers": 6, "batch_size": 8, "steps": 3}
POINTED = {"task": "lookup", "family": "encoder", "n_layers": 6, "batch_size": 8, "steps": 3}


def peak(flat: dict[str, Any], *names: str) -> int:
    config = parse(flat)
    return with_measurements(predict(config), config, names).peak


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_a_measurement_never_lowers_the_peak(name: str) -> None:
    assert peak(PROBED, name) >= peak(PROBED)


def test_the_largest_of_several_counts_and_an_unknown_one_is_left_to_the_run() -> None:
    both = peak(PROBED, "position_probe", "neighbour_cosine")
    assert both == max(peak(PROBED, "position_probe"), peak(PROBED, "neighbour_cosine"))
    assert both > peak(PROBED)
    assert peak(PROBED, "zork") == peak(PROBED)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (Work(64), Work(256)),
        (Work(64), Work(64, written_out=True)),
        (Work(64, written_out=True), Work(64, written_out=True, kept=True)),
        (Work(64), Work(64, gradient=True)),
        (Work(64), Work(64, streams=lambda n_layers: n_layers)),
        (Work(64), Work(64, models=1)),
    ],
)
def test_all_that_is_held_counts(less: Work, more: Work) -> None:
    config = parse(PROBED)
    memory = predict(config).memory
    assert measuring_bytes(config, memory, more) > measuring_bytes(config, memory, less)


@pytest.mark.acceptance
@pytest.mark.skipif(sys.platform != "linux", reason="the resident memory is read from /proc")
@pytest.mark.parametrize(
    ("flat", "name"), [(PROBED, "position_probe"), (POINTED, "pointing"), (POINTED, "head_pruning")]
)
def test_a_real_process_stays_below_the_peak(flat: dict[str, Any], name: str) -> None:
    command = [sys.executable, "-m", "tests.benchmarks.peak", "--one", json.dumps(flat), "--measure", name]
    real = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert real <= peak(flat, name) <= 4 * real + 32 * 2**20
