"""The app's engine on a Dask cluster of four workers on loopback, with TLS and real training, beside the same on this machine."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.cluster.cluster import DaskCluster
from engine.cluster.member import SILENT
from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.experiments.issues import ISSUES
from engine.experiments.running.experiment_run import ExperimentRun
from engine.foundation.paths import DATA_VARIABLE
from engine.hosting.limits import Limits
from engine.runs.events import Event
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.workers.pool import Pool
from tests.clustering import LoopbackCluster, loopback_cluster
from tests.engine.workers.test_pool import until

pytestmark = pytest.mark.acceptance

MEASURED = ("tokens_per_second", "seconds", "steps_per_second")
"""What a run says of time, which differs from run to run."""
SLUG = "no-encoding"


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))


@contextmanager
def pool_on(cluster: LoopbackCluster, folder: Path) -> Iterator[Pool]:
    with Pool(Runs(folder), Limits(), 1, cluster=DaskCluster(cluster.address, cluster.security)) as pool:
        until(lambda: pool.health().ready >= len(cluster.workers))
        yield pool


def said(events: list[Event]) -> list[dict[str, Any]]:
    """The events without what they say of time; arrays as bytes."""
    rows = []
    for event in events:
        row = {one.name: plain(getattr(event, one.name)) for one in fields(event) if one.name not in MEASURED}
        rows.append({"event": type(event).__name__, **row})
    return rows


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, value.tobytes())
    if hasattr(value, "items"):
        return {name: plain(inner) for name, inner in value.items()}
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def trained(pool: Pool, configs: dict[str, RunConfig]) -> dict[str, Run]:
    runs = {name: pool.submit(RunRequest(config)) for name, config in configs.items()}
    for run in runs.values():
        assert run.wait_for(10**9, 600)
    return runs


def test_every_encoding_gives_the_same_run_bit_for_bit(tmp_path: Path) -> None:
    configs = {
        name: RunConfig().replace(pos_encoding=name, steps=12, dropout=0.1) for name in ENCODINGS if name != "designed"
    }
    with Pool(Runs(tmp_path / "here"), Limits(), 1) as pool:
        here = trained(pool, configs)
    with loopback_cluster(tmp_path, workers=4) as cluster, pool_on(cluster, tmp_path / "there") as pool:
        there = trained(pool, configs)
        assert {run.machine for run in there.values()} == {machine.name for machine in pool.machines.training}
    for name, run in there.items():
        assert run.state == here[name].state == "finished", name
        assert said(list(run.events)) == said(list(here[name].events)), name
        assert run.weights is not None
        assert run.weights.read_bytes() == here[name].weights.read_bytes(), name  # type: ignore[union-attr]


def numbers_of(run: ExperimentRun) -> dict[tuple[str, int], dict[str, float | None]]:
    """The numbers of all trials without their times."""
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
        assert there.wait(1200 + SILENT)
        cluster.workers[1].send_signal(signal.SIGCONT)
        assert there.state == "finished"
        # The one that had stood still is used again.
        until(lambda: cluster.address_of(cluster.workers[1]) in [machine.name for machine in pool.machines.training])
    assert sorted((trial.arm, trial.seed) for trial in there.trials) == sorted(
        (trial.arm, trial.seed) for trial in here.trials
    )
    assert not [trial.outcome for trial in there.trials if trial.outcome]
    assert numbers_of(there) == numbers_of(here)
    assert [(claim.finding, claim.effects) for claim in there.report.claims] == [
        (claim.finding, claim.effects) for claim in here.report.claims
    ]


def test_a_run_goes_on_at_another_worker_from_its_state_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.workers.runs import suspended

    monkeypatch.setattr(suspended, "PAUSED_FOR", 0.5)
    config = RunConfig().replace(steps=400, dropout=0.1)
    with Pool(Runs(tmp_path / "here"), Limits(), 1) as pool:
        straight = trained(pool, {"straight": config})["straight"]
    with loopback_cluster(tmp_path, workers=2) as cluster, pool_on(cluster, tmp_path / "there") as pool:
        run = pool.submit(RunRequest(config))
        until(lambda: run.step >= 50)
        pool.pause(run.id)
        until(lambda: run.away)
        first = run.machine
        next(worker for worker in cluster.workers if cluster.address_of(worker) == first).kill()
        until(lambda: first not in [machine.name for machine in pool.machines.training])
        pool.resume(run.id)
        assert run.wait_for(10**9, 600)
        assert run.state == "finished"
        assert run.machine != first
        assert run.weights is not None
        assert run.weights.read_bytes() == straight.weights.read_bytes()  # type: ignore[union-attr]
