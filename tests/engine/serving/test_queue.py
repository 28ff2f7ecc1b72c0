from dataclasses import replace
from pathlib import Path
from threading import RLock
from types import SimpleNamespace
from typing import Any, cast

import pytest

from engine.config.run_config import RunConfig, parse
from engine.estimate.device import DeviceChoice
from engine.estimate.prediction import Prediction, predict
from engine.foundation.visitor import Visitor
from engine.runs.request import RunRequest
from engine.runs.store import Runs
from engine.serving import host
from engine.serving.host import WORKER_BYTES
from engine.serving.processes.process import Slot
from engine.serving.protocol import Control
from engine.serving.runs import queue
from engine.serving.runs.memory import accelerator_for, has_room
from engine.serving.runs.queue import RunQueue, in_turn, needs_dedicated, worker_for_run
from engine.serving.runs.queued import QueuedRun, predicted
from tests.engine.serving.test_limits import limits

MIB = 2**20
CONFIG = RunConfig()


@pytest.mark.parametrize(
    ("runs", "memory"),
    [([(10, 100)], 100), ([(10, 30), (10, 40)], 70), ([(10, 30), (10, 40), (10, 20)], 80), ([(10, 30)] * 30, 340)],
)
def test_what_runs_keep_adds_up_and_two_of_them_are_in_a_step(runs: list[tuple[int, int]], memory: int) -> None:
    known = predict(parse({}))
    predictions = [replace(known, between=between * MIB, peak=peak * MIB) for between, peak in runs]
    for room, fits in ((memory, True), (memory - 1, False)):
        assert has_room(predictions, (100 + room) * MIB, base=100 * MIB) is fits


def test_thirty_small_runs_fit_into_the_one_worker_of_a_small_host() -> None:
    small = 1024 if host.brings_cuda() else 690
    assert has_room([predict(parse({}))] * 30, host.for_workers(small * MIB))


@pytest.mark.parametrize(
    ("settings", "peak", "allowed", "dedicated"),
    [
        ({"n_layers": 1, "d_model": 512}, None, "1GiB", False),
        ({"n_layers": 12, "d_model": 512}, None, "1GiB", True),
        ({"n_layers": 12, "d_model": 512}, None, "8GiB", False),
        ({}, 65 * MIB, "8GiB", False),
        ({"family": "gru"}, None, "8GiB", False),
        ({"family": "gru", "batch_size": 4096, "seq_len": 64}, None, "8GiB", True),
        ({"family": "gru"}, 65 * MIB, "8GiB", False),  # small beside the room of eight gibibytes
        ({"family": "gru"}, 65 * MIB, WORKER_BYTES + 300 * MIB, True),
        ({"family": "gru"}, 63 * MIB, WORKER_BYTES + 300 * MIB, False),
    ],
)
def test_which_runs_have_own_processes(
    tmp_path: Path, settings: dict[str, Any], peak: int | None, allowed: object, dedicated: bool
) -> None:
    config = parse(settings)
    known = predict(config)
    assert (known.memory.saved is None) == ("family" in settings)
    prediction = replace(known, peak=known.peak if peak is None else peak)
    queued = QueuedRun(Runs(tmp_path).create(config), RunRequest(config), prediction)
    assert needs_dedicated(queued, [], limits(worker_memory=allowed)) == dedicated


def test_a_run_that_is_large_for_the_smallest_machine_gets_a_process_of_its_own(tmp_path: Path) -> None:
    """Else it would wait for ever if every machine of a cluster is smaller than the app's."""
    config = parse({"n_layers": 6, "d_model": 256})
    run = Runs(tmp_path).create(config, "")
    queued = QueuedRun(run, RunRequest(config), replace(predict(config), peak=600 * MIB))
    here = limits(worker_memory="8GiB")

    def workers(*allowed: int) -> Any:
        return [SimpleNamespace(role="runs", allowed=size, facts={}) for size in allowed]

    assert not needs_dedicated(queued, workers(), here)
    assert not needs_dedicated(queued, workers(8 * 2**30, 6 * 2**30), here)
    assert needs_dedicated(queued, workers(8 * 2**30, 1024 * MIB), here)


def on(device: str, runs: Runs, **bytes_: int) -> QueuedRun:
    """A run on that device with a prediction of so many mebibytes."""
    config = parse({"device": device})
    prediction = replace(predict(config), **{name: mebibytes * MIB for name, mebibytes in bytes_.items()})
    return QueuedRun(runs.create(config, ""), RunRequest(config), prediction)


