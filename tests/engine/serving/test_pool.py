import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

import psutil
import pytest

from engine.config.run_config import RunConfig
from engine.estimate.prediction import Prediction
from engine.foundation.errors import JobError, Refused
from engine.foundation.files import DATA_VARIABLE
from engine.foundation.job import Job
from engine.foundation.visitor import Visitor
from engine.runs.events import Ended, Event, Failed, Finished, Progress, Snapshot, Started
from engine.runs.request import RunRequest
from engine.runs.retention import Retention
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.serving.host import has_system_limit
from engine.serving.limits import Limits
from engine.serving.pool import Pool
from engine.serving.processes import forked
from engine.serving.processes.child import ChildProcess
from engine.serving.processes.fork_server import ROOT
from engine.serving.processes.forked import ForkServer
from engine.serving.protocol import Steering
from engine.serving.runs import preemption
from engine.serving.runs.queued import REPEATS
from engine.settings.costs import Memory
from tests.engine import fake_training
from tests.engine.fake_training import Add, Fail, Nap, NoSuchFunction, ReadStdin, WorkerPid, config, loss_at
from tests.engine.serving.test_limits import prediction

FAKE = "tests.engine.fake_training"
LONG = 100_000  # no test waits for so many
PATIENCE = 240.0
LARGE = 1000  # seed of runs that are predicted to take much of a worker's memory


def some(config: RunConfig) -> Prediction:
    """Four mebibytes, but for the runs above."""
    memory = Memory(2**20, 2**20, 2**20, saved=2**30 if config.seed == LARGE else 2**20, scores=0)
    return prediction(memory, 100.0, 0.0)


@contextmanager
def pool_of(folder: Path, size: int = 1, training: str = FAKE, **limits: Any) -> Iterator[Pool]:
    allowed = Limits.model_validate({"steps": LONG, **limits})
    with Pool(Runs(folder), allowed, size, training=training, predict=some) as pool:  # type: ignore[arg-type]
        assert pool.wait_until_ready(PATIENCE)
        yield pool


@pytest.fixture(scope="module")
def long_lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    with pool_of(tmp_path_factory.mktemp("runs"), worker_memory="2GiB") as pool:
        yield pool


@pytest.fixture
def one(long_lived: Pool) -> Iterator[Pool]:
    """A pool of one worker, without anything left of the tests before."""
    yield long_lived
    for run in long_lived.runs.live():
        wait_stopped(long_lived, run)
    until(lambda: not any(worker.runs for worker in long_lived.health().workers))


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Pool]:
    with pool_of(tmp_path, size=2, grace_seconds=1.5) as pool:
        yield pool


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


def wait_end(run: Run) -> Run:
    until(lambda: not run.live)
    return run


def written_once(run: Run) -> None:
    """Check that each event of a run is on the disk once, in order, as in memory."""
    written = list(run.files.read_events())
    assert steps_of(run) == [event.step for event in written if isinstance(event, Progress)]
    assert steps_of(run) == list(range(1, run.step + 1))
    steps = [event.step for event in written if isinstance(event, Snapshot)]
    assert steps == sorted(set(steps))
    assert [isinstance(event, Started) for event in written].count(True) == 1


def steps_of(run: Run) -> list[int]:
    return [event.step for event in run.events if isinstance(event, Progress)]


def long_run(pool: Pool, seconds_per_step: float = 0.002, seed: int = 0, **how: Any) -> Run:
    """A run that has begun and does not end by itself."""
    run = pool.submit(RunRequest(config(LONG, seconds_per_step, seed), **how))
    until(lambda: run.step > 0)
    return run


def wait_stopped(pool: Pool, run: Run) -> Run:
    pool.stop(run.id)
    return wait_end(run)


def hangs(pool: Pool, run: Run) -> bool:
    """True if the worker of a run whose seed is HANGS takes no command any more."""
    return run.step == 2 and fake_training.hang_note(pid_of(pool, run)).exists()


def pid_of(pool: Pool, run: Run) -> int:
    return next(worker.pid for worker in pool.health().workers if run.id in worker.runs)


# Runs


