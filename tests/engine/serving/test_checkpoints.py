"""Checkpointed runs: their slot is free, and they come back as they were, also after a restart. Most of it is played without
processes: the test speaks for the workers."""

import os
import re
import signal
import time
from pathlib import Path
from threading import Event as Signal
from threading import RLock
from types import SimpleNamespace
from typing import Any, cast

import pytest

from engine.estimate.device import DeviceFacts
from engine.foundation.errors import Refused
from engine.foundation.visitor import Visitor
from engine.runs.events import Ended, Finished, Progress
from engine.runs.record_options import RecordOptions
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.saved_request import read_request
from engine.runs.store import Runs
from engine.serving.allowances import Allowances
from engine.serving.limits import Limits
from engine.serving.pool import NOT_YOURS, Pool
from engine.serving.processes.machines import Machine
from engine.serving.processes.process import KillReason, Slot, WorkerProcess
from engine.serving.protocol import Control, RunUpdate, Start
from engine.serving.runs import preemption
from engine.serving.runs.checkpoints import WAITS, Checkpoints
from engine.serving.runs.preemption import MAX_RETURNS, PAUSED_FOR, WAITS_FOR
from engine.serving.runs.presence import AWAY_SECONDS, Presence
from engine.serving.runs.queue import RunQueue
from engine.serving.runs.queued import REPEATS, QueuedRun
from engine.training.train import train
from tests.engine.fake_training import config
from tests.engine.full_disk import full
from tests.engine.serving.test_limits import predict
from tests.engine.serving.test_pool import (
    FAKE,
    LONG,
    long_run,
    pid_of,
    pool_of,
    resting,
    until,
    wait_end,
    written_once,
)  # fmt: skip
from tests.engine.serving.test_worker import NOISY, numbers

ME, YOU = Visitor("me"), Visitor("you")


class Silent:
    """A process that does nothing, and keeps the messages to it."""

    pid, address = 1, ""

    def __init__(self, *_: object) -> None:
        self.sent: list[Any] = []
        self.send = self.sent.append

    def kill(self) -> None: ...

    def is_stopped(self) -> bool:
        return False

    def end_in_words(self) -> str:
        return "signal 9"


def worker_of(number: int) -> WorkerProcess:
    machine = Machine(1, 2**30, Silent)  # type: ignore[arg-type]
    worker = WorkerProcess(Slot("runs", number), machine, FAKE, 2**30, lambda *_: None, lambda _: None)
    worker.become_ready(DeviceFacts(), 0)
    return worker


