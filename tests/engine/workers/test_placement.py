"""Which worker takes a run: by room for its peak, and who gets a process of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.config.run_config import parse
from engine.estimate.prediction import predict
from engine.workers.limits import Limits
from engine.workers.placement import has_room, needs_own_process

MIB = 2**20


def limits(**given: Any) -> Limits:
    return Limits.model_validate(given)


@pytest.mark.parametrize(
    ("peaks", "peak", "memory", "fits"),
    [
        ([], 100, 500, True),
        ([], 101, 500, False),
        ([40, 30], 30, 500, True),
        ([40, 30], 31, 500, False),
    ],
)
def test_peaks_add_up_on_a_worker(peaks: list[int], peak: int, memory: int, fits: bool) -> None:
    assert has_room([p * MIB for p in peaks], peak * MIB, memory * MIB, base=400 * MIB) is fits


def test_a_large_run_needs_a_process_of_its_own() -> None:
    small, large = (predict(parse({"n_layers": layers, "d_model": 512})) for layers in (1, 12))
    allowed = limits(worker_memory="1GiB")
    assert not needs_own_process(small, allowed)
    assert needs_own_process(large, allowed)
    assert not needs_own_process(large, limits(worker_memory="8GiB"))


def test_a_run_without_a_formula_may_share_only_while_its_bound_is_small() -> None:
    allowed = limits(worker_memory="8GiB")
    bound = predict(parse({"family": "gru"}))
    assert bound.memory.saved is None
    assert not needs_own_process(bound, allowed)
    assert needs_own_process(predict(parse({"family": "gru", "batch_size": 4096, "seq_len": 64})), allowed)
    told = replace(predict(parse({})), peak=65 * MIB)
    assert not needs_own_process(told, allowed)
    assert not needs_own_process(replace(bound, peak=65 * MIB), allowed)  # small beside the room of eight gibibytes
    assert needs_own_process(replace(bound, peak=65 * MIB), limits(worker_memory="700MiB"))
    assert not needs_own_process(replace(bound, peak=63 * MIB), limits(worker_memory="700MiB"))