def test_a_run_finishes_with_every_event_in_order_and_another_runs_finds_it(one: Pool) -> None:
    run = wait_end(one.submit(RunRequest(config(500, seed=fake_training.SHOUTS), visitor=Visitor("me"))))
    assert run.state == "finished"
    assert steps_of(run) == list(range(1, 501)), "what it prints does not reach the pipe"
    assert [e.loss for e in run.events if isinstance(e, Progress)] == [loss_at(run.config, n) for n in range(1, 501)]
    assert run.queue_position is None
    found = Runs(one.runs.folder).get(run.id)
    assert (found.state, found.config, steps_of(found)) == ("finished", run.config, steps_of(run))


def test_pause_stands_still_with_a_snapshot_a_step_is_exactly_one_and_resume_goes_on(one: Pool) -> None:
    run = long_run(one)
    one.steer(run.id, "pause")
    until(lambda: run.state == "paused")
    step, health = run.step, one.health()
    assert (health.size, health.ready, health.running, health.paused, health.queued) == (1, 1, 0, 1, 0)
    assert health.workers[0].memory > 2**20
    assert isinstance(run.events[-1], Snapshot)
    assert run.events[-1].step == step
    assert one.ask(Add(1, 2)) == 3, "the worker is awake"
    assert run.step == step
    for _ in range(3):
        before, count = run.step, len(run.events)
        one.steer(run.id, "step")
        until(lambda: len(run.events) >= count + 2)  # noqa: B023 called at once
        one.ask(Add(1))  # anything more would have come before its answer
        assert [(type(e), e.step) for e in run.events[count:]] == [(Progress, before + 1), (Snapshot, before + 1)]
        assert run.state == "paused"
    one.steer(run.id, "resume")
    until(lambda: run.step > step + 3)
    assert (run.state, one.health().running) == ("running", 1)
    assert wait_stopped(one, run).ending == Ended(run.step, "stopped")
    assert steps_of(run) == list(range(1, run.step + 1))
    until(lambda: one.health().running == one.health().paused == 0)


def test_an_exception_is_one_sentence_and_the_worker_goes_on(one: Pool) -> None:
    other = long_run(one)
    run = wait_end(one.submit(RunRequest(config(10, seed=fake_training.RAISES))))
    assert run.state == "failed"
    assert run.ending == Failed(2, "An error ended it (RuntimeError: the weights fell over).")
    assert other.live


def test_commands_for_runs_that_are_over_or_unknown_do_nothing(one: Pool) -> None:
    run = wait_end(one.submit(RunRequest(config(3))))
    for run_id in (run.id, "x" * 16):
        for action in get_args(Steering):
            one.steer(run_id, action, pace=2.0)
        one.stop(run_id)
    assert (one.ask(Add(2, b=3)), run.state) == (5, "finished")


def test_many_threads_submit_and_ask_at_once(one: Pool) -> None:
    with ThreadPoolExecutor(16) as threads:
        runs = [threads.submit(one.submit, RunRequest(config(30, seed=seed))) for seed in range(40)]
        jobs = [threads.submit(one.ask, Add(n, n)) for n in range(40)]
        assert [job.result() for job in jobs] == [2 * n for n in range(40)]
    for future in runs:
        run = wait_end(future.result())
        assert run.state == "finished"
        assert [(e.step, e.loss) for e in run.events if isinstance(e, Progress)] == [
            (step, loss_at(run.config, step)) for step in range(1, 31)
        ], "those that it has alone"


# Jobs


@pytest.mark.parametrize(
    ("job", "sentence"),
    [
        (Fail(), "An error ended it (KeyError: 'nothing of that name')."),
        (NoSuchFunction(), "no_such_function"),
    ],
)
def test_a_job_that_fails_says_so_in_one_sentence(one: Pool, job: Job[None], sentence: str) -> None:
    with pytest.raises(JobError) as caught:
        one.ask(job)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    assert one.ask(ReadStdin()) == "", "a job may print, and reads nothing"


def test_a_job_whose_worker_dies_says_so(tmp_path: Path) -> None:
    with pool_of(tmp_path) as pool, ThreadPoolExecutor(1) as thread:
        pid = pool.ask(WorkerPid())
        job = thread.submit(pool.ask, Nap(3600), timeout=PATIENCE)
        until(lambda: any(worker.job is not None and worker.job.begun_at for worker in pool.health().workers))
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(JobError, match=r"^Its worker process ended unexpectedly \(signal 9\)\.$"):
            job.result()


