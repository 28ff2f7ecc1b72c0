import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.experiments.issues import ISSUES
from engine.experiments.running.experiment_run import ExperimentRun
from engine.runs.events import to_json
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.serving.cluster.cluster import DaskCluster
from engine.serving.cluster.worker import SILENT_SECONDS
from engine.serving.limits import Limits
from engine.serving.pool import Pool
from engine.serving.runs import preemption
from tests.clustering import LoopbackCluster, loopback_cluster
from tests.engine.serving.test_pool import until

pytestmark = [pytest.mark.acceptance, pytest.mark.usefixtures("own_data_folder")]

MEASURED = {"tokens_per_second", "seconds", "steps_per_second"}  # fields of time, which differ from run to run
SLUG = "no-encoding"


@contextmanager
def pool_on(cluster: LoopbackCluster, folder: Path) -> Iterator[Pool]:
    with Pool(Runs(folder), Limits(), 1, cluster=DaskCluster(cluster.address, cluster.security)) as pool:
        until(lambda: pool.health().ready >= len(cluster.workers))
        yield pool


def timeless_rows(run: Run) -> list[dict[str, object]]:
    """The events as they are stored, without fields of time."""
    timeless = (replace(event, **dict.fromkeys(MEASURED & vars(event).keys(), 0.0)) for event in run.events)
    return [to_json(event) for event in timeless]


def trained(pool: Pool, configs: dict[str, RunConfig]) -> dict[str, Run]:
    runs = {name: pool.submit(RunRequest(config)) for name, config in configs.items()}
    for run in runs.values():
        assert run.wait_for(10**9, 600)
    return runs


def test_every_encoding_gives_the_same_run_bit_for_bit(tmp_path: Path) -> None:
    names = [name for name in ENCODINGS if name != "designed"]
    configs = {name: RunConfig().replace(pos_encoding=name, steps=12, dropout=0.1) for name in names}
    with Pool(Runs(tmp_path / "here"), Limits(), 1) as pool:
        here = trained(pool, configs)
    with loopback_cluster(tmp_path, workers=4) as cluster, pool_on(cluster, tmp_path / "there") as pool:
        there = trained(pool, configs)
        assert {run.machine for run in there.values()} == set(map(cluster.address_of, cluster.workers))
    for name, run in there.items():
        assert run.state == here[name].state == "finished", name
        assert timeless_rows(run) == timeless_rows(here[name]), name
        assert run.weights.read_bytes() == here[name].weights.read_bytes(), name  # type: ignore[union-attr]


def numbers_of(run: ExperimentRun) -> dict[tuple[str, int], dict[str, float | None]]:
    return {
        (trial.arm, trial.seed): {name: value for name, value in trial.numbers.items() if "second" not in name}
        for trial in run.trials
    }


def test_an_issue_with_a_worker_killed_one_stopped_and_one_added_gives_the_same_verdict(tmp_path: Path) -> None:
    issue = replace(ISSUES[SLUG], seeds=8)
    with Pool(Runs(tmp_path / "here"), Limits(), 2) as pool:
        here = ExperimentRun(issue, pool).start()
        assert here.wait(1200)
    with loopback_cluster(tmp_path, workers=4) as cluster, pool_on(cluster, tmp_path / "there") as pool:
        there = ExperimentRun(issue, pool).start()
        until(lambda: len(there.trials) >= there.total // 8)
        cluster.workers[0].kill()
        until(lambda: len(there.trials) >= there.total // 4)
        cluster.workers[1].send_signal(signal.SIGSTOP)
        cluster.add()
        assert there.wait(1200 + SILENT_SECONDS)
        cluster.workers[1].send_signal(signal.SIGCONT)
        assert there.state == "finished"
    assert len(there.trials) == len(here.trials)
    assert not [trial.failure for trial in there.trials if trial.failure]
    assert numbers_of(there) == numbers_of(here)
    found = ([(claim.finding, claim.effects) for claim in run.report.claims] for run in (here, there))
    assert next(found) == next(found)


def test_a_run_goes_on_at_another_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preemption, "PAUSED_FOR", 0.5)
    config = RunConfig().replace(steps=400, dropout=0.1)
    with Pool(Runs(tmp_path / "here"), Limits(), 1) as pool:
        straight = trained(pool, {"straight": config})["straight"]
    with loopback_cluster(tmp_path, workers=2) as cluster, pool_on(cluster, tmp_path / "there") as pool:
        run = pool.submit(RunRequest(config))
        until(lambda: run.step >= 50)
        pool.steer(run.id, "pause")
        until(lambda: run.checkpointed)
        first = run.machine
        next(worker for worker in cluster.workers if cluster.address_of(worker) == first).kill()
        until(lambda: pool.machines.slots == 1)
        pool.steer(run.id, "resume")
        assert run.wait_for(10**9, 600)
        assert run.state == "finished"
        assert run.machine != first
        assert run.weights.read_bytes() == straight.weights.read_bytes()  # type: ignore[union-attr]