class Stand:
    """Runs, their queue and two workers with one slot each, without a process. Its time is that of :meth:`update`."""

    def __init__(self, folder: Path, *, workers: int = 2, **limits: int) -> None:
        allowed = Limits.model_validate({"steps": LONG, "runs_per_worker": 1, **limits})
        self.here, self.runs, self.workers = {"me", "you"}, Runs(folder), [worker_of(n) for n in range(workers)]
        self.closing = Signal()
        supervisor = cast(
            Any, SimpleNamespace(lock=RLock(), closing=self.closing, limits=allowed, workers=self.workers)
        )
        self.allowances, presence = Allowances(allowed), Presence(self.here.__contains__)
        self.queue = RunQueue(supervisor, self.allowances, presence)
        self.checkpoints = Checkpoints(supervisor, self.runs, self.queue, presence, predict)
        self.passed = 0.0

    def submit(self, visitor: Visitor = ME, **how: Any) -> QueuedRun:
        request = RunRequest(config(LONG), visitor, **how)
        release = self.queue.admit(request)
        run = self.runs.create(request.config, visitor.id, request)
        queued = QueuedRun(run, request, predict(request.config), release)
        self.queue.add(queued)
        return queued

    def going(self, visitor: Visitor = ME, **how: Any) -> QueuedRun:
        queued = self.submit(visitor, **how)
        self.says(queued, "running", [Progress(1, 1.0, 1.0, 0.01, 1000.0)])
        return queued

    def paused(self, visitor: Visitor = ME) -> QueuedRun:
        queued = self.going(visitor)
        self.control(queued, "pause")
        self.says(queued, "paused")
        return queued

    def checkpointed(self, visitor: Visitor = ME) -> Run:
        queued = self.paused(visitor)
        self.update(PAUSED_FOR + 1)
        self.says(queued, "checkpointed")
        return queued.run

    def control(self, queued: QueuedRun, action: Any) -> None:
        queued.control(Control(queued.run.id, action))
        queued.active_at += self.passed

    def says(self, queued: QueuedRun, state: Any, events: Any = ()) -> None:
        worker, _ = self.queue.find(queued.run.id)
        assert worker is not None
        self.checkpoints.take(worker, RunUpdate(queued.run.id, [*events], state))
        queued.active_at += self.passed
        queued.stays_until += self.passed

    def update(self, passed: float = 0.0) -> None:
        """Update after so many seconds."""
        self.passed += passed
        self.checkpoints.update_presence(time.monotonic() + self.passed)

    def was_sent(self, run: Run) -> list[str | None]:
        """The messages to the workers about a run; its last step at a start."""
        sent = [one for worker in self.workers for one in cast(Any, worker.process).sent]
        of_run = [one for one in sent if isinstance(one, Start | Control) and one.run_id == run.id]
        return [f"start at {one.known_step}" if isinstance(one, Start) else one.action for one in of_run]

    def dies(self, queued: QueuedRun) -> None:
        """End the run's worker, and let another one come."""
        worker, _ = self.queue.find(queued.run.id)
        assert worker is not None
        self.workers.remove(worker)
        self.checkpoints.move_runs_of(worker, closing=self.closing.is_set())()
        self.workers.append(worker_of(worker.slot.number))
        self.queue.dispatch()


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    return Stand(tmp_path)


def test_a_run_that_stands_still_gives_its_place_to_the_next_one(stand: Stand) -> None:
    still, _, waits = stand.paused(), stand.going(YOU), stand.submit(YOU)
    stand.update(3.0)
    assert stand.was_sent(still.run) == ["start at None", "checkpoint"]
    assert waits.run.queue_position == 1
    stand.says(still, "checkpointed")
    assert (still.run.state, still.run.checkpointed, stand.allowances.count("run", ME)) == ("paused", True, 0)
    assert stand.was_sent(waits.run) == ["start at None"]


def test_what_is_asked_while_it_leaves_brings_it_back_at_once(stand: Stand) -> None:
    run = stand.paused()
    for action, then in (("step", ["step", "step"]), ("resume", [])):
        stand.update(PAUSED_FOR + 1)
        before = len(stand.was_sent(run.run))
        for _ in range(2):
            stand.control(run, action)
        stand.says(run, "checkpointed")
        assert stand.was_sent(run.run)[before:] == [f"start at {run.run.step}", *then]
        assert not run.run.checkpointed
        stand.says(run, "paused", [Progress(step, 1.0, 1.0, 0.01, 1000.0) for step in (2, 3)])
    assert stand.allowances.count("run", ME) == 1


def test_what_is_stopped_while_it_leaves_has_ended(stand: Stand) -> None:
    run = stand.paused()
    stand.update(PAUSED_FOR + 1)
    run.stop()
    stand.says(run, "checkpointed")
    assert run.run.ending == Ended(1, "stopped")
    assert not (run.run.folder / "request.json").exists()


def test_where_the_disk_does_not_take_it_a_run_stays_and_is_asked_again_later(stand: Stand) -> None:
    run = stand.paused()
    for seconds, requests in ((PAUSED_FOR + 1, 1), (0, 1), (PAUSED_FOR + 1, 2)):
        stand.update(seconds)
        assert stand.was_sent(run.run).count("checkpoint") == requests
        if run.leaving:
            stand.says(run, "unsaved")
    assert (run.run.state, run.run.checkpointed) == ("paused", False)