# Death


def test_a_run_that_was_never_saved_goes_on_from_its_beginning_when_its_worker_is_killed(two: Pool) -> None:
    first, second = (long_run(two, 0.01) for _ in range(2))
    until(lambda: first.step > 20)
    step, killed = first.step, pid_of(two, first)
    assert killed != pid_of(two, second)
    os.kill(killed, signal.SIGKILL)
    until(lambda: first.setback != "")
    assert first.setback == f"Its worker process ended unexpectedly (signal 9). {REPEATS}"
    until(lambda: first.step > step + 20)
    assert (first.setback, second.state) == ("", "running")
    wait_stopped(two, first)
    written_once(first)
    step = second.step
    until(lambda: second.step > step)
    assert two.wait_until_ready(PATIENCE)
    assert killed not in [worker.pid for worker in two.health().workers]
    assert not psutil.pid_exists(killed), "no zombie"
    again = long_run(two)
    assert pid_of(two, again) != pid_of(two, second)
    assert steps_of(second) == list(range(1, len(steps_of(second)) + 1))


def test_a_worker_that_is_stopped_from_outside_costs_its_runs_nothing(tmp_path: Path) -> None:
    with pool_of(tmp_path, silent_seconds=1.0) as pool:
        runs = [long_run(pool, 0.01), long_run(pool, 0.01)]
        steps, frozen = [run.step for run in runs], pid_of(pool, runs[0])
        os.kill(frozen, signal.SIGSTOP)
        until(lambda: all(run.step > step + 20 for run, step in zip(runs, steps, strict=True)))
        assert not psutil.pid_exists(frozen)
        for run in runs:
            wait_stopped(pool, run)
            written_once(run)


def test_a_killed_fork_server_costs_no_run_and_no_question(tmp_path: Path, cold: ForkServer) -> None:
    with pool_of(tmp_path) as pool:
        run, first = long_run(pool), cold.pid
        os.kill(first, signal.SIGKILL)
        until(lambda: not psutil.pid_exists(first) or psutil.Process(first).status() == psutil.STATUS_ZOMBIE)
        assert pool.ask(Add(1, 2), timeout=PATIENCE) == 3
        step = run.step
        until(lambda: run.step > step)
        assert cold.pid != first


def test_a_run_that_hangs_is_stopped_by_force_after_the_grace_time(two: Pool) -> None:
    hung = two.submit(RunRequest(config(10, 0.2, fake_training.HANGS)))
    other = long_run(two)
    until(lambda: hangs(two, hung))
    two.stop(hung.id)
    wait_end(hung)
    assert hung.state == "stopped"
    assert "did not" in hung.ending.reason  # type: ignore[union-attr]
    step = other.step
    until(lambda: other.step > step)
    run = long_run(two, seed=fake_training.HANGS_IN_THE_END)
    assert wait_stopped(two, run).state == "stopped", "one that hangs while it closes, too"
    assert two.wait_until_ready(PATIENCE)


def test_a_silent_run_is_ended_and_its_neighbour_goes_on_and_is_told_why(tmp_path: Path) -> None:
    with pool_of(tmp_path, silent_seconds=1.0) as pool:
        neighbour = long_run(pool, 0.01)
        hung = wait_end(pool.submit(RunRequest(config(10, seed=fake_training.HANGS))))
        assert hung.state == "lost"
        assert hung.ending.reason == "It did not come back for 1 s and was ended."  # type: ignore[union-attr]
        until(lambda: neighbour.setback != "")
        sentence = "Its worker was ended because something else on it did not come back for 1 s."
        assert neighbour.setback == f"{sentence} {REPEATS}"
        until(lambda: neighbour.setback == "")
        assert pool.wait_until_ready(PATIENCE)


def assert_ended_for_its_memory(run: Run) -> None:
    assert run.state == "lost"
    assert re.match("It used .* of memory, where .* are allowed", run.ending.reason)  # type: ignore[union-attr]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps such a limit")
