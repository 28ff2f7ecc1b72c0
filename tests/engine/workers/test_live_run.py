"""One worker's runs: turns, pace, pause, single steps, snapshots and deliveries, on a clock that the test sets."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from engine.config.run_config import RunConfig
from engine.estimate.prediction import Prediction
from engine.runs.events import Ended, Event, Failed, Finished, Measuring, Progress, Snapshot, Started
from engine.runs.folder import RunFolder
from engine.runs.record_options import RecordOptions
from engine.runs.request import RunRequest
from engine.settings.costs import Memory
from engine.workers import protocol
from engine.workers.live_run import (
    SAVE_EVERY,
    SAVE_SHARE,
    SHORT_SLICE,
    SLICE,
    SNAPSHOT_EVERY,
    LiveRun,
)
from engine.workers.worker import ROUND, FairShare, Worker
from tests.engine import fake_training
from tests.engine.hosting.test_limits import prediction


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Timed:
    """A training whose every step takes the same time on the test's clock; so does each piece of measuring its result. Saving its
    state takes ``saving`` seconds."""

    clock: Clock
    seconds: float
    pieces: int = 0
    saving: float = 0.0
    steps: list[tuple[int, int]] = field(default_factory=list)

    def begin(self, config: RunConfig, prediction: Prediction | None) -> fake_training.State:
        return TimedState(self)

    def train(
        self,
        config: RunConfig,
        model: None,
        record: RecordOptions,
        prediction: Prediction | None,
        measure: object,
        state: fake_training.State,
    ) -> Generator[Event, str | None, None]:
        inner, request = fake_training.train(config, model, record, state=state), None
        while True:
            try:
                event = inner.send(request)
            except StopIteration:
                return
            for _ in range(self.pieces if isinstance(event, Finished) else 0):
                self.clock.now += self.seconds
                yield Measuring(event.step)
            if isinstance(event, Progress):
                self.clock.now += self.seconds
                self.steps.append((config.seed, event.step))
            request = yield event


class TimedState(fake_training.State):
    def __init__(self, training: Timed) -> None:
        super().__init__()
        self.training = training

    def save(self, file: Path) -> None:
        super().save(file)
        self.training.clock.now += self.training.saving


def live_run(
    run_id: str, config: RunConfig, training: Timed, *, clock: Clock, folder: Path = Path(), **how: Any
) -> LiveRun:
    return LiveRun(run_id, RunRequest(config, **how), None, training, RunFolder(folder), clock=clock)


def started(run: LiveRun) -> LiveRun:
    """Past its facts and its first step, everything delivered."""
    while run.step < 1:
        run.advance()
        run.deliver()
    return run


def steps_in(events: list[Event]) -> list[int]:
    return [event.step for event in events if isinstance(event, Progress)]


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_slice_ends_after_its_time(clock: Clock) -> None:
    run = started(live_run("a", fake_training.config(1000), Timed(clock, 0.01), clock=clock))
    run.advance()
    assert len(run.deliver()) == round(SLICE / 0.01)


def test_measuring_the_result_is_cut_into_slices_and_not_told(clock: Clock) -> None:
    run = started(live_run("a", fake_training.config(2), Timed(clock, 0.01, pieces=100), clock=clock))
    told, slices, longest = list[Event](), 0, 0.0
    while not run.over:
        began = clock.now
        run.advance()
        told += run.deliver()
        slices, longest = slices + 1, max(longest, clock.now - began)
    assert slices >= 100 * 0.01 / SLICE
    assert longest <= SLICE + 0.011
    assert isinstance(told[-1], Finished)
    assert not any(isinstance(event, Measuring) for event in told)


def test_a_slice_is_cut_short_while_something_waits_but_never_to_nothing(clock: Clock) -> None:
    run = started(live_run("a", fake_training.config(1000), Timed(clock, 0.001), clock=clock))
    waits_from = clock.now + 0.003
    run.advance(hurry=lambda: clock.now >= waits_from)
    assert len(run.deliver()) == round(SHORT_SLICE / 0.001)
    waits_from = clock.now + 0.03
    run.advance(hurry=lambda: clock.now >= waits_from)
    assert len(run.deliver()) == round(0.03 / 0.001)


def test_facts_and_first_point_leave_at_once_and_the_rest_in_batches(clock: Clock) -> None:
    run = live_run("a", fake_training.config(1000), Timed(clock, 0.001), clock=clock)
    deliveries = []
    for _ in range(3):
        run.advance()
        assert run.deliverable
        deliveries.append([type(event) for event in run.deliver()])
    assert deliveries == [[Started], [Snapshot], [Progress]]
    run.advance()
    assert run.unsent
    assert not run.deliverable
    clock.now += 0.1
    assert run.deliverable


def test_runs_take_turns_and_share_the_time(clock: Clock) -> None:
    training, turns = Timed(clock, 0.01), FairShare(clock)
    runs = [live_run(str(seed), fake_training.config(10_000, seed=seed), training, clock=clock) for seed in range(3)]
    for run in runs:
        turns.add(started(run))
    training.steps.clear()
    for _ in range(30):
        run = turns.next()
        assert run is not None
        run.advance()
        run.deliver()
    counts = [sum(seed == number for seed, _ in training.steps) for number in range(3)]
    assert counts == [50, 50, 50]


def seconds_of_each(turns: FairShare, runs: dict[str, LiveRun], clock: Clock, during: float) -> dict[str, float]:
    """The seconds in which each run trained."""
    took, until = dict.fromkeys(runs, 0.0), clock.now + during
    while clock.now < until:
        run, began = turns.next(), clock.now
        assert run is not None
        run.advance(turns.slice())
        run.deliver()
        took[run.run_id] += clock.now - began
    return took


def test_a_run_whose_steps_are_longer_than_a_slice_gets_no_more_time_than_the_others(clock: Clock) -> None:
    turns, runs = FairShare(clock), dict[str, LiveRun]()
    for seed, seconds in enumerate((0.4, 0.01, 0.01, 0.02, 0.005)):
        name = str(seed)
        runs[name] = started(live_run(name, fake_training.config(10_000), Timed(clock, seconds), clock=clock))
        turns.add(runs[name])
    took = seconds_of_each(turns, runs, clock, 40.0)
    assert list(took.values()) == pytest.approx([8.0] * 5, abs=0.4)


@pytest.mark.parametrize("came", ["paused", "later"])
def test_a_run_that_was_paused_or_comes_later_has_nothing_to_make_up_for(came: str, clock: Clock) -> None:
    turns, training = FairShare(clock), Timed(clock, 0.01)
    runs = {
        name: started(live_run(name, fake_training.config(10_000), training, clock=clock)) for name in ("a", "b", "c")
    }
    last = runs.pop("c")
    for run in runs.values():
        turns.add(run)
    if came == "paused":
        turns.add(last)
        last.pause()
        last.deliver()
    seconds_of_each(turns, runs, clock, 20.0)
    if came == "later":
        turns.add(last)
    last.resume()
    took = seconds_of_each(turns, runs | {"c": last}, clock, 6.0)
    assert list(took.values()) == pytest.approx([2.0] * 3, abs=2 * SLICE)


def test_a_new_run_goes_first_until_its_first_point(clock: Clock) -> None:
    training, turns = Timed(clock, 0.01), FairShare(clock)
    for seed in range(5):
        turns.add(started(live_run(str(seed), fake_training.config(1000, seed=seed), training, clock=clock)))
    turns.add(live_run("new", fake_training.config(1000, seed=9), training, clock=clock))
    order = []
    for _ in range(9):
        run = turns.next()
        assert run is not None
        run.advance(turns.slice())
        run.deliver()
        order.append(run.run_id)
    assert order[:3] == ["new"] * 3  # its facts, its first weights, its first step
    assert sorted(order[3:]) == ["0", "1", "2", "3", "4", "new"]


def test_new_runs_have_their_first_points_in_the_order_in_which_they_came(clock: Clock) -> None:
    training, turns = Timed(clock, 0.01), FairShare(clock)
    for name in ("0", "1", "2"):
        turns.add(live_run(name, fake_training.config(1000, seed=int(name)), training, clock=clock))
    order = []
    for _ in range(9):
        run = turns.next()
        assert run is not None
        order.append(run.run_id)
        run.advance(0.0)
        run.deliver()
    assert order == ["0"] * 3 + ["1"] * 3 + ["2"] * 3


def test_with_many_runs_the_slices_get_shorter(clock: Clock) -> None:
    turns = FairShare(clock)
    for seed in range(25):
        assert turns.slice() == pytest.approx(min(SLICE, ROUND / max(1, seed)))
        turns.add(started(live_run(str(seed), fake_training.config(1000), Timed(clock, 0.01), clock=clock)))


def test_pace_holds_a_run_back_and_lets_others_go_on(clock: Clock) -> None:
    training, turns = Timed(clock, 0.001), FairShare(clock)
    slow = started(live_run("slow", fake_training.config(10_000, seed=1), training, pace=4, clock=clock))
    fast = started(live_run("fast", fake_training.config(10_000, seed=2), training, clock=clock))
    turns.add(slow)
    turns.add(fast)
    training.steps.clear()
    began = clock.now
    while clock.now - began < 3:
        run = turns.next()
        assert run is not None, "the fast run is always ready"
        run.advance()
        run.deliver()
    assert 11 <= sum(seed == 1 for seed, _ in training.steps) <= 13
    assert sum(seed == 2 for seed, _ in training.steps) > 2500


def test_a_paced_run_alone_says_how_long_it_waits(clock: Clock) -> None:
    turns = FairShare(clock)
    run = started(live_run("a", fake_training.config(100), Timed(clock, 0.0), pace=2, clock=clock))
    turns.add(run)
    run.deliver()
    assert turns.next() is None
    assert turns.seconds_to_next() == pytest.approx(0.5)
    run.set_pace(None)
    assert turns.next() is run


def test_a_run_behind_its_pace_does_not_race_to_catch_up(clock: Clock) -> None:
    run = started(live_run("a", fake_training.config(1000), Timed(clock, 0.0), pace=10, clock=clock))
    clock.now += 60
    run.advance()
    assert len(steps_in(run.deliver())) <= 2


def test_pause_looks_and_stands_still_and_a_step_is_one_step(clock: Clock) -> None:
    training, turns = Timed(clock, 0.001), FairShare(clock)
    run = started(live_run("a", fake_training.config(1000), training, clock=clock))
    turns.add(run)
    run.advance()
    run.pause()
    paused_at = run.step
    assert [e.step for e in run.deliver() if isinstance(e, Snapshot)] == [paused_at]
    assert turns.next() is None
    assert turns.seconds_to_next() is None
    run.allow_step()
    assert turns.next() is run
    run.advance()
    assert [(type(e), e.step) for e in run.deliver()] == [(Progress, paused_at + 1), (Snapshot, paused_at + 1)]
    assert turns.next() is None
    run.resume()
    run.advance()
    assert run.step > paused_at + 1


def test_a_step_on_a_going_run_pauses_it_and_three_steps_asked_at_once_are_three(clock: Clock) -> None:
    run = started(live_run("a", fake_training.config(1000), Timed(clock, 0.001), clock=clock))
    run.allow_step()
    run.advance()
    assert (run.step, run.waiting) == (2, True)
    for _ in range(3):
        run.allow_step()
    while not run.waiting:
        run.advance()
    assert run.step == 5


def test_a_run_that_starts_paused_shows_its_first_weights(clock: Clock) -> None:
    run = live_run("a", fake_training.config(1000), Timed(clock, 0.001), paused=True, clock=clock)
    while not run.waiting:
        run.advance()
    assert [type(event) for event in run.deliver()] == [Started, Snapshot]
    assert run.step == 0


@pytest.mark.parametrize(("pace", "snapshots"), [(50.0, 10 / SNAPSHOT_EVERY), (None, 0)])
def test_a_slowed_run_takes_snapshots_by_the_clock(clock: Clock, pace: float | None, snapshots: float) -> None:
    """At full speed the config alone says when."""
    run = started(live_run("a", fake_training.config(10_000), Timed(clock, 0.01), pace=pace, clock=clock))
    run.deliver()
    began, taken = clock.now, list[Event]()
    while clock.now - began < 10:
        run.advance()
        clock.now = max(clock.now, run.due)
        taken += [event for event in run.deliver() if isinstance(event, Snapshot)]
    assert len(taken) == pytest.approx(snapshots, abs=1)


def test_looking_does_not_change_the_steps(clock: Clock) -> None:
    """The generator never gets a look where it would take it for a request to go on."""
    run = live_run("a", fake_training.config(50), Timed(clock, 0.001), clock=clock)
    seen: list[Event] = []
    while not run.over:
        run.pause()
        run.resume()
        run.advance()
        seen += run.deliver()
    assert steps_in(seen) == list(range(1, 51))
    assert [type(e) for e in seen].count(Finished) == 1


def test_alone_holds_the_others_until_it_pauses(clock: Clock) -> None:
    training, turns = Timed(clock, 0.01), FairShare(clock)
    alone = started(live_run("alone", fake_training.config(1000, seed=1), training, alone=True, clock=clock))
    other = started(live_run("other", fake_training.config(1000, seed=2), training, clock=clock))
    turns.add(alone)
    turns.add(other)
    assert [turns.next() for _ in range(3)] == [alone] * 3
    alone.pause()
    assert turns.next() is other


@pytest.mark.parametrize(
    ("seed", "sentence"),
    [
        (fake_training.RAISES, "An error ended it (RuntimeError: the weights fell over)."),
        (fake_training.REFUSES, "device is cuda; this machine has cpu."),
    ],
)
def test_an_exception_becomes_one_sentence(clock: Clock, seed: int, sentence: str) -> None:
    run = live_run("a", fake_training.config(1000, seed=seed), Timed(clock, 0.001), clock=clock)
    seen: list[Event] = []
    while not run.over:
        run.advance()
        seen += run.deliver()
    assert seen[-1] == Failed(2, sentence)


def test_a_run_is_saved_once_a_minute_and_seldom_where_that_takes_long(clock: Clock, tmp_path: Path) -> None:
    training = Timed(clock, 0.1)
    run = started(live_run("a", fake_training.config(10_000), training, clock=clock, folder=tmp_path))
    began = clock.now

    def seconds_until_due() -> float:
        since = clock.now
        while not run.save_due:
            run.advance()
            run.deliver()
        return clock.now - since

    seconds_until_due()
    assert clock.now - began == pytest.approx(SAVE_EVERY, abs=0.5)
    run.save()
    assert run.folder.state.read_text() == str(run.step)
    assert not run.save_due
    assert seconds_until_due() == pytest.approx(SAVE_EVERY, abs=0.5)
    training.saving = 3.0
    run.save()
    assert seconds_until_due() == pytest.approx(3 * SAVE_SHARE, rel=0.05)


@pytest.mark.parametrize("how", [{"trial": True}, {"alone": True}])
def test_trials_and_measurements_are_not_saved(clock: Clock, how: dict[str, bool]) -> None:
    run = started(live_run("a", fake_training.config(10_000), Timed(clock, 0.1), clock=clock, **how))
    clock.now += 10 * SAVE_EVERY
    run.advance()
    assert not run.save_due


def continued(clock: Clock, tmp_path: Path, **how: Any) -> LiveRun:
    """A run whose state is of step 7, of which the pool knows step 9."""
    folder, request = RunFolder(tmp_path), RunRequest(fake_training.config(20), **how)
    folder.state.write_text("7")
    return LiveRun("a", request, None, Timed(clock, 0.01), folder, 9, clock)


def test_steps_that_are_repeated_keep_no_pace(clock: Clock, tmp_path: Path) -> None:
    run = continued(clock, tmp_path, pace=1.0)
    told = list[Event]()
    while run.due <= clock.now:
        run.advance()
        told += run.deliver()
    assert steps_in(told) == [8, 9]
    assert run.due > clock.now + 0.5


def test_a_single_step_of_a_run_that_repeats_others_is_a_new_one(clock: Clock, tmp_path: Path) -> None:
    run = continued(clock, tmp_path, paused=True)
    assert run.waiting
    run.allow_step()
    while not run.waiting:
        run.advance()
    assert run.step == 10


def test_stopped_while_it_repeats_steps_it_ends_where_it_was(clock: Clock, tmp_path: Path) -> None:
    run = continued(clock, tmp_path)
    run.advance(0.0)
    assert run.repeating
    run.stop()
    assert run.deliver()[-1] == Ended(9, "stopped")


def test_a_run_is_suspended_once_it_has_begun_and_has_no_step_to_take(clock: Clock, tmp_path: Path) -> None:
    run = live_run("a", fake_training.config(5), Timed(clock, 0.01), clock=clock, folder=tmp_path, paused=True)
    with pytest.raises(OSError, match="nothing to save"):
        run.suspend()
    run.resume()
    started(run).pause()
    run.allow_step()
    with pytest.raises(OSError, match="not taken yet"):
        run.suspend()
    run.advance()
    run.suspend()
    assert run.folder.state.read_text() == "2"


def test_a_run_that_comes_back_as_soon_as_it_was_suspended_is_said_to_be_computed(tmp_path: Path) -> None:
    """Else the pool does not know which run ended the worker, if it ends now."""
    commands, reports = SimpleQueue[protocol.Command](), list[protocol.Report]()
    request = RunRequest(fake_training.config(5), paused=True)
    start = protocol.Start("run", request, prediction(Memory(1, 1, 1, 1, 0), 1.0, 0.0, peak=1), str(tmp_path))

    class Enough(Exception):
        """The run has gone on."""

    def report(said: protocol.Report) -> None:
        reports.append(said)
        if isinstance(said, protocol.RunUpdate) and said.state == "paused":
            commands.put(protocol.Control("run", "suspend"))
            commands.put(replace(start, request=replace(request, paused=False), saved_step=1))
        if isinstance(said, protocol.RunUpdate) and said.state == "over":
            raise Enough

    commands.put(start)
    commands.put(protocol.Control("run", "step"))
    with pytest.raises(Enough):
        Worker(fake_training, commands, report).work()  # type: ignore[arg-type]
    away = next(n for n, one in enumerate(reports) if isinstance(one, protocol.RunUpdate) and one.state == "suspended")
    running, busy, *_ = reports[away + 1 :]
    assert (running, busy) == (protocol.RunUpdate("run", state="running"), protocol.Busy("run"))