def worker(number: int, room: int = 0, **facts: int) -> Any:
    """A worker that may take 900 MiB for runs, with ``room`` mebibytes on the GPU that it owns."""
    return SimpleNamespace(
        slot=Slot("runs", number), role="runs", facts=facts, runs={}, allowed=WORKER_BYTES + 900 * MIB, available=True,
        load=0, owns_accelerator=number < facts.get("accelerators", 0), accelerator_room=room * MIB,
        accelerator="A GPU", most_runs=None,
    )  # fmt: skip


def test_runs_on_a_gpu_share_its_own_memory_and_wait_for_the_worker_that_owns_it(tmp_path: Path) -> None:
    """Two of three such runs fit into the GPU's memory; the host's room is for the runs on its processor."""

    def queued(device: str, peak: int = 400) -> QueuedRun:
        return on(device, Runs(tmp_path), peak=peak, between=400, beside=40)

    owner, other = worker(0, 1000, accelerators=1), worker(1)
    for device, workers in (("cuda", [owner, other]), ("cpu", [owner])):
        for name in ("one", "two"):
            assert worker_for_run(workers, queued(device), 16) is owner
            owner.runs[f"{device} {name}"] = queued(device)
        assert worker_for_run(workers, queued(device), 16) is None
    owner.available = False
    assert worker_for_run([owner, other], queued("cuda"), 16) is None
    assert worker_for_run([other], queued("cuda"), 16) is other, "the run says what is missing"
    starting, knows = worker(0), worker(1, accelerators=1)
    for run in (queued("cuda"), queued("cuda", 800)):
        assert worker_for_run([starting, knows], run, 16) is None, "the owner is started anew"
        assert not needs_dedicated(run, [starting, knows], limits())


def test_a_run_on_a_gpu_takes_of_the_hosts_memory_what_lies_beside(tmp_path: Path) -> None:
    owner, runs = worker(0, 80_000, accelerators=1), Runs(tmp_path)
    large = on("cuda", runs, peak=5000, between=100, beside=500)
    assert worker_for_run([owner], large, 16) is owner, "five gibibytes, where the host has room for one"
    owner.runs["large"] = large
    for device in ("cuda", "cpu"):
        assert worker_for_run([owner], on(device, runs, peak=400, between=400, beside=400), 16) is owner
        assert worker_for_run([owner], on(device, runs, peak=410, between=410, beside=410), 16) is None
    shares = worker(0, accelerators=1)  # Apple's
    shares.runs["large"] = on("mps", runs, peak=600, between=600, beside=1)
    assert worker_for_run([shares], on("mps", runs, peak=400, between=400, beside=1), 16) is None


def test_a_run_is_weighed_against_the_accelerator_with_the_most_room_once_the_workers_have_told() -> None:
    waited = list[int | None]()
    supervisor: Any = SimpleNamespace(workers=[worker(0)], limits=limits(memory="1GiB"))

    def ready(seconds: float, workers: int | None) -> None:
        waited.append(workers)
        supervisor.workers = [worker(number, room, accelerators=2) for number, room in enumerate((100, 300, 0))]

    gpu = replace(predict(parse({"device": "cuda"})), peak=2**30)
    cpu = replace(predict(parse({"device": "cpu"})), peak=2**40)
    assert (accelerator_for(cpu, supervisor, ready), waited) == (None, [])
    assert (accelerator_for(gpu, supervisor, ready), waited) == (None, []), "it fits anywhere"
    assert accelerator_for(replace(gpu, peak=2**31), supervisor, ready) == ("A GPU", 300 * MIB)
    assert waited == [1, None], "one that knows of an accelerator, then those that own one"

    waited.clear()
    supervisor.workers = [worker(0)]
    assert accelerator_for(replace(gpu, peak=2**31), supervisor, lambda _, workers: waited.append(workers)) is None
    assert waited == [1], "where none knows of one, for one worker only"


def queued(runs: Runs, visitor_name: str) -> QueuedRun:
    """The run of a visitor, described by name and address. A question mark: a trial."""
    name, _, address = visitor_name.removesuffix("?").partition("@")
    request = RunRequest(CONFIG, Visitor(name, address), trial=visitor_name.endswith("?"))
    return QueuedRun(runs.create(CONFIG, visitor_name), request, predict(CONFIG))


THROWN_AWAY = "c0@1 c1@1 c2@1 c3@1"  # the runs of visitors of one address