def test_who_has_left_makes_room_and_finds_his_run_going_when_he_is_back(tmp_path: Path) -> None:
    stand = Stand(tmp_path, workers=3)
    stepped, mine, _, waits = stand.paused(), stand.going(), stand.going(YOU), stand.submit(YOU)
    stand.control(stepped, "step")
    stand.update()
    stand.here.discard("me")
    stand.update()
    stand.update(AWAY_SECONDS + 1)
    assert [stand.was_sent(queued.run) for queued in (mine, waits)] == [["start at None", "checkpoint"], []]
    stand.says(mine, "checkpointed")
    assert mine.run.checkpointed, "it does not wait: nobody waits for it"
    assert stand.was_sent(waits.run) == ["start at None"]
    stand.says(stepped, "paused", [Progress(2, 1.0, 1.0, 0.01, 1000.0)])
    stand.update(PAUSED_FOR + 1)
    stand.says(stepped, "checkpointed")
    later = Stand(tmp_path, workers=3)
    for server in (later, stand):
        server.here.discard("me")
        server.checkpoints.take_up() if server is later else None
        server.update()
        assert server.queue.find(mine.run.id) == (None, None)
        server.here.add("me")
        server.update()
        assert "start at 1" in server.was_sent(mine.run)
        assert server.queue.find(stepped.run.id) == (None, None), "else it trains to its end"


def test_a_crowd_gives_a_place_to_who_comes_from_elsewhere_and_queues_again(stand: Stand) -> None:
    one, two = (stand.going(Visitor(name, "10.0.0.1")) for name in ("me", "you"))
    stand.here.add("elsewhere")
    comes = stand.submit(Visitor("elsewhere", "10.0.0.2"))
    stand.update()
    stand.says(two, "checkpointed")
    assert stand.was_sent(comes.run) == ["start at None"]
    assert (one.leaving, two.run.queue_position, two.run.checkpointed) == (False, 1, False)
    stand.update()
    assert (one.leaving, comes.leaving) == (False, False), "each has one"


def test_a_run_whose_owner_has_left_the_queue_waits_again_when_he_is_back(stand: Stand) -> None:
    for _ in range(2):
        stand.going(YOU)
    mine, yours = stand.submit(), stand.submit(YOU)
    assert (mine.run.queue_position, yours.run.queue_position) == (1, 2)
    stand.here.discard("me")
    stand.update()
    stand.update(WAITS_FOR + 1)
    assert (mine.run.checkpointed, yours.run.queue_position) == (True, 1)
    assert stand.allowances.count("run", ME) == 0
    stand.here.add("me")
    stand.update()
    assert mine.run.queue_position == 1, "in his turn"


def test_who_is_back_and_has_no_room_finds_the_run_waiting_once_he_has(tmp_path: Path) -> None:
    stand = Stand(tmp_path, runs_per_visitor=1)
    mine, _, _ = stand.going(), stand.going(YOU), stand.submit(Visitor(""))
    stand.here.discard("me")
    stand.update()
    stand.update(AWAY_SECONDS + 1)
    stand.says(mine, "checkpointed")
    other = stand.submit()
    stand.here.add("me")
    stand.update()
    assert mine.run.checkpointed
    other.release()
    stand.update()
    assert mine.run.queue_position is not None


def test_a_run_whose_worker_has_ended_goes_to_another_one_until_it_may_be_what_ends_them(tmp_path: Path) -> None:
    stand = Stand(tmp_path, workers=1, runs_per_worker=2)
    run, beside = stand.going(), stand.going(YOU)
    for then in [REPEATS] * MAX_RETURNS + [WAITS]:
        stand.workers[0].begin_task(run.run.id)
        stand.dies(run)
        assert run.run.setback == f"Its worker process ended unexpectedly (signal 9). {then}"
        if then == REPEATS:
            stand.says(run, "running")
    assert (run.run.checkpointed, stand.allowances.count("run", ME)) == (True, 0)
    assert stand.was_sent(beside.run) == ["start at 1"], "it was not being computed, however often its worker ended"
    assert [one.id for one in Runs(stand.runs.folder).going()] == [beside.run.id], "nor does the next server try"