def test_a_run_that_takes_too_much_memory_fails_and_a_worker_that_takes_it_unseen_is_ended(tmp_path: Path) -> None:
    """The worker that owns a CUDA GPU has no limit of the operating system: there such a run is lost, with its worker."""

    def too_large(seed: int) -> Run:
        return wait_end(pool.submit(RunRequest(config(LONG, 0.01, seed=seed))))

    with pool_of(tmp_path, worker_memory="600MiB") as pool:
        if has_system_limit("runs", pool.health().device):
            neighbour = long_run(pool)
            failed = Failed(2, "The machine ran out of memory; a smaller batch_size or seq_len needs less.")
            assert too_large(fake_training.GROWS).ending == failed
            step = neighbour.step
            until(lambda: neighbour.step > step)
            wait_stopped(pool, neighbour)
        else:
            assert_ended_for_its_memory(too_large(fake_training.GROWS))
        assert_ended_for_its_memory(too_large(fake_training.SHARES))
        assert pool.wait_until_ready(PATIENCE)


def test_a_worker_that_hangs_idle_is_replaced_and_its_run_goes_to_another(two: Pool) -> None:
    hung = [worker.pid for worker in two.health().workers if worker.role == "runs"]
    for pid in hung:
        os.kill(pid, signal.SIGSTOP)
    runs = [two.submit(RunRequest(config(20))) for _ in range(3)]
    stopped = two.submit(RunRequest(config(LONG)))
    two.stop(stopped.id)
    assert [wait_end(run).state for run in runs] == ["finished"] * 3
    assert [steps_of(run) for run in runs] == [list(range(1, 21))] * 3
    assert wait_end(stopped).ending == Ended(0, "stopped", "It was stopped before it started.")
    until(lambda: not any(map(psutil.pid_exists, hung)))


# Processes of their own


def test_a_large_run_has_a_process_of_its_own_that_ends_with_it(one: Pool) -> None:
    neighbour, large = long_run(one), long_run(one, seed=LARGE)
    pid = pid_of(one, large)
    assert pid != pid_of(one, neighbour)
    assert psutil.Process(pid).nice() > psutil.Process(pid_of(one, neighbour)).nice(), "it gives way to many"
    assert [worker.role for worker in one.health().workers if large.id in worker.runs] == ["dedicated"]
    wait_stopped(one, large)
    until(lambda: not psutil.pid_exists(pid))
    assert neighbour.live


def test_large_runs_wait_in_the_queue_until_there_is_memory_for_their_processes(one: Pool) -> None:
    first = long_run(one, seed=LARGE)
    second = one.submit(RunRequest(config(5, seed=LARGE)))
    assert wait_end(one.submit(RunRequest(config(5)))).state == "finished"
    assert (second.state, second.queue_position) == ("queued", 1)
    wait_stopped(one, first)
    assert wait_end(second).state == "finished"


def test_a_run_that_is_stopped_before_its_process_is_ready_leaves_none(one: Pool) -> None:
    run = one.submit(RunRequest(config(5, seed=LARGE)))
    until(lambda: any(worker.role == "dedicated" for worker in one.health().workers))
    one.stop(run.id)
    assert wait_end(run).state == "stopped"
    until(lambda: all(worker.role != "dedicated" for worker in one.health().workers))


# Queue, refusals, alone


def test_runs_go_to_the_worker_with_the_fewest_and_workers_leave_the_cores_to_the_pages(two: Pool) -> None:
    runs = [long_run(two) for _ in range(4)]
    pids = [pid_of(two, run) for run in runs]
    assert sorted(pids.count(pid) for pid in set(pids)) == [2, 2]
    assert all(psutil.Process(pid).nice() > psutil.Process().nice() for pid in pids)


def test_refused_runs_leave_nothing_behind(tmp_path: Path) -> None:
    with pool_of(tmp_path, steps=50, runs_per_visitor=2, runs_per_worker=1, queue_length=2) as pool:
        with pytest.raises(Refused, match=r"^steps is 51; this host allows at most 50\.$"):
            pool.submit(RunRequest(config(51)))
        assert not list(tmp_path.iterdir())
        mine = [pool.submit(RunRequest(config(50, 1.0), visitor=Visitor("me"))) for _ in range(2)]
        with pytest.raises(Refused, match=r"^You have 2 runs going, and this host allows 2 at once\."):
            pool.submit(RunRequest(config(5), visitor=Visitor("me")))
        pool.submit(RunRequest(config(5), visitor=Visitor("you")))
        with pytest.raises(Refused, match=r"^2 runs are waiting already"):
            pool.submit(RunRequest(config(5), visitor=Visitor("you")))
        assert len(list(tmp_path.iterdir())) == 3
        pool.stop(mine[1].id)
        pool.submit(RunRequest(config(5), visitor=Visitor("me")))


