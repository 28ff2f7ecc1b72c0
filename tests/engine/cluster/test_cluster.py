"""A pool on a real Dask cluster on loopback, with TLS and the torch-free training: what works here works there."""

import asyncio
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from distributed import Client, Scheduler
from distributed.core import Server
from distributed.protocol import Serialized, to_serialize

from engine.cluster import cluster_at, member
from engine.cluster.cluster import DaskCluster, ask, checked_address
from engine.foundation.log import LOG
from engine.hosting.limits import Limits
from engine.runs.events import Progress
from engine.runs.folder import RunFolder
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.workers.pool import Pool
from engine.workers.runs import suspended
from tests.clustering import LoopbackCluster, loopback_cluster
from tests.engine.fake_training import HANGS_IN_THE_END, PidAnywhere, WorkerPid, config
from tests.engine.workers.test_pool import FAKE, LONG, PATIENCE, long_run, some, steps_of, until, wait_end


@contextmanager
def pool_on(cluster: LoopbackCluster, folder: Path) -> Iterator[Pool]:
    allowed = Limits.model_validate({"steps": LONG, "grace_seconds": 4.0})
    there = DaskCluster(cluster.address, cluster.security)
    with Pool(Runs(folder), allowed, 1, training=FAKE, predict=some, cluster=there) as pool:  # type: ignore[arg-type]
        until_machines(pool, len(cluster.workers))
        yield pool


def until_machines(pool: Pool, number: int) -> None:
    """Until so many workers of the cluster are ready to train, and no other process is there."""

    def there() -> bool:
        workers = [worker for worker in pool.health().workers if worker.role == "runs"]
        return len(workers) == number and all(worker.ready and worker.machine for worker in workers)

    until(there)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackCluster]:
    with loopback_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as running:
        yield running