@pytest.mark.parametrize("trial", [False, True])
def test_a_run_that_its_worker_was_ended_for_is_lost_and_one_beside_it_goes_on(trial: bool, tmp_path: Path) -> None:
    stand = Stand(tmp_path, workers=1, runs_per_worker=2)
    run, beside = stand.going(trial=trial), stand.going(YOU)
    stand.workers[0].kill_for(KillReason("did not come back for 9 s", run.run.id))
    stand.dies(run)
    assert run.run.ending == Ended(1, "lost", "It did not come back for 9 s and was ended.")
    assert not (run.run.folder / "request.json").exists()
    assert (
        beside.run.setback == f"Its worker was ended because something else on it did not come back for 9 s. {REPEATS}"
    )


def test_when_the_app_closes_what_waits_and_what_its_workers_let_go_goes_on_after_the_next_start(
    tmp_path: Path,
) -> None:
    stand = Stand(tmp_path)
    mine, paused, waits, trial = stand.going(), stand.paused(YOU), stand.submit(), stand.submit(trial=True)
    stand.closing.set()
    stand.checkpoints.close_queue()()
    assert stand.checkpoints.leave_all()
    stand.says(paused, "checkpointed")
    stand.dies(mine)  # it could not be saved in time
    assert trial.run.state == "lost"
    assert [queued.run.checkpointed for queued in (mine, paused, waits)] == [True] * 3
    assert not stand.checkpoints.leave_all()
    later = Stand(tmp_path)
    later.checkpoints.take_up()
    found = {queued.run.id: queued for queued in later.queue.all_runs()}
    assert found.keys() == {mine.run.id, waits.run.id}
    assert (found[mine.run.id].run.setback, found[waits.run.id].run.setback) == (REPEATS, "")


@pytest.fixture
def checkpoint(tmp_path: Path) -> Run:
    """A checkpoint on the disk, of a run of mine."""
    Stand(tmp_path).checkpointed()
    [run] = Runs(tmp_path).recent()
    return run


def test_only_its_owner_resumes_or_stops_a_checkpoint_and_only_where_he_has_room(
    tmp_path: Path, checkpoint: Run
) -> None:
    pool = resting(Runs(tmp_path), runs_per_visitor=1)
    run = pool.runs.get(checkpoint.id)
    for act in (lambda: pool.steer(run.id, "resume", YOU), lambda: pool.stop(run.id, YOU)):
        with pytest.raises(Refused, match=re.escape(NOT_YOURS)):
            act()
    other = pool.submit(RunRequest(config(5), ME))
    with pytest.raises(Refused, match="You have 1 run going"):
        pool.steer(run.id, "resume", ME)
    assert run.checkpointed
    pool.stop(other.id, ME)
    for _ in range(5):  # from many tabs
        pool.steer(run.id, "resume", ME)
    assert (run.state, run.queue_position, pool.allowances.count("run", ME)) == ("queued", 1, 1)
    pool.close()


@pytest.mark.parametrize("waits", [False, True])
def test_a_checkpoint_can_be_stopped_also_while_it_waits_to_go_on(tmp_path: Path, checkpoint: Run, waits: bool) -> None:
    pool = resting(Runs(tmp_path))
    run = pool.runs.get(checkpoint.id)
    (run.folder / "state.pt").touch()
    if waits:
        pool.steer(run.id, "resume", ME)
    pool.stop(run.id, ME)
    assert run.ending == Ended(1, "stopped"), "it says where"
    assert Runs(tmp_path).get(run.id).state == "stopped"  # type: ignore[union-attr]
    assert not (run.folder / "state.pt").exists()
    pool.steer(run.id, "resume", ME)
    assert run.state == "stopped", "nothing brings it back"
    pool.close()


def test_what_is_asked_of_a_run_is_on_the_disk_before_the_app_ends(tmp_path: Path) -> None:
    quiet = RecordOptions(snapshots=False, memory=False)
    pool = resting(Runs(tmp_path))
    run = pool.submit(RunRequest(config(5), ME, pace=20_000.0, record=quiet))
    request = RunRequest(run.config, ME, pace=20_000.0, paused=True, record=quiet, accelerator=False)
    assert read_request(run) == request
    assert [other.id for other in Runs(tmp_path).going()] == [run.id]
    pool.steer(run.id, "pause", ME)
    found = Runs(tmp_path)
    assert (found.get(run.id).checkpointed, found.going()) == (True, [])
    pool.steer(run.id, "set pace", ME, pace=50.0)
    pool.steer(run.id, "resume", ME)
    assert [other.id for other in Runs(tmp_path).going()] == [run.id]
    assert read_request(run).pace == 50.0
    later = resting(Runs(tmp_path))
    later.steer(run.id, "set pace", ME, pace=60.0)
    assert read_request(run).pace == 60.0, "also of a checkpoint"
    for closes in (later, pool):
        closes.close()


