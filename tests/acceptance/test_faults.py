"""A worker process is killed at each point of its life: what its run says, and what a later server finds on the disk."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engine.runs.events import Ended, Finished
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.serving.limits import Limits
from engine.serving.pool import Pool
from engine.serving.runs import preemption
from engine.serving.runs.checkpoints import WAITS
from tests.acceptance.dying_training import MIDDLE, seed_of
from tests.engine.fake_training import config
from tests.engine.serving.test_pool import LONG, PATIENCE, long_run, pid_of, some, steps_of, until, wait_end

pytestmark = pytest.mark.acceptance

KILLED = "Its worker process ended unexpectedly (signal 9)."


@contextmanager
def pool_at(folder: Path, **limits: Any) -> Iterator[Pool]:
    allowed = Limits.model_validate({"steps": LONG, "seconds": 10**6, **limits})
    with Pool(Runs(folder), allowed, 1, training="tests.acceptance.dying_training", predict=some) as pool:  # type: ignore[arg-type]
        yield pool


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Pool]:
    with pool_at(tmp_path / "runs") as pool:
        assert pool.wait_until_ready(PATIENCE)
        yield pool


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preemption, "PAUSED_FOR", 0.05)


def same_on_disk(pool: Pool, run: Run) -> None:
    """A later server finds the run as the reader saw it; nothing half-written lies in its folder, and no weights."""
    found = Runs(pool.runs.folder).get(run.id)
    assert found is not None
    assert (found.state, found.ending, steps_of(found)) == (run.state, run.ending, steps_of(run))
    assert steps_of(run) == list(range(1, run.step + 1))
    assert run.weights is None
    assert not list(run.folder.rglob("*.part"))


def trains_again(pool: Pool) -> None:
    """The next run finds a worker."""
    assert wait_end(pool.submit(RunRequest(config(5)))).state == "finished"


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


MOST = {
    "before it begins": 0, "before the first step": 0, "in a step": MIDDLE, "in a validation": MIDDLE - 1,
    "writing the result": 60, "saving the weights": 60,
}  # fmt: skip
"""By the point at which a worker kills itself: the last step that may have been seen by then."""


@pytest.mark.parametrize("point", MOST)
def test_killed_by_itself_again_and_again_the_run_waits_for_its_owner_with_what_was_seen_of_it(
    pool: Pool, point: str
) -> None:
    run = pool.submit(RunRequest(config(60, 0.005, seed_of(point))))
    until(lambda: run.checkpointed and not run.files.read_saved_request()["going"])
    assert run.setback == f"{KILLED} {WAITS}"
    assert run.step <= MOST[point]
    same_on_disk(pool, run)
    trains_again(pool)


def test_killed_while_it_starts_the_run_waits_for_the_next_worker(tmp_path: Path) -> None:
    with pool_at(tmp_path / "runs") as pool:
        run = pool.submit(RunRequest(config(20)))
        until(lambda: bool(pool.health().workers))
        kill(pool.health().workers[0].pid)
        assert run.state == "queued"
        assert isinstance(wait_end(run).ending, Finished)
        same_on_disk(pool, run)


def test_killed_idle_nobody_notices_and_while_the_run_is_paused_it_stays_so(pool: Pool) -> None:
    kill(pool.health().workers[0].pid)
    trains_again(pool)
    run = long_run(pool)
    pool.steer(run.id, "pause")
    until(lambda: run.state == "paused")
    step, killed = run.step, pid_of(pool, run)
    kill(killed)
    until(lambda: any(run.id in worker.runs and worker.pid != killed for worker in pool.health().workers))
    until(lambda: run.state == "paused")
    pool.steer(run.id, "step")
    until(lambda: run.state == "paused" and run.step == step + 1)
    same_on_disk(pool, run)


@pytest.mark.usefixtures("impatient")
def test_killed_while_it_saves_a_run_that_leaves_the_run_leaves_without_its_state(pool: Pool) -> None:
    run = long_run(pool, seed=seed_of("saving a run that leaves"))
    pool.steer(run.id, "pause")
    until(lambda: run.checkpointed)
    assert run.ending is None
    same_on_disk(pool, run)
    assert not (run.folder / "state.pt").exists()
    trains_again(pool)


def test_killed_while_it_stops_a_run_the_run_counts_as_stopped(pool: Pool) -> None:
    run = long_run(pool, seed=seed_of("closing a stopped run"))
    pool.stop(run.id)
    wait_end(run)
    reason = "It did not stop when asked, so its worker was ended."
    assert run.ending == Ended(run.step, "stopped", reason)
    same_on_disk(pool, run)
    trains_again(pool)
