"""A pool on a real Dask cluster on loopback, with TLS and the torch-free training."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from distributed import Client

from engine.foundation.files import data_folder
from engine.foundation.log import LOG
from engine.runs.request import RunRequest
from engine.runs.store import Runs
from engine.serving.cluster import cluster as connection
from engine.serving.cluster import cluster_at
from engine.serving.cluster.cluster import DaskCluster, checked_address
from engine.serving.limits import Limits
from engine.serving.pool import Pool
from engine.serving.runs import preemption
from tests.clustering import LoopbackCluster, loopback_cluster
from tests.engine.fake_training import HANGS_IN_THE_END, PidAnywhere, WorkerPid, config
from tests.engine.serving.test_pool import FAKE, LONG, PATIENCE, long_run, some, steps_of, until, wait_end


@contextmanager
def pool_on(cluster: LoopbackCluster, folder: Path) -> Iterator[Pool]:
    allowed = Limits.model_validate({"steps": LONG, "grace_seconds": 4.0})
    there = DaskCluster(cluster.address, cluster.security, FAKE)
    with Pool(Runs(folder), allowed, 1, training=FAKE, predict=some, cluster=there) as pool:  # type: ignore[arg-type]
        until_slots(pool, len(cluster.workers))
        yield pool


def until_slots(pool: Pool, number: int) -> None:
    """Wait until so many slots of the cluster are ready to train, and no other process is there."""

    def there() -> bool:
        workers = [worker for worker in pool.health().workers if worker.role == "runs"]
        return len(workers) == number and all(worker.ready and worker.machine for worker in workers)

    until(there)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackCluster]:
    with loopback_cluster(tmp_path_factory.mktemp("cluster"), workers=2, light=True) as running:
        yield running


@pytest.fixture(scope="module")
def pool(cluster: LoopbackCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    """A pool on a cluster that has two workers before each test and after it."""
    with pool_on(cluster, tmp_path_factory.mktemp("runs")) as running:
        yield running


def test_the_scheduler_shares_runs_out_over_its_workers_and_all_their_steps_arrive(
    pool: Pool, cluster: LoopbackCluster
) -> None:
    runs = [pool.submit(RunRequest(config(200, 0.002, seed))) for seed in range(4)]
    for run in map(wait_end, runs):
        assert (run.state, steps_of(run)) == ("finished", list(range(1, 201)))
    assert {run.machine for run in runs} == {cluster.address_of(worker) for worker in cluster.workers}


def test_a_run_that_has_left_its_place_goes_on_wherever_there_is_one(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preemption, "PAUSED_FOR", 0.5)
    run = long_run(pool)
    pool.steer(run.id, "pause")
    until(lambda: run.checkpointed)
    stood = run.step
    assert run.files.state.read_text() == str(stood)
    others = [long_run(pool, seed=seed) for seed in (1, 2)]
    pool.steer(run.id, "resume")
    pool.stop(others[0].id)
    until(lambda: run.step > stood)
    for going in (run, others[1]):
        pool.stop(going.id)
    assert wait_end(run).state == "stopped"
    assert steps_of(run) == list(range(1, run.step + 1))


def test_a_question_is_answered_here_and_what_measures_on_one_worker_of_the_cluster(pool: Pool) -> None:
    here, there, again = (pool.ask(job(), timeout=PATIENCE) for job in (WorkerPid, PidAnywhere, PidAnywhere))
    workers = {worker.pid: worker.machine for worker in pool.health().workers if worker.role == "jobs"}
    assert workers[here] == ""
    assert there == again
    assert workers[there] == pool.machines.cluster.machines[0].name


def folders_there() -> list[str]:
    """The runs' folders on a worker; called there."""
    return [file.name for file in (data_folder() / "runs").glob("*")]


def states_there() -> list[str]:
    """The runs on a worker that have a saved state; called there."""
    return [file.parent.name for file in (data_folder() / "runs").glob("*/state.pt")]