@pytest.fixture(scope="module")
def pool(cluster: LoopbackCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    """A pool on a cluster that has two workers before each test and after it."""
    with pool_on(cluster, tmp_path_factory.mktemp("runs")) as running:
        yield running


def test_runs_are_shared_out_over_the_machines_and_all_their_steps_arrive(pool: Pool) -> None:
    runs = [pool.submit(RunRequest(config(200, 0.002, seed))) for seed in range(4)]
    for run in map(wait_end, runs):
        assert (run.state, steps_of(run)) == ("finished", list(range(1, 201)))
    assert len({run.machine for run in runs}) == 2
    assert "" not in {run.machine for run in runs}


def test_a_run_that_does_not_yield_is_ended_by_force_and_the_next_one_goes(pool: Pool) -> None:
    run = long_run(pool, seed=HANGS_IN_THE_END)
    pool.stop(run.id)
    assert "did not, so its worker was ended" in getattr(wait_end(run).ending, "reason", "")
    until_machines(pool, 2)
    assert wait_end(pool.submit(RunRequest(config(5)))).state == "finished"


def test_a_run_that_was_suspended_goes_on_wherever_there_is_room(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suspended, "PAUSED_FOR", 1.0)
    run = long_run(pool)
    pool.steer(run.id, "pause")
    until(lambda: run.state == "paused")
    stood = run.step
    pool.steer(run.id, "step")
    until(lambda: run.step == stood + 1)
    others = [long_run(pool, seed=seed) for seed in (1, 2)]
    until(lambda: run.suspended)
    stood = run.step
    assert RunFolder(run.folder).state.read_text() == str(stood)
    pool.steer(run.id, "resume")
    until(lambda: run.step > stood)
    for going in (run, *others):
        pool.stop(going.id)
    assert wait_end(run).state == "stopped"
    assert steps_of(run) == list(range(1, run.step + 1))
    until(lambda: not RunFolder(run.folder).state.exists())


def test_a_question_is_answered_here_and_what_measures_on_a_machine_of_the_cluster(pool: Pool) -> None:
    here = pool.ask(WorkerPid(), timeout=PATIENCE)
    there = pool.ask(PidAnywhere(), timeout=PATIENCE)
    workers = {worker.pid: worker.machine for worker in pool.health().workers if worker.role == "jobs"}
    assert workers[here] == ""
    assert workers[there] == min(machine.name for machine in pool.machines.training)


@pytest.mark.thorough
def test_a_run_of_a_killed_worker_goes_on_at_another_one(
    pool: Pool, cluster: LoopbackCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [long_run(pool, seed=seed) for seed in range(2)]
    killed = cluster.workers[0]
    gone = cluster.address_of(killed)
    moved = next(run for run in runs if run.machine == gone)
    kept = next(run for run in runs if run is not moved)
    step = moved.step
    killed.kill()
    until(lambda: "connection" in moved.setback)
    until(lambda: moved.step > step + 20)
    assert moved.machine == kept.machine
    assert steps_of(moved) == list(range(1, len(steps_of(moved)) + 1))
    assert [machine.name for machine in pool.machines.training] == [kept.machine]
    # One of another version that comes to the same address is refused, and forgotten when it leaves.
    with monkeypatch.context() as patch:
        patch.setattr(member, "program_hash", lambda: "other")
        other = cluster.add(port=int(gone.rpartition(":")[2]))
        until(lambda: "has another version" in pool.machines.cluster.refused.get(gone, ""))
        other.kill()
        until(lambda: not pool.machines.cluster.refused)
    # The next one there is used again, and a run of the same settings there is the same.
    cluster.add(port=int(gone.rpartition(":")[2]))
    until_machines(pool, 2)
    again = pool.submit(RunRequest(moved.config))
    until(lambda: again.step >= step)
    assert losses(again)[:step] == losses(moved)[:step]
    for run in (kept, moved, again):
        pool.stop(run.id)
        wait_end(run)


def losses(run: Run) -> list[float]:
    return [event.loss for event in run.events if isinstance(event, Progress)]


@pytest.mark.thorough
def test_without_its_scheduler_the_app_trains_here_and_comes_back_to_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LOG, "handlers", [caplog.handler])  # also where another test has made it a log of its own
    with loopback_cluster(tmp_path, workers=1) as cluster:
        address, folder = cluster.address, tmp_path / "runs"
        with pool_on(cluster, folder) as pool:
            finished = wait_end(pool.submit(RunRequest(config(5))))
            cluster.scheduler.kill()
            until(lambda: bool(pool.machines.cluster.problem))
            assert address in pool.machines.cluster.problem
            (said,) = {line for line in caplog.messages if f"{address} cannot be reached" in line}
            assert "ConnectionPool" not in said
            here = wait_end(pool.submit(RunRequest(config(5))))
            assert (here.state, here.machine, finished.state) == ("finished", "", "finished")


def test_an_unprotected_address_is_refused_with_a_sentence() -> None:
    for good in ("tls://scheduler:8786", "tcp://127.0.0.1:8786", "tcp://localhost:1", "tcp://[::1]:8786"):
        assert checked_address(good) == good
    for bad in ("tcp://10.0.0.1:8786", "scheduler:8786", "tls://scheduler", "http://127.0.0.1:1", ""):
        with pytest.raises(ValueError, match="allowed is tls://host:port"):
            checked_address(bad)
    assert cluster_at("") is None


class Marker:
    """Makes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.file,)


def test_nothing_that_a_worker_answers_is_unpickled(tmp_path: Path) -> None:
    """Whoever has taken over a worker answers with pickles: as values, as exceptions, and as the names of types in Dask's own way."""
    marker = tmp_path / "was here"
    body = pickle.dumps(Marker(marker))
    named_by_pickle = Serialized({"serializer": "dask", "type": "x", "type-serialized": body}, [b"x"])

    async def asked() -> None:
        def answer(how: str) -> object:
            if how == "value":
                return to_serialize(Marker(marker))
            if how == "name":
                return named_by_pickle
            return {"status": "uncaught-error", "exception": body, "traceback": body, "exception_text": "x"}

        server = Server({"answer": answer})
        await server.listen("tcp://127.0.0.1:0")
        async with (
            Scheduler(host="127.0.0.1", port=0, dashboard_address=":0", dashboard=False) as scheduler,
            Client(scheduler.address, asynchronous=True, set_as_default=False) as client,
        ):
            with pytest.raises(ConnectionError):
                await ask(client, server.address, "answer", how="error")
            for how in ("value", "name"):
                with pytest.raises((TypeError, OSError)):
                    await ask(client, server.address, "answer", how=how)
        await server.close()

    asyncio.run(asked())
    assert not marker.exists()
    assert pickle.loads(body) is None
    assert marker.exists(), "the pickle does what it says"
