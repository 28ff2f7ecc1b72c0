"""When a run is validated and when its snapshots are taken."""

from typing import Any

import pytest

from engine.config.run_config import parse
from engine.estimate.recording import (
    SNAPSHOTS,
    VALIDATIONS,
    interim_size,
    recording_cost,
    snapshot_steps,
    validation_steps,
)

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
    assert VALIDATIONS[0] <= dear < cheap <= VALIDATIONS[-1]
    small, large = (len(snapshot_steps(parse({**LARGE, "seq_len": n, "steps": 5000}))) for n in (16, 512))
    assert SNAPSHOTS[0] <= large < small <= SNAPSHOTS[-1] + 1


def test_a_validation_during_the_run_reads_fewer_sequences() -> None:
    assert interim_size(parse({})) == 64
    assert interim_size(parse({"batch_size": 4})) == 8
    assert interim_size(parse({"seq_len": 1024, "batch_size": 64})) == 4
