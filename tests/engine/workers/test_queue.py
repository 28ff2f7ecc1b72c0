"""The queue: whose turn it is, how long the others wait, which worker takes a run, and who gets a process of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from engine.config.run_config import RunConfig, parse
from engine.estimate.prediction import predict
from engine.foundation.visitor import Visitor
from engine.hosting import host
from engine.hosting.host import WORKER_BYTES
from engine.hosting.limits import Limits
from engine.runs.request import RunRequest
from engine.runs.store import Runs
from engine.workers.processes.process import Slot
from engine.workers.protocol import Control
from engine.workers.runs.queue import (
    goes_on_its_own,
    has_room,
    in_turn,
    needs_own_process,
    seconds_to_start,
    worker_for_run,
)  # fmt: skip
from engine.workers.runs.queued import QueuedRun

MIB = 2**20
CONFIG = RunConfig()


def limits(**given: Any) -> Limits:
    return Limits.model_validate(given)


@pytest.mark.parametrize(
    ("runs", "memory"),
    [([(10, 100)], 100), ([(10, 30), (10, 40)], 70), ([(10, 30), (10, 40), (10, 20)], 80), ([(10, 30)] * 30, 340)],
)
def test_what_runs_keep_adds_up_on_a_worker_and_two_of_them_are_in_a_step(
    runs: list[tuple[int, int]], memory: int
) -> None:
    known = predict(parse({}))
    predictions = [replace(known, between=between * MIB, peak=peak * MIB) for between, peak in runs]
    for room, fits in ((memory, True), (memory - 1, False)):
        assert has_room(predictions, (100 + room) * MIB, base=100 * MIB) is fits


def test_thirty_small_runs_fit_into_the_one_worker_of_a_small_host() -> None:
    assert has_room([predict(parse({}))] * 30, host.for_workers(690 * MIB))


def test_a_large_run_needs_a_process_of_its_own() -> None:
    small, large = (predict(parse({"n_layers": layers, "d_model": 512})) for layers in (1, 12))
    allowed = limits(worker_memory="1GiB").worker_memory
    assert not needs_own_process(small, allowed)
    assert needs_own_process(large, allowed)
    assert not needs_own_process(large, limits(worker_memory="8GiB").worker_memory)


def test_a_run_without_a_formula_may_share_only_while_its_bound_is_small() -> None:
    allowed = limits(worker_memory="8GiB").worker_memory
    bound = predict(parse({"family": "gru"}))
    assert bound.memory.saved is None
    assert not needs_own_process(bound, allowed)
    assert needs_own_process(predict(parse({"family": "gru", "batch_size": 4096, "seq_len": 64})), allowed)
    told = replace(predict(parse({})), peak=65 * MIB)
    assert not needs_own_process(told, allowed)
    assert not needs_own_process(replace(bound, peak=65 * MIB), allowed)  # small beside the room of eight gibibytes
    assert needs_own_process(
        replace(bound, peak=65 * MIB), limits(worker_memory=WORKER_BYTES + 300 * MIB).worker_memory
    )
    assert not needs_own_process(
        replace(bound, peak=63 * MIB), limits(worker_memory=WORKER_BYTES + 300 * MIB).worker_memory
    )


def test_a_run_that_is_large_for_the_smallest_machine_gets_a_process_of_its_own(tmp_path: Path) -> None:
    """Else it would wait for ever where every machine of a cluster is smaller than the app's own."""
    config = parse({"n_layers": 6, "d_model": 256})
    run = Runs(tmp_path).create(config, "")
    queued = QueuedRun(run, RunRequest(config), replace(predict(config), peak=600 * MIB))
    here = limits(worker_memory="8GiB")

    def workers(*allowed: int) -> Any:
        return [SimpleNamespace(role="runs", allowed=size, facts={}) for size in allowed]

    assert not goes_on_its_own(queued, workers(), here)
    assert not goes_on_its_own(queued, workers(8 * 2**30, 6 * 2**30), here)
    assert goes_on_its_own(queued, workers(8 * 2**30, 1024 * MIB), here)