def test_thrown_away_cookies_of_one_address_do_not_fill_the_queue(tmp_path: Path) -> None:
    with pool_of(tmp_path, runs_per_worker=1, queue_length=8) as pool:
        going = long_run(pool)

        def submit(visitor: Visitor, *, trial: bool = False) -> Run:
            return pool.submit(RunRequest(config(5), visitor, trial=trial))

        for number in range(4):
            submit(Visitor(f"cookie {number}", "10.0.0.1"), trial=number % 2 == 0)
        for trial in (True, False):
            with pytest.raises(Refused, match=r"^4 runs from your network address are waiting already"):
                submit(Visitor("one more", "10.0.0.1"), trial=trial)
        anna = submit(Visitor("anna", "10.0.0.2"))
        assert anna.queue_position == 2, "behind the first of them only"
        wait_stopped(pool, going)
        assert wait_end(anna).state == "finished"


def test_a_run_that_was_told_to_stop_leaves_its_place_to_the_next_one_at_once(tmp_path: Path) -> None:
    with pool_of(tmp_path, runs_per_visitor=1) as pool:
        first = long_run(pool, 0.5, visitor=Visitor("me"))
        pool.stop(first.id)
        assert first.live, "it is in the middle of a step"
        assert wait_end(pool.submit(RunRequest(config(5), visitor=Visitor("me")))).state == "finished"
        assert first.state == "stopped"


class SlowDisk(Runs):
    """A store that waits until :attr:`go_on` is set before it writes its first folder, or its first ending."""

    def __init__(self, folder: Path, slow: Literal["folder", "ending"] = "folder") -> None:
        super().__init__(folder)
        self.slow, self.writing, self.go_on = slow, threading.Event(), threading.Event()

    def write_slowly(self) -> None:
        if not self.writing.is_set():
            self.writing.set()
            self.held_up_nobody = self.go_on.wait(PATIENCE)

    def create(self, config: RunConfig, owner: str = "", request: RunRequest | None = None) -> Run:
        if self.slow == "folder":
            self.write_slowly()
        run = super().create(config, owner, request)
        append = run.append

        def append_slowly(events: Sequence[Event], state: Literal["running", "paused"] | None = None) -> None:
            if self.slow == "ending" and any(isinstance(event, Ended) for event in events):
                self.write_slowly()
            append(events, state)

        run.append = append_slowly  # type: ignore[method-assign]
        return run


def resting(runs: Runs, **limits: int) -> Pool:
    return Pool(runs, Limits(**limits), 1, training=FAKE, predict=some)  # type: ignore[arg-type]


def test_a_slow_disk_holds_up_neither_another_submit_nor_a_look_at_the_pool(tmp_path: Path) -> None:
    runs = SlowDisk(tmp_path)
    pool = resting(runs, runs_per_visitor=2)
    with ThreadPoolExecutor() as threads:
        slow = threads.submit(pool.submit, RunRequest(config(5), visitor=Visitor("me")))
        assert runs.writing.wait(PATIENCE)
        quick = pool.submit(RunRequest(config(5), visitor=Visitor("me")))
        assert (quick.queue_position, pool.health().queued) == (1, 1)
        with pytest.raises(Refused, match=r"^You have 2 runs going"):  # the run that is being saved counts
            pool.submit(RunRequest(config(5), visitor=Visitor("me")))
        pool.stop(quick.id)
        assert quick.state == "stopped"
        runs.go_on.set()
        assert slow.result().queue_position == 1
    assert runs.held_up_nobody
    pool.close()