@pytest.mark.parametrize(
    ("waiting", "going", "order"),
    [
        ("anna anna anna ben carla ben", "", "anna ben carla anna ben anna"),
        ("anna ben", "anna", "ben anna"),
        (f"{THROWN_AWAY} anna@2 ben@3", "", "c0@1 anna@2 ben@3 c1@1 c2@1 c3@1"),
        (f"{THROWN_AWAY} anna@2 ben@3", "c@1", "anna@2 ben@3 c0@1 c1@1 c2@1 c3@1"),
        ("anna? ben ben carla?", "", "ben ben anna? carla?"),
        ("anna? ben ben carla?", "anna?", "ben ben carla? anna?"),
    ],
    ids=["visitors", "one has a run going", "addresses", "one's address has a run going", "trials", "a trial goes"],
)
def test_they_take_turns_in_the_order_of_submission(waiting: str, going: str, order: str, tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    waits, there = ([queued(runs, name) for name in names.split()] for names in (waiting, going))
    found = in_turn(waits, there)
    assert [run.run.owner for run in found] == order.split()
    assert in_turn(found, there) == found, "looking again changes nothing"
    for owner in {run.run.owner for run in waits}:
        assert [run for run in found if run.run.owner == owner] == [run for run in waits if run.run.owner == owner]


def test_the_log_tells_that_the_queue_has_doubled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths, runs = list[int](), [queued(Runs(tmp_path), "anna") for _ in range(16)]
    monkeypatch.setattr(queue.LOG, "info", lambda _, length: lengths.append(length))
    supervisor = cast(Any, SimpleNamespace(lock=RLock(), limits=limits(), workers=[]))
    waits = RunQueue(supervisor, cast(Any, None), cast(Any, None))
    for length in (1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 8, 0, 4, 16):
        waits.waiting = runs[:length]
        waits.dispatch()
    assert lengths == [4, 8, 4, 16]


@pytest.mark.parametrize(
    ("going", "waiting", "most", "starts"),
    [
        ([[]], [5, 5], 2, [0, 0]),
        ([[10]], [5, 5], 1, [10, 15]),
        ([[10, 20]], [5], 2, [20]),  # two share a core: the shorter one ends after 20 s
        ([[10], [4]], [5, 5], 1, [4, 9]),
        ([[3, 3]], [6, 6], 2, [6, 6]),
        ([], [1.0], 2, []),  # without workers nothing is known
    ],
)
def test_the_time_until_a_run_starts(going: object, waiting: list[float], most: int, starts: list[float]) -> None:
    assert queue.seconds_to_start(cast("list[list[float]]", going), waiting, most) == pytest.approx(starts)


def test_what_is_asked_of_a_run_holds_for_the_next_worker(tmp_path: Path) -> None:
    run = queued(Runs(tmp_path), "anna")
    step, resume, pause = (Control(run.run.id, action) for action in ("step", "resume", "pause"))
    assert run.wants_to_go
    assert [run.control(step) for _ in range(3)] == [True, False, False]
    run.hear(2, "paused")
    assert (run.early_steps, run.wants_to_go) == (1, True)
    run.requeue("Its worker has ended.", counts=True)
    assert (run.early_steps, run.request.paused, run.returns) == (1, True, 1)
    run.hear(1, "saved")
    assert (run.wants_to_go, run.returns) == (False, 0)
    assert (run.control(resume), run.wants_to_go) == (True, True)
    assert (run.control(pause), run.wants_to_go) == (True, False)


def test_steps_taken_before_a_run_leaves_are_not_those_that_are_asked_for_meanwhile(tmp_path: Path) -> None:
    run = queued(Runs(tmp_path), "anna")
    run.leaving = True
    run.control(Control(run.run.id, "step"))
    run.hear(5, None)
    assert run.early_steps == 1
    run.hear(0, "unsaved")
    assert (run.leaving, run.stays_until > run.active_at) == (False, True)
    run.hear(1, None)
    assert run.early_steps == 0


@pytest.mark.parametrize("uses", [True, False])
def test_the_device_of_a_run_stays_as_it_was_decided_whatever_speeds_are_measured_since(uses: bool) -> None:
    def forecast(config: RunConfig) -> Prediction:
        return replace(predict(config), device=DeviceChoice(not uses, why="A step is predicted to take less there."))

    request = RunRequest(CONFIG, accelerator=uses)
    assert predicted(request, forecast, CONFIG).device == DeviceChoice(uses), (
        "without the sentence on what was compared"
    )
    assert predicted(RunRequest(CONFIG), forecast, CONFIG).device.accelerator is not uses
