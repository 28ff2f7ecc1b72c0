"""Suspended runs: their slot is free, they come back as they were, also after a restart, and only for their owner. Runs
that go on are saved: they go on by themselves when their worker or the app has ended."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.config.run_config import RunConfig
from engine.estimate.device import DeviceChoice
from engine.estimate.prediction import Prediction
from engine.foundation.errors import Refused
from engine.foundation.visitor import Visitor
from engine.hosting.limits import Limits
from engine.runs.events import Ended, Failed, Finished, Snapshot
from engine.runs.record_options import RecordOptions
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.saved_request import read_request, saved_step_of
from engine.runs.store import Runs
from engine.training.train import train
from engine.workers.pool import Pool
from engine.workers.protocol import Steering
from engine.workers.runs import presence, queued, reports, suspended
from engine.workers.runs.queued import predicted
from engine.workers.runs.suspended import LEFT
from tests.engine.fake_training import HANGS, config
from tests.engine.full_disk import full
from tests.engine.hosting.test_limits import predict
from tests.engine.workers.test_pool import (
    FAKE,
    LONG,
    PATIENCE,
    hangs,
    long_run,
    pid_of,
    steps_of,
    until,
    wait_end,
    written_once,
)  # fmt: skip
from tests.engine.workers.test_worker import NOISY, numbers

OFTEN = "tests.engine.saved_often"
ME, YOU = Visitor("me"), Visitor("you")
Start = Callable[..., Pool]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PAUSED_FOR", "PAUSED_WHILE_OTHERS_WAIT", "LEFT_FOR", "WAITS_FOR", "TRY_BACK_EVERY"):
        monkeypatch.setattr(presence if name == "LEFT_FOR" else suspended, name, 0.05)
    monkeypatch.setattr(queued, "AGAIN_AFTER", 0.05)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a pool of one worker on the same folder, after the one before has ended."""
    pools: list[Pool] = []

    def begin(
        here: Callable[[str], bool] = lambda _: True,
        training: str = FAKE,
        predict: Callable[[RunConfig], Prediction] = predict,
        **limits: Any,
    ) -> Pool:
        for pool in pools:
            pool.close()
        allowed = Limits.model_validate({"steps": LONG, **limits})
        pool = Pool(Runs(tmp_path), allowed, 1, training=training, predict=predict, here=here)
        pool.start()
        pools.append(pool)
        assert pool.wait_until_ready(PATIENCE)
        return pool

    yield begin
    for pool in pools:
        pool.close()


def away(pool: Pool, steps: int = 200, seconds_per_step: float = 0.004, **how: Any) -> Run:
    """A run of mine that was paused and suspended."""
    run = pool.submit(RunRequest(config(steps, seconds_per_step), ME, **how))
    until(lambda: run.step >= 3)
    pool.steer(run.id, "pause", ME)
    until(lambda: run.suspended)
    return run


@contextmanager
def unread(state: Path) -> Iterator[Callable[[], bool]]:
    """Whoever reads the state waits for ever. Gives whether somebody does."""
    aside = state.rename(state.with_name("aside"))
    os.mkfifo(state)
    ends = list[int]()

    def is_read() -> bool:
        with suppress(OSError):  # nobody reads
            ends.append(os.open(state, os.O_WRONLY | os.O_NONBLOCK))
        return bool(ends)

    yield is_read
    for end in ends:
        os.close(end)
    aside.replace(state)


def wait_whole(run: Run) -> None:
    """Wait until the run has ended; it has every step once."""
    assert isinstance(wait_end(run).ending, Finished)
    assert steps_of(run) == list(range(1, run.config.steps + 1))


def kill_worker_of(pool: Pool, run: Run) -> None:
    os.kill(pid_of(pool, run), signal.SIGKILL)


def test_a_paused_run_gives_its_slot_back_takes_single_steps_and_goes_on_where_it_was(start: Start) -> None:
    pool = start(runs_per_worker=1)
    run = away(pool)
    assert (run.state, pool.health().workers[0].runs) == ("paused", {})
    until(lambda: pool.allowances.count("run", ME) == 0)
    other = pool.submit(RunRequest(config(5), YOU))
    assert isinstance(wait_end(other).ending, Finished)
    before = run.step
    pool.steer(run.id, "step", ME)
    until(lambda: run.suspended and run.step > before)
    assert run.step == before + 1
    for _ in range(5):  # from many tabs
        pool.steer(run.id, "resume", ME)
    wait_whole(run)
    until(lambda: pool.allowances.count("run", ME) == 0)