def test_a_run_that_the_disk_refuses_keeps_no_place(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("no folder")
    pool = resting(Runs(tmp_path / "runs"), runs_per_visitor=1)
    for _ in range(2):
        with pytest.raises(Refused, match=r"^The run cannot be saved: "):
            pool.submit(RunRequest(config(5), visitor=Visitor("me")))
    pool.close()


def test_a_run_is_refused_with_the_remedy_where_the_data_folder_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").write_text("no folder")
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    pool = resting(Runs())
    with pytest.raises(Refused, match=rf"^The data folder {tmp_path / 'data'} .*; set {DATA_VARIABLE} to a folder"):
        pool.submit(RunRequest(config(5), visitor=Visitor("me")))
    pool.close()


def test_a_run_whose_folder_is_written_while_the_pool_closes_is_lost(tmp_path: Path) -> None:
    runs = SlowDisk(tmp_path)
    pool = resting(runs)
    with ThreadPoolExecutor() as threads:
        slow = threads.submit(pool.submit, RunRequest(config(5)))
        assert runs.writing.wait(PATIENCE)
        pool.close()
        runs.go_on.set()
        with pytest.raises(Refused, match="closing"):
            slow.result()
    [run] = runs.recent()
    assert run.state == "lost"


@pytest.mark.parametrize("end", ["stopped", "killed"])
def test_an_ending_that_is_slow_to_write_holds_up_nobody(
    tmp_path: Path, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preemption, "MAX_RETURNS", 0)
    runs = SlowDisk(tmp_path, "ending")
    pool = resting(runs)
    with ThreadPoolExecutor() as threads:
        if end == "stopped":
            run = pool.submit(RunRequest(config(5)))
            threads.submit(pool.stop, run.id)
        else:
            pool.start()
            assert pool.wait_until_ready(PATIENCE)
            run = pool.submit(RunRequest(config(1000, 1.0), trial=True))
            until(lambda: bool(run.events))
            psutil.Process(pid_of(pool, run)).kill()
        assert runs.writing.wait(PATIENCE)
        assert pool.health().size == 1
        pool.submit(RunRequest(config(5)))
        runs.go_on.set()
        wait_end(run)
    assert runs.held_up_nobody
    pool.close()


def test_a_submitted_run_is_predicted_once(tmp_path: Path) -> None:
    configs, request = list[RunConfig](), RunRequest(config(5))
    pool = Pool(Runs(tmp_path), training=FAKE, predict=lambda config: configs.append(config) or some(config))  # type: ignore[arg-type, func-returns-value]
    assert [pool.submit(request).config] == configs == [request.config]
    pool.close()


# Life


def test_closing_ends_every_process_and_keeps_the_runs(tmp_path: Path) -> None:
    with pool_of(tmp_path, size=2, runs_per_worker=1) as pool:
        runs = [long_run(pool), long_run(pool), pool.submit(RunRequest(config(5)))]
        pids = [worker.pid for worker in pool.health().workers]
    assert len(pids) >= 2
    assert not any(map(psutil.pid_exists, pids)), "neither process nor zombie"
    assert {(run.state, run.checkpointed) for run in runs} == {("paused", True)}
    pool.close()
    with pytest.raises(Refused, match="closing"):
        pool.submit(RunRequest(config(5)))
    with pytest.raises(JobError, match="closing"):
        pool.ask(Add(1))
    again = Runs(tmp_path)
    for run in runs:
        found = again.get(run.id)
        assert (found.checkpointed, found.step) == (True, run.step)


def test_closing_does_not_wait_for_a_run_that_hangs(tmp_path: Path) -> None:
    with pool_of(tmp_path) as pool:
        run = pool.submit(RunRequest(config(10, 0.2, fake_training.HANGS)))
        until(lambda: hangs(pool, run))
        pid = pid_of(pool, run)
    assert not psutil.pid_exists(pid)


def test_closing_beside_workers_and_a_fork_server_that_stand_still_loses_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cold: ForkServer
) -> None:
    monkeypatch.setattr(forked, "TELLS_WITHIN", PATIENCE)
    with pool_of(tmp_path, size=2) as pool:
        runs = [long_run(pool, 0.01) for _ in range(4)]
        workers = pool.health().workers
        pids = [pid_of(pool, runs[0]), cold.pid]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
    wait_for_end(pids[0])  # nobody is left who waits for it: its parent was killed
    assert all(worker.process.wait(0) for worker in workers), "none is waited for any more"
    assert [run.checkpointed for run in runs] == [True] * 4
    with pool_of(tmp_path) as pool:
        pool.take_up()
        for run in runs:
            again = pool.runs.get(run.id)
            until(lambda: again.step > run.step)  # noqa: B023 called at once
            wait_stopped(pool, again)
            written_once(again)