def test_runs_on_a_gpu_share_its_own_memory_and_wait_for_the_worker_that_owns_it(tmp_path: Path) -> None:
    """Two of three such runs fit into the GPU's memory; the host's room is for the runs on its processor."""

    def queued(device: str) -> QueuedRun:
        config = parse({"device": device})
        return QueuedRun(
            Runs(tmp_path).create(config, ""),
            RunRequest(config),
            replace(predict(config), peak=400 * MIB, between=400 * MIB),
        )

    def worker(number: int, **facts: int) -> Any:
        return SimpleNamespace(
            slot=Slot("runs", number), role="runs", facts=facts, runs={}, allowed=WORKER_BYTES + 900 * MIB, available=True,
            held_alone=False, load=0, owns_accelerator=number < facts.get("accelerators", 0),
        )  # fmt: skip

    owner, other = worker(0, accelerators=1, accelerator_memory=1000 * MIB), worker(1)
    for device, workers in (("cuda", [owner, other]), ("cpu", [owner])):
        for name in ("one", "two"):
            assert worker_for_run(workers, queued(device), 16) is owner
            owner.runs[f"{device} {name}"] = queued(device)
        assert worker_for_run(workers, queued(device), 16) is None
    owner.available = False
    assert worker_for_run([owner, other], queued("cuda"), 16) is None
    assert worker_for_run([other], queued("cuda"), 16) is other, "the run says what is missing"
    starting, knows = worker(0), worker(1, accelerators=1)
    large = queued("cuda")
    large.prediction = replace(large.prediction, peak=800 * MIB)
    for run in (queued("cuda"), large):
        assert worker_for_run([starting, knows], run, 16) is None, "the owner is started anew"
        assert not goes_on_its_own(run, [starting, knows], limits())


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def queued(runs: Runs, who: str, address: str = "", *, trial: bool = False) -> QueuedRun:
    return QueuedRun(runs.create(CONFIG, who), RunRequest(CONFIG, Visitor(who, address), trial=trial), predict(CONFIG))


def owners(queue: list[QueuedRun]) -> list[str]:
    return [run.run.owner for run in queue]


def test_visitors_take_turns(runs: Runs) -> None:
    queue = [queued(runs, who) for who in ("anna", "anna", "anna", "ben", "carla", "ben")]
    assert owners(in_turn(queue, ())) == ["anna", "ben", "carla", "anna", "ben", "anna"]


def test_who_has_a_run_going_had_a_turn(runs: Runs) -> None:
    queue = [queued(runs, who) for who in ("anna", "ben")]
    assert owners(in_turn(queue, [queued(runs, "anna")])) == ["ben", "anna"]


def test_among_first_runs_addresses_take_turns(runs: Runs) -> None:
    thrown_away = [queued(runs, f"cookie {n}", "10.0.0.1") for n in range(8)]
    queue = [*thrown_away, queued(runs, "anna", "10.0.0.2"), queued(runs, "ben", "10.0.0.3")]
    assert owners(in_turn(queue, ()))[:4] == ["cookie 0", "anna", "ben", "cookie 1"]
    assert owners(in_turn(queue[1:], thrown_away[:1]))[:3] == ["anna", "ben", "cookie 1"]
    assert in_turn(in_turn(queue, ()), ()) == in_turn(queue, ()), "looking again changes nothing"


def test_trials_wait_behind_runs_that_somebody_looks_at(runs: Runs) -> None:
    queue = [
        queued(runs, "anna", trial=True),
        queued(runs, "ben"),
        queued(runs, "ben"),
        queued(runs, "carla", trial=True),
    ]
    assert [run.request.trial for run in in_turn(queue, ())] == [False, False, True, True]
    assert owners(in_turn(queue, [queued(runs, "anna", trial=True)]))[2:] == ["carla", "anna"]


def test_the_order_of_equals_is_that_of_submission(runs: Runs) -> None:
    queue = [queued(runs, "anna") for _ in range(5)]
    assert in_turn(queue, ()) == queue


@pytest.mark.parametrize(
    ("going", "waiting", "most", "starts"),
    [
        ([[]], [5, 5], 2, [0, 0]),
        ([[10]], [5, 5], 1, [10, 15]),
        ([[10, 20]], [5], 2, [20]),  # two share a core: the shorter one ends after 20 s
        ([[10], [4]], [5, 5], 1, [4, 9]),
        ([[3, 3]], [6, 6], 2, [6, 6]),
    ],
)
def test_the_time_until_a_run_starts(going: object, waiting: list[float], most: int, starts: list[float]) -> None:
    assert seconds_to_start(cast("list[list[float]]", going), waiting, most) == pytest.approx(starts)


def test_without_workers_nothing_is_known() -> None:
    assert seconds_to_start([], [1.0], 2) == []


def test_a_step_asked_for_while_a_run_is_suspended_is_taken_when_it_is_back(runs: Runs) -> None:
    run = queued(runs, "anna")
    run.begin()
    run.suspending = True
    step = Control(run.run.id, "step")
    run.control_on_worker(step)
    run.begin()
    assert run.asked_since == [step]
    run.control_on_worker(Control(run.run.id, "pause"))
    assert run.asked_since == []