def test_sixteen_paused_runs_do_not_keep_anybody_from_training(start: Start) -> None:
    pool = start(runs_per_worker=2)
    stepped = [pool.submit(RunRequest(config(LONG), ME, paused=True)) for _ in range(16)]
    for run in stepped:
        pool.steer(run.id, "step", ME)
    other = pool.submit(RunRequest(config(5), YOU))
    assert isinstance(wait_end(other).ending, Finished)
    until(lambda: all(run.suspended for run in stepped))
    assert [run.step for run in stepped] == [1] * 16


def test_who_leaves_while_a_run_waits_leaves_the_queue(start: Start) -> None:
    here = {ME.id, YOU.id}
    pool = start(lambda visitor: visitor in here, runs_per_worker=1)
    long_run(pool, pace=1000.0)
    mine, yours = (pool.submit(RunRequest(config(5), visitor)) for visitor in (ME, YOU))
    trial = pool.submit(RunRequest(config(5), ME, trial=True))
    assert (mine.queue_place, yours.queue_place) == (1, 2)
    here.remove(ME.id)
    until(lambda: not mine.live)
    assert mine.ending == Ended(0, "stopped", LEFT)
    until(lambda: pool.allowances.count("run", ME) == 0)
    assert (yours.queue_place, trial.queue_place) == (1, 2), "an experiment goes on without its page"