def test_old_runs_are_deleted_while_the_supervisor_goes_on(tmp_path: Path) -> None:
    deleting, go_on = threading.Event(), threading.Event()

    class SlowToDelete(Runs):
        def prune(self, allowed: Retention) -> None:
            deleting.set()
            go_on.wait(PATIENCE)

    pool = Pool(SlowToDelete(tmp_path), Limits(silent_seconds=1.0), 1, training=FAKE, predict=some)  # type: ignore[arg-type]
    with pool:
        assert deleting.wait(PATIENCE)
        assert wait_end(pool.submit(RunRequest(config(10, seed=fake_training.HANGS)))).state == "lost"
        go_on.set()


# a server without pages, which ends when its input ends
APP = """
import sys
from pathlib import Path
from engine.foundation.visitor import Visitor
from engine.serving.limits import Limits
from engine.runs.request import RunRequest
from engine.runs.store import Runs
from engine.serving.pool import Pool
from engine.serving.processes import forked
from tests.engine.fake_training import config
from tests.engine.serving.test_limits import predict
forked.WARM = ()  # it trains without torch
limits = Limits(steps=10**6, runs_per_worker=2)
pool = Pool(Runs(Path(sys.argv[1])), limits, 1, training=sys.argv[2], predict=predict)
pool.start()
pool.wait_until_ready(60)
me = Visitor("me")
runs = [pool.submit(RunRequest(config(2000), me, pace=8.0, trial=trial)) for trial in (False, True)]
for run in runs:
    run.wait_for(5)
waits = pool.submit(RunRequest(config(20), me))
print(*(run.id for run in (*runs, waits)), pool.health().workers[0].pid, flush=True)
sys.stdin.read()
assert "torch" not in sys.modules
"""


@contextmanager
def app_on(folder: Path) -> Iterator[tuple[subprocess.Popen[str], list[str], int]]:
    """A process that trains here, its run, its trial and its run that waits, and its worker."""
    command, pipe = [sys.executable, "-c", APP, str(folder), "tests.engine.saved_often"], subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as app:
        *runs, pid = app.stdout.readline().split()
        yield app, runs, int(pid)
        app.communicate(timeout=PATIENCE)


def wait_for_end(pid: int) -> None:
    until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


def test_when_the_app_is_killed_its_workers_go_and_its_runs_go_on_after_the_next_start(tmp_path: Path) -> None:
    with app_on(tmp_path) as (app, (run_id, trial_id, waits_id), pid):
        until(lambda: (tmp_path / run_id / "state.pt").exists())
        app.kill()
    wait_for_end(pid)
    trial = Runs(tmp_path).get(trial_id)
    assert trial.state == "lost"
    assert steps_of(trial) == list(range(1, trial.step + 1)) != []
    with pool_of(tmp_path) as pool:
        pool.take_up()
        run = pool.runs.get(run_id)
        assert run.state in ("queued", "running")
        pool.steer(run_id, "set pace")
        for begun, steps in ((run, 2000), (pool.runs.get(waits_id), 20)):
            assert isinstance(wait_end(begun).ending, Finished)
            assert steps_of(begun) == list(range(1, steps + 1))
            written_once(begun)


def test_workers_that_cannot_start_are_reported(tmp_path: Path) -> None:
    with Pool(Runs(tmp_path), Limits(), 1, training="no.such.module", predict=some) as pool:  # type: ignore[arg-type]
        until(lambda: pool.health().problem != "")
        assert pool.submit(RunRequest(config(5))).queue_position == 1


def test_a_look_at_the_pool_waits_for_no_look_at_a_process(one: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    looking, go_on, held_up_nobody = threading.Event(), threading.Event(), list[bool]()

    def slowly(_: object) -> int:
        looking.set()
        held_up_nobody.append(go_on.wait(PATIENCE))
        return 0

    monkeypatch.setattr(ChildProcess, "memory", slowly)
    assert looking.wait(PATIENCE)
    assert one.health().ready == 1
    go_on.set()
    until(lambda: bool(held_up_nobody))
    assert held_up_nobody[0]