def test_a_run_ends_there_when_its_app_is_gone(cluster: LoopbackCluster, tmp_path: Path) -> None:
    with Client(cluster.address, security=cluster.security, set_as_default=False) as client:
        with pool_on(cluster, tmp_path) as pool:
            run = long_run(pool)
            assert [run.id] in client.run(folders_there).values()
        until(lambda: not any(client.run(folders_there).values()))


@pytest.mark.thorough
@pytest.mark.parametrize("saved", [True, False])
def test_a_run_of_a_killed_worker_goes_on_at_another_one(
    saved: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From its last save, if there was one, else from its beginning: its curve has each step once."""
    with loopback_cluster(tmp_path, workers=2) as cluster, pool_on(cluster, tmp_path / "runs") as pool:
        run = long_run(pool)
        if saved:  # a run that stands still is saved; then it goes on
            monkeypatch.setattr(preemption, "PAUSED_FOR", 0.1)
            pool.steer(run.id, "pause")
            until(lambda: run.checkpointed)
            pool.steer(run.id, "resume")
            until(lambda: run.state == "running")
        step, before = run.step, run.machine
        killed = next(worker for worker in cluster.workers if cluster.address_of(worker) == before)
        killed.kill()
        until(lambda: "of the cluster was lost" in run.setback)
        until(lambda: run.step > step + 20)
        assert run.machine != before
        with Client(cluster.address, security=cluster.security, set_as_default=False) as client:
            assert list(client.run(states_there).values()) == [[run.id] if saved else []]
        assert steps_of(run) == list(range(1, len(steps_of(run)) + 1))
        until_slots(pool, 1)
        # One of another version is refused, and forgotten when it leaves.
        with monkeypatch.context() as patch:
            patch.setattr(connection, "program_hash", lambda: "other")
            other = cluster.add()
            address = cluster.address_of(other)
            until(lambda: "another version" in pool.machines.cluster.refused.get(address, ""))  # type: ignore[attr-defined]
            other.kill()
            until(lambda: not pool.machines.cluster.refused)  # type: ignore[attr-defined]
        cluster.add()
        until_slots(pool, 2)
        pool.stop(run.id)
        wait_end(run)


@pytest.mark.thorough
def test_a_run_that_does_not_yield_is_ended_by_force_and_the_next_one_goes(tmp_path: Path) -> None:
    with loopback_cluster(tmp_path, workers=0) as cluster:
        cluster.add(nanny=True)
        with pool_on(cluster, tmp_path / "runs") as pool:
            run = long_run(pool, seed=HANGS_IN_THE_END)
            pid = pool.health().workers[0].pid
            pool.stop(run.id)
            assert "did not stop when asked, so its worker was ended" in getattr(wait_end(run).ending, "reason", "")
            until(lambda: not psutil.pid_exists(pid))
            until_slots(pool, 1)
            assert wait_end(pool.submit(RunRequest(config(5)))).state == "finished"


@pytest.mark.thorough
def test_without_its_scheduler_the_app_trains_here_and_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LOG, "handlers", [caplog.handler])  # also where another test has made it a log of its own
    with loopback_cluster(tmp_path, workers=1) as cluster, pool_on(cluster, tmp_path / "runs") as pool:
        run = long_run(pool)
        cluster.scheduler.kill()
        until(lambda: bool(pool.machines.cluster.problem))
        step = run.step
        until(lambda: run.step > step and run.machine == "")
        assert cluster.address in pool.machines.cluster.problem
        assert len({line for line in caplog.messages if f"{cluster.address} cannot be reached" in line}) == 1
        pool.stop(run.id)
        assert wait_end(run).state == "stopped"


def test_an_unprotected_address_is_refused_with_a_sentence() -> None:
    for good in ("tls://scheduler:8786", "tcp://127.0.0.1:8786", "tcp://localhost:1", "tcp://[::1]:8786"):
        assert checked_address(good) == good
    for bad in ("tcp://10.0.0.1:8786", "scheduler:8786", "tls://scheduler", "http://127.0.0.1:1", ""):
        with pytest.raises(ValueError, match="it must be tls://host:port"):
            checked_address(bad)
    assert cluster_at("") is None