def test_a_worker_lost_before_it_reads_the_state_costs_nothing(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = start()
    run = away(pool)
    step = run.step

    def lose_the_worker(then: Steering) -> None:
        blocking = pool.submit(RunRequest(config(LONG, 0.2, HANGS), YOU))
        until(lambda: hangs(pool, blocking))
        pool.steer(run.id, then, ME)
        kill_worker_of(pool, run)
        pool.stop(blocking.id, YOU)
        wait_end(blocking)

    lose_the_worker("step")
    until(lambda: run.suspended and run.step == step + 1)
    monkeypatch.setattr(reports, "MOST_RETURNS", 0)  # the other one was being computed: this one did not end the worker
    lose_the_worker("resume")
    wait_whole(run)


def test_one_that_waits_to_go_on_is_suspended_again_where_its_owner_leaves_or_the_app_is_closed(start: Start) -> None:
    here = {ME.id}
    pool = start(lambda visitor: visitor in {*here, YOU.id}, runs_per_worker=1)
    first = away(pool)
    long_run(pool, visitor=YOU)
    pool.steer(first.id, "resume", ME)
    assert (first.state, first.queue_place) == ("queued", 1)
    here.clear()
    until(lambda: first.suspended)
    here.add(ME.id)
    until(lambda: first.queue_place == 1)
    pool = start(runs_per_worker=1)
    run = pool.runs.get(first.id)
    assert (run.state, run.suspended, run.step) == ("paused", True, first.step)
    pool.steer(run.id, "resume", ME)
    wait_whole(run)


def test_one_that_its_owner_steps_by_hand_does_not_go_on_by_itself_when_he_is_back(start: Start) -> None:
    here = {ME.id}
    pool = start(lambda visitor: visitor in {*here, YOU.id}, runs_per_worker=1)
    stepped, resumed = away(pool), away(pool)
    long_run(pool, visitor=YOU)
    pool.steer(stepped.id, "step", ME)
    pool.steer(resumed.id, "resume", ME)
    here.clear()
    until(lambda: stepped.suspended and resumed.suspended)
    here.add(ME.id)
    until(lambda: resumed.queue_place == 1)
    assert stepped.suspended, "else it trains to its end"


def test_after_a_restart_its_owner_resumes_it(start: Start) -> None:
    quiet = RecordOptions(snapshots=False, memory=False)
    first = away(start(), pace=20_000.0, record=quiet)
    pool = start()
    pool.take_up()
    run = pool.runs.get(first.id)
    assert (run.state, run.suspended, run.step) == ("paused", True, first.step)
    assert read_request(run) == RunRequest(
        first.config, ME, pace=20_000.0, paused=True, record=quiet, accelerator=False
    )
    with pytest.raises(Refused, match="somebody else"):
        pool.steer(run.id, "resume", YOU)
    pool.steer(run.id, "resume", ME)
    wait_whole(run)


@pytest.mark.parametrize("uses", [True, False])
def test_its_device_stays_as_it_was_decided_whatever_speeds_are_measured_since(start: Start, uses: bool) -> None:
    measured = [uses]

    def forecast(config: RunConfig, result_seconds: float = 0.0) -> Prediction:
        return replace(
            predict(config), device=DeviceChoice(measured[-1], why="A step is predicted to take less there.")
        )

    run = away(start(predict=forecast))
    assert read_request(run).accelerator is uses
    measured.append(not uses)
    pool = start(predict=forecast)
    pool.take_up()
    again = pool.runs.get(run.id)
    pool.steer(again.id, "resume", ME)
    until(lambda: again.step > run.step)
    assert read_request(again).accelerator is uses
    told = predicted(read_request(again), forecast, again.config).device
    assert told == DeviceChoice(uses), "without the sentence on what was compared since"
    assert predicted(RunRequest(again.config), forecast, again.config).device.accelerator is not uses


def test_one_that_went_on_repeats_the_steps_since_it_was_saved_and_none_is_there_twice(start: Start) -> None:
    pool = start()
    run = away(pool, 400, 0.01)
    step = run.step
    pool.steer(run.id, "resume", ME)
    until(lambda: run.step > step + 5)
    kill_worker_of(pool, run)
    until(lambda: run.setback != "")
    assert run.setback == f"Its worker process ended unexpectedly (signal 9). {queued.REPEATS}"
    wait_whole(run)
    assert run.setback == ""
    assert [at.step for at in run.events.of(Snapshot)] == sorted({at.step for at in run.events.of(Snapshot)})
    until(lambda: not (run.folder / "state.pt").exists())


def test_steps_asked_for_while_it_repeats_others_are_new_ones(start: Start) -> None:
    pool = start()
    run = away(pool, LONG, 0.002)
    step = run.step
    pool.steer(run.id, "resume", ME)
    until(lambda: run.step > step + 5)
    pool.steer(run.id, "pause", ME)
    until(lambda: run.state == "paused")
    step = run.step
    kill_worker_of(pool, run)
    pool.steer(run.id, "step", ME)
    until(lambda: run.step > step)
    until(lambda: run.suspended)
    assert (run.step, steps_of(run)) == (step + 1, list(range(1, step + 2)))


def test_saved_now_and_then_a_run_goes_on_by_itself_when_its_worker_is_killed(start: Start) -> None:
    pool = start(training=OFTEN)
    run = pool.submit(RunRequest(config(400, 0.01), ME))
    for _ in range(2):
        before, step = saved_step(run), run.step
        until(lambda: saved_step(run) > max(before, step))  # noqa: B023 called at once
        (run.folder / "state.pt.0.part").touch()  # the worker was just writing
        kill_worker_of(pool, run)
        until(lambda: not list(run.folder.glob("*.part")))
    wait_whole(run)
    until(lambda: not (run.folder / "state.pt").exists())
    until(lambda: pool.allowances.count("run", ME) == 0)


def saved_step(run: Run) -> int:
    """The step of the saved state, as far as the pool knows; 0 without one."""
    return saved_step_of(run)


def test_a_run_that_hangs_is_not_tried_again_from_where_it_was_saved(start: Start) -> None:
    pool = start(training=OFTEN, silent_seconds=1.0)
    run = pool.submit(RunRequest(config(LONG, 0.2, HANGS), ME))
    until(lambda: saved_step(run) > 0)
    assert wait_end(run).ending == Ended(2, "lost", "It did not come back for 1 s and was ended.")
    until(lambda: not (run.folder / "state.pt").exists())


def test_runs_that_go_or_wait_when_the_app_closes_go_on_by_themselves_after_the_next_start(start: Start) -> None:
    pool = start(runs_per_worker=2)
    mine = [pool.submit(RunRequest(config(200, 0.01), ME)) for _ in range(2)]
    until(lambda: all(run.step > 0 for run in mine))
    mine += [pool.submit(RunRequest(config(20, 0.01, seed), ME)) for seed in (3, 4)]
    pool = start(runs_per_worker=2)
    found = [pool.runs.get(run.id) for run in mine]
    assert [(run.suspended, run.step) for run in found] == [(True, was.step) for was in mine]
    pool.take_up()
    assert [run.queue_place for run in found] == [None, None, 1, 2], "in their order"
    for run in found:
        wait_whole(run)


def test_who_had_left_before_a_restart_finds_the_run_going_when_he_is_back(start: Start) -> None:
    here = {"me"}
    pool = start(here.__contains__, runs_per_worker=1)
    run = long_run(pool, 0.01, visitor=ME)
    here.clear()
    pool.submit(RunRequest(config(5), trial=True))
    until(lambda: run.suspended)
    pool.steer(run.id, "set pace", ME, pace=50.0)
    assert read_request(run).pace == 50.0
    pool = start(here.__contains__)
    pool.take_up()
    again = pool.runs.get(run.id)
    assert again.suspended
    here.add("me")
    until(lambda: again.step > run.step)


def test_one_that_is_suspended_or_waits_to_go_on_can_be_stopped(start: Start) -> None:
    pool = start(runs_per_worker=1)
    run = away(pool)
    with pytest.raises(Refused, match="somebody else"):
        pool.stop(run.id, YOU)
    pool.stop(run.id, ME)
    assert run.ending == Ended(run.step, "stopped")
    assert Runs(pool.runs.folder).get(run.id).state == "stopped"  # type: ignore[union-attr]
    assert not (run.folder / "state.pt").exists()
    pool.steer(run.id, "resume", ME)
    assert run.state == "stopped", "nothing brings it back"

    waiting = away(pool)
    long_run(pool, visitor=YOU)
    pool.steer(waiting.id, "resume", ME)
    pool.stop(waiting.id, ME)
    assert waiting.ending == Ended(waiting.step, "stopped"), "it says where"
    assert not (waiting.folder / "state.pt").exists()


def test_killed_again_and_again_while_it_reads_the_state_it_waits_for_its_owner(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "MOST_RETURNS", 0)
    pool = start()
    run = away(pool)
    step, state = run.step, run.folder / "state.pt"
    with unread(state) as is_read:
        pool.steer(run.id, "resume", ME)
        until(is_read)
        kill_worker_of(pool, run)
        until(lambda: run.suspended)
    assert (run.state, run.step, run.ending) == ("paused", step, None)
    until(lambda: pool.allowances.count("run", ME) == 0)
    pool.steer(run.id, "resume", ME)
    wait_whole(run)
    until(lambda: not state.exists())


def test_a_state_that_is_damaged_fails_and_the_curve_stays(start: Start) -> None:
    pool = start()
    run = away(pool)
    step = run.step
    (run.folder / "state.pt").write_text("nothing of the kind")
    pool.steer(run.id, "resume", ME)
    ending = wait_end(run).ending
    assert (type(ending), ending.step) == (Failed, step)
    assert steps_of(run) == list(range(1, step + 1))
    until(lambda: not (run.folder / "state.pt").exists())


@pytest.mark.parametrize("state", ["gone", "later than the curve"])
def test_without_a_state_or_with_one_whose_steps_never_arrived_it_goes_on_from_its_beginning(
    start: Start, state: str
) -> None:
    pool = start()
    run = away(pool)
    file = run.folder / "state.pt"
    file.unlink() if state == "gone" else file.write_text(str(run.step + 1))
    pool.steer(run.id, "resume", ME)
    wait_whole(run)
    written_once(run)


def test_what_is_asked_of_a_run_holds_after_a_sudden_end_of_the_app(start: Start) -> None:
    pool = start()
    run = long_run(pool, 0.01, visitor=ME)
    pool.steer(run.id, "set pace", ME, pace=50.0)
    assert read_request(run).pace == 50.0
    assert [other.id for other in Runs(pool.runs.folder).going()] == [run.id]
    pool.steer(run.id, "pause", ME)
    found = Runs(pool.runs.folder)
    assert (found.get(run.id).suspended, found.going()) == (True, [])
    pool.steer(run.id, "resume", ME)
    assert [other.id for other in Runs(pool.runs.folder).going()] == [run.id]
    pool.stop(run.id, ME)
    wait_end(run)
    until(lambda: not (run.folder / "request.json").exists())


def test_a_run_whose_request_the_disk_does_not_take_is_refused_and_leaves_nothing(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = start(runs_per_visitor=1)

    with monkeypatch.context() as patch:
        patch.setattr("engine.runs.store.write_request", full)
        for _ in range(2):
            with pytest.raises(Refused, match="No space left"):
                pool.submit(RunRequest(config(5), ME))
    assert list(pool.runs.folder.glob("*")) == []
    assert isinstance(wait_end(pool.submit(RunRequest(config(5), ME))).ending, Finished)


def test_it_comes_back_only_where_its_owner_has_room(start: Start) -> None:
    pool = start(runs_per_visitor=1)
    run = away(pool)
    going = pool.submit(RunRequest(config(LONG, 0.002), ME))
    with pytest.raises(Refused, match="You have 1 run going"):
        pool.steer(run.id, "resume", ME)
    assert run.suspended
    pool.stop(going.id, ME)
    wait_end(going)
    pool.steer(run.id, "resume", ME)
    assert isinstance(wait_end(run).ending, Finished)


def test_who_is_back_and_has_no_room_finds_the_run_going_once_he_has(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, tried = {"me"}, []

    def read(run: Run, address: str) -> RunRequest:
        tried.append(run)
        return read_request(run, address)

    monkeypatch.setattr(suspended, "read_request", read)
    pool = start(here.__contains__, runs_per_worker=1, runs_per_visitor=1)
    run = long_run(pool, 0.005, visitor=ME)
    here.clear()
    pool.submit(RunRequest(config(5), trial=True))
    until(lambda: run.suspended)
    other = pool.submit(RunRequest(config(LONG, 0.005), ME))
    here.add("me")
    until(lambda: len(tried) > 1)
    step = run.step
    pool.stop(other.id, ME)
    until(lambda: run.step > step)


def test_where_the_disk_does_not_take_it_the_run_stays_and_goes_on(start: Start) -> None:
    pool = start()
    run = long_run(pool, visitor=ME)
    (run.folder / "state.pt").mkdir()
    pool.steer(run.id, "pause", ME)
    until(lambda: run.state == "paused")
    step = run.step
    pool.steer(run.id, "resume", ME)
    until(lambda: run.step > step)
    assert not run.suspended
    (run.folder / "state.pt").rmdir()


def test_who_has_left_makes_room_while_others_wait_until_he_is_back(start: Start) -> None:
    here = {"me", "you"}
    pool = start(here.__contains__, runs_per_worker=4)
    paused = away(pool)
    mine = [pool.submit(RunRequest(config(LONG, 0.005), ME)) for _ in range(2)]
    programs = pool.submit(RunRequest(config(LONG, 0.005), pace=20.0))
    trial = pool.submit(RunRequest(config(LONG, 0.005), ME, trial=True))
    until(lambda: mine[1].step > 0)
    here.remove("me")
    steps = [run.step for run in mine]
    until(lambda: all(run.step > step + 20 for run, step in zip(mine, steps, strict=True)))
    assert not any(run.suspended for run in mine), "they go on in the time that nobody else wants"
    yours = long_run(pool, 0.005, visitor=YOU)
    assert [run.suspended for run in mine].count(True) == 1, "one makes room for one"
    assert not any(run.suspended for run in (programs, trial, yours))
    here.add("me")
    back = next(run for run in mine if run.suspended)
    until(lambda: back.queue_place == 1)
    step = back.step
    pool.stop(yours.id, YOU)
    until(lambda: back.step > step)
    assert paused.suspended, "who paused it resumes it"


def test_trained_for_real_its_numbers_are_those_of_a_run_that_nothing_happened_to(tmp_path: Path) -> None:
    slow = NOISY.replace(steps=200)
    with Pool(Runs(tmp_path), Limits(), 1, training="tests.engine.saved_often_for_real") as pool:
        assert pool.wait_until_ready(120)
        run = pool.submit(RunRequest(slow, ME, paused=True))
        until(lambda: run.suspended)
        for step in (1, 2, 3):
            pool.steer(run.id, "step", ME)
            until(lambda: run.suspended and run.step == step)  # noqa: B023 called at once
        pool.steer(run.id, "resume", ME)
        until(lambda: saved_step(run) > 3)
        kill_worker_of(pool, run)
        assert wait_end(run).events[-1] == run.ending
        assert numbers(run.events) == numbers(train(slow))
        assert steps_of(run) == list(range(1, slow.steps + 1))


def test_a_crowd_at_one_address_gives_a_place_to_who_comes_from_elsewhere_and_queues_again(start: Start) -> None:
    """Also where the pages of the crowd stay open."""
    pool = start(runs_per_worker=4, queue_length=6)
    crowd = [pool.submit(RunRequest(config(LONG, 0.005), Visitor(f"cookie {n}", "10.0.0.1"))) for n in range(6)]
    until(lambda: all(run.step > 0 for run in crowd[:4]))
    yours = long_run(pool, 0.005, visitor=Visitor("you", "10.0.0.2"))
    until(lambda: sum(run.queue_place is not None for run in crowd) == 3)
    assert all(run.live for run in crowd)
    with pytest.raises(Refused, match="3 runs from your network address are waiting"):
        pool.submit(RunRequest(config(LONG), Visitor("one more", "10.0.0.1")))
    pool.stop(yours.id)
    until(lambda: sum(run.queue_place is not None for run in crowd) == 2)