def test_a_run_whose_request_the_disk_does_not_take_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = resting(Runs(tmp_path), runs_per_visitor=1)
    with monkeypatch.context() as patch:
        patch.setattr("engine.runs.store.write_request", full)
        for _ in range(2):
            with pytest.raises(Refused, match="No space left"):
                pool.submit(RunRequest(config(5), ME))
    assert list(tmp_path.glob("*")) == []
    assert pool.submit(RunRequest(config(5), ME)).queue_position == 1
    pool.close()


# With processes


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preemption, "PAUSED_FOR", 0.05)


def kill_worker_of(pool: Pool, run: Run) -> None:
    os.kill(pid_of(pool, run), signal.SIGKILL)


@pytest.mark.usefixtures("impatient")
def test_a_paused_run_takes_single_steps_and_goes_on_where_it_was_also_after_a_restart(tmp_path: Path) -> None:
    with pool_of(tmp_path) as pool:
        run = long_run(pool, visitor=ME)
        pool.steer(run.id, "pause", ME)
        until(lambda: run.checkpointed)
        assert pool.health().workers[0].runs == {}
        before = run.step
        pool.steer(run.id, "step", ME)
        until(lambda: run.checkpointed and run.step > before)
        assert run.step == before + 1
    with pool_of(tmp_path) as pool:
        pool.take_up()
        again = pool.runs.get(run.id)
        assert (again.state, again.checkpointed, again.step) == ("paused", True, run.step)
        pool.steer(run.id, "resume", ME)
        until(lambda: again.step > run.step + 5)
        pool.stop(run.id)
        written_once(wait_end(again))
        until(lambda: not (run.folder / "state.pt").exists())


def test_saved_now_and_then_a_run_goes_on_by_itself_when_its_worker_is_killed(tmp_path: Path) -> None:
    with pool_of(tmp_path, training="tests.engine.saved_often") as pool:
        run = pool.submit(RunRequest(config(400, 0.01), ME))
        state = run.folder / "state.pt"
        for _ in range(2):
            step = run.step
            until(lambda: state.exists() and int(state.read_text() or 0) > step)  # noqa: B023 called at once
            (run.folder / "state.pt.0.part").touch()  # the worker was just writing
            kill_worker_of(pool, run)
            until(lambda: not list(run.folder.glob("*.part")))
        assert isinstance(wait_end(run).ending, Finished)
        assert run.step == 400
        written_once(run)
        until(lambda: not state.exists())
        until(lambda: pool.allowances.count("run", ME) == 0)


@pytest.mark.usefixtures("impatient", "warm")
def test_trained_for_real_its_numbers_are_those_of_a_run_that_nothing_happened_to(tmp_path: Path) -> None:
    slow = NOISY.replace(steps=200)
    with Pool(Runs(tmp_path), Limits(), 1, training="tests.engine.saved_often_for_real") as pool:
        assert pool.wait_until_ready(120)
        run = pool.submit(RunRequest(slow, ME, paused=True))
        until(lambda: run.checkpointed)
        for step in (1, 2, 3):
            pool.steer(run.id, "step", ME)
            until(lambda: run.checkpointed and run.step == step)  # noqa: B023 called at once
        saved = (run.folder / "state.pt").stat().st_mtime_ns
        pool.steer(run.id, "resume", ME)
        until(lambda: run.step > 3 and (run.folder / "state.pt").stat().st_mtime_ns > saved)
        kill_worker_of(pool, run)
        assert wait_end(run).events[-1] == run.ending
        assert numbers(run.events) == numbers(train(slow))
        written_once(run)
