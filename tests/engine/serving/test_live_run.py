from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from engine.config.run_config import RunConfig
from engine.runs.events import Ended, Event, Failed, Finished, Measuring, Progress, Snapshot, Started
from engine.runs.folder import RunFolder
from engine.runs.request import RunRequest
from engine.serving import protocol
from engine.serving.live_run import SAVE_EVERY, SAVE_INTERVAL_FACTOR, SHORT_SLICE, SLICE, SNAPSHOT_EVERY, LiveRun
from engine.serving.turns import ROUND, FairShare
from engine.serving.worker import Worker
from engine.settings.costs import Memory
from tests.engine import fake_training
from tests.engine.foundation.test_visitor import Clock
from tests.engine.serving.test_limits import prediction


@dataclass
class Timed(fake_training.State):
    """The training of one run, and its state. Every step takes the same time on the test's clock; so does each piece of measuring
    its result. Saving the state takes ``saving`` seconds."""

    clock: Clock
    seconds: float
    pieces: int = 0
    saving: float = 0.0

    def __post_init__(self) -> None:
        super().__init__()

    def begin(self, config: RunConfig, prediction: object) -> Timed:
        self.step = 0
        return self

    def save(self, file: Path) -> None:
        super().save(file)
        self.clock.now += self.saving

    def train(self, config: RunConfig, *given: Any) -> Generator[Event, str | None, None]:
        inner, request = fake_training.train(config, *given), None
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
            request = yield event


def live_run(training: Timed, name: str = "a", *, steps: int = 10_000, folder: Path = Path(), **how: Any) -> LiveRun:
    begins = start(name, RunRequest(fake_training.config(steps), **how), folder)
    return LiveRun(begins, training, RunFolder(folder), training.clock)


def start(name: str, request: RunRequest, folder: Path, known_step: int | None = None) -> protocol.Start:
    known = prediction(Memory(1, 1, 1, 1, 0), 1.0, 0.0, peak=1)
    return protocol.Start(name, request, known, str(folder), known_step)


def started(training: Timed, name: str = "a", **how: Any) -> LiveRun:
    """A run past its facts and its first step, everything delivered."""
    run = live_run(training, name, **how)
    while run.step < 1:
        run.advance()
        run.deliver()
    return run


def take_turn(turns: FairShare, seconds: float | None = None) -> LiveRun:
    """Let the run whose turn it is train for a slice, or for so many seconds."""
    with turns.turn() as run:
        run.advance(turns.slice() if seconds is None else seconds)
    run.deliver()
    return run


def next_of(turns: FairShare) -> LiveRun | None:
    with turns.turn() as run:
        return run


def steps_in(events: list[Event]) -> list[int]:
    return [event.step for event in events if isinstance(event, Progress)]


def test_measuring_the_result_is_cut_into_slices_and_not_told(clock: Clock) -> None:
    run = started(Timed(clock, 0.01, pieces=100), steps=2)
    events, slices, longest = list[Event](), 0, 0.0
    while not run.over:
        began = clock.now
        run.advance()
        events += run.deliver()
        slices, longest = slices + 1, max(longest, clock.now - began)
    assert slices >= 100 * 0.01 / SLICE
    assert longest <= SLICE + 0.011
    assert isinstance(events[-1], Finished)
    assert not any(isinstance(event, Measuring) for event in events)


def test_a_slice_ends_after_its_time_and_is_cut_short_while_something_waits_but_never_to_nothing(clock: Clock) -> None:
    run = started(Timed(clock, 0.001))
    for seconds, seconds_taken in ((0.003, SHORT_SLICE), (0.03, 0.03), (9.0, SLICE)):
        waits_from = clock.now + seconds
        run.advance(hurry=lambda: clock.now >= waits_from)  # noqa: B023 called at once
        assert len(run.deliver()) == round(seconds_taken / 0.001)


def test_facts_and_first_point_leave_at_once_and_the_rest_in_batches(clock: Clock) -> None:
    run = live_run(Timed(clock, 0.001))
    for kind in (Started, Snapshot, Progress):
        run.advance()
        assert run.deliverable
        assert [type(event) for event in run.deliver()] == [kind]
    run.advance()
    assert (bool(run.unsent), run.deliverable) == (True, False)
    clock.now += 0.1
    assert run.deliverable


def seconds_of_each(turns: FairShare, clock: Clock, during: float) -> list[float]:
    """Seconds in which each run trained, by name."""
    took, until = dict[str, float](), clock.now + during
    while clock.now < until:
        began = clock.now
        name = take_turn(turns).run_id
        took[name] = took.get(name, 0.0) + clock.now - began
    return [took[name] for name in sorted(took)]


def test_a_run_whose_steps_are_longer_than_a_slice_gets_no_more_time(clock: Clock, turns: FairShare) -> None:
    for number, seconds in enumerate((0.4, 0.01, 0.01, 0.02, 0.005)):
        turns.runs.append(started(Timed(clock, seconds), str(number)))
    assert seconds_of_each(turns, clock, 40.0) == pytest.approx([8.0] * 5, abs=0.4)


@pytest.mark.parametrize("came", ["paused", "later"])
def test_who_was_paused_or_comes_later_has_nothing_to_make_up_for(came: str, clock: Clock, turns: FairShare) -> None:
    first, second, last = (started(Timed(clock, 0.01), name) for name in "abc")
    for run in (first, second, *([last] if came == "paused" else [])):
        turns.runs.append(run)
    last.pause()
    last.deliver()
    seconds_of_each(turns, clock, 20.0)
    if came == "later":
        turns.runs.append(last)
    last.resume()
    assert seconds_of_each(turns, clock, 6.0) == pytest.approx([2.0] * 3, abs=2 * SLICE)


def test_new_runs_go_first_until_their_first_points_as_they_came(clock: Clock, turns: FairShare) -> None:
    names = ["0", "1", "2", "new", "newer"]
    for name in names:
        turns.runs.append((live_run if "new" in name else started)(Timed(clock, 0.01), name))
    order = [take_turn(turns).run_id for _ in range(11)]
    assert order[:6] == ["new"] * 3 + ["newer"] * 3, "facts, initial weights, first step"
    assert sorted(order[6:]) == names


class OnDevice(Timed):
    """The training of a run whose steps a device takes by itself, several runs' at once; reading their numbers too early waits."""

    def train(self, config: RunConfig, *given: Any) -> Generator[Event, str | None, None]:
        for event in fake_training.train(config, *given):
            if isinstance(event, Progress):
                until = self.clock.now + self.seconds
                yield Measuring(event.step - 1, on_device=True)
                self.clock.now = max(self.clock.now, until) + 0.001
            yield event


def test_runs_on_a_device_come_in_rotation_whatever_they_wait_for(clock: Clock, turns: FairShare) -> None:
    turns.runs += [started(OnDevice(clock, seconds), name) for name, seconds in (("a", 0.1), ("b", 0.01), ("c", 0.01))]
    assert [take_turn(turns).run_id for _ in range(30)] == ["a", "b", "c"] * 10


def test_with_many_runs_the_slices_get_shorter(clock: Clock, turns: FairShare) -> None:
    for number in range(25):
        assert turns.slice() == pytest.approx(min(SLICE, ROUND / max(1, number)))
        turns.runs.append(started(Timed(clock, 0.01), str(number)))


def test_pace_holds_a_run_back_and_lets_others_go_on(clock: Clock, turns: FairShare) -> None:
    slow, fast = started(Timed(clock, 0.001), "slow", pace=4), started(Timed(clock, 0.001), "fast")
    turns.runs.append(slow)
    turns.runs.append(fast)
    seconds_of_each(turns, clock, 3.0)
    assert 11 <= slow.step - 1 <= 13
    assert fast.step > 2500


def test_a_paced_run_alone_says_how_long_it_waits_and_does_not_race_to_catch_up(clock: Clock, turns: FairShare) -> None:
    run = started(Timed(clock, 0.0), pace=2)
    turns.runs.append(run)
    assert next_of(turns) is None
    assert turns.seconds_to_next() == pytest.approx(0.5)
    clock.now += 60
    run.advance()
    assert len(steps_in(run.deliver())) <= 2
    run.set_pace(None)
    assert next_of(turns) is run


def test_a_step_on_a_going_run_pauses_it_and_three_asked_at_once_are_three(clock: Clock, turns: FairShare) -> None:
    run = started(Timed(clock, 0.001))
    turns.runs.append(run)
    run.allow_step()
    run.advance()
    run.deliver()
    assert (run.step, run.waiting) == (2, True)
    assert next_of(turns) is turns.seconds_to_next() is None
    for _ in range(3):
        run.allow_step()
    while not run.waiting:
        run.advance()
    assert run.step == 5


def test_a_run_that_starts_paused_shows_its_first_weights(clock: Clock) -> None:
    run = live_run(Timed(clock, 0.001), paused=True)
    while not run.waiting:
        run.advance()
    assert ([type(event) for event in run.deliver()], run.step) == ([Started, Snapshot], 0)


@pytest.mark.parametrize(("pace", "snapshots"), [(50.0, 10 / SNAPSHOT_EVERY), (None, 0)])
def test_a_slowed_run_takes_snapshots_by_the_clock(clock: Clock, pace: float | None, snapshots: float) -> None:
    """At full speed the config alone says when."""
    run, began, events = started(Timed(clock, 0.01), pace=pace), clock.now, list[Event]()
    while clock.now - began < 10:
        run.advance()
        clock.now = max(clock.now, run.pacer.due)
        events += [event for event in run.deliver() if isinstance(event, Snapshot)]
    assert len(events) == pytest.approx(snapshots, abs=1)


def test_looking_does_not_change_the_steps(clock: Clock) -> None:
    """The generator never gets a request for a snapshot that it would take for a request to continue."""
    run, events = live_run(Timed(clock, 0.001), steps=50), list[Event]()
    while not run.over:
        run.pause()
        run.resume()
        run.advance()
        events += run.deliver()
    assert steps_in(events) == list(range(1, 51))
    assert [type(e) for e in events].count(Finished) == 1


def test_a_run_is_saved_once_a_minute_and_seldom_where_that_takes_long(clock: Clock, tmp_path: Path) -> None:
    training, began = Timed(clock, 0.1), clock.now
    run = started(training, folder=tmp_path)

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
    assert seconds_until_due() == pytest.approx(3 * SAVE_INTERVAL_FACTOR, rel=0.05)


def test_trials_are_not_saved(clock: Clock) -> None:
    run = started(Timed(clock, 0.1), trial=True)
    clock.now += 10 * SAVE_EVERY
    run.advance()
    assert not run.save_due


def continued(clock: Clock, tmp_path: Path, state: str = "7", **how: Any) -> LiveRun:
    """A run whose state is of step 7, of which the pool knows step 9."""
    folder, request = RunFolder(tmp_path), RunRequest(fake_training.config(20), **how)
    folder.state.write_text(state)
    return LiveRun(start("a", request, tmp_path, known_step=9), Timed(clock, 0.01), folder, clock)


def test_steps_that_are_repeated_keep_no_pace(clock: Clock, tmp_path: Path) -> None:
    run, events = continued(clock, tmp_path, pace=1.0), list[Event]()
    while run.pacer.due <= clock.now:
        run.advance()
        events += run.deliver()
    assert steps_in(events) == [8, 9]
    assert run.pacer.due > clock.now + 0.5


def test_single_steps_are_those_after_the_repeated_ones(clock: Clock, tmp_path: Path) -> None:
    run = continued(clock, tmp_path, paused=True)
    run.allow_step()
    while not run.waiting:
        run.advance()
    assert steps_in(run.deliver()) == [8, 9, 10]


@pytest.mark.parametrize("state", ["gone", "10"])
def test_without_a_state_or_with_one_whose_steps_never_arrived_it_goes_on_from_its_beginning(
    clock: Clock, tmp_path: Path, state: str
) -> None:
    run = continued(clock, tmp_path, state)
    if state == "gone":
        run.folder.state.unlink()
    while not run.over:
        run.advance()
    assert steps_in(run.deliver()) == list(range(1, 21))


def test_a_state_that_is_damaged_ends_the_run_where_it_was(clock: Clock, tmp_path: Path) -> None:
    run = continued(clock, tmp_path, "nothing of the kind")
    run.advance()
    assert [(type(event), event.step) for event in run.deliver()] == [(Failed, 9)]


def test_stopped_while_it_repeats_steps_it_ends_where_it_was(clock: Clock, tmp_path: Path) -> None:
    run = continued(clock, tmp_path)
    run.advance(0.0)
    assert run.repeating
    run.stop()
    assert run.deliver()[-1] == Ended(9, "stopped")


class Enough(Exception):
    """Ends the worker's loop."""


def reports_of(
    training: Any, begins: protocol.Start, answer: Callable[[protocol.RunUpdate], list[protocol.Command]]
) -> list[protocol.Report]:
    """The reports of a worker until its run is over or has left for good; each report on it is answered by commands."""
    commands, reports = SimpleQueue[protocol.Command](), list[protocol.Report]()
    commands.put(begins)

    def report(update: protocol.Report) -> None:
        reports.append(update)
        if isinstance(update, protocol.RunUpdate):
            for command in answer(update):
                commands.put(command)
            if update.state == "over" or (update.state == "checkpointed" and commands.empty()):
                raise Enough

    with pytest.raises(Enough):
        Worker(training, commands, report).work()
    return reports


def states_in(reports: list[protocol.Report]) -> list[str]:
    return [update.state for update in reports if isinstance(update, protocol.RunUpdate) and update.state]


LEAVE = protocol.Control("run", "checkpoint")


def test_a_run_that_leaves_before_it_has_begun_begins_anew_all_the_same(clock: Clock, tmp_path: Path) -> None:
    begins = start("run", RunRequest(fake_training.config(20)), tmp_path)
    reports = reports_of(Timed(clock, 0.01), begins, lambda update: [LEAVE] if update.state == "running" else [])
    assert states_in(reports) == ["running", "checkpointed"]
    assert not (tmp_path / "state.pt").exists()


@pytest.mark.parametrize("error", [OSError("No space left on device"), ValueError("not of this kind")])
def test_a_run_that_cannot_be_saved_stays_and_goes_on(clock: Clock, tmp_path: Path, error: Exception) -> None:
    class Full(Timed):
        def save(self, file: Path) -> None:
            raise error

    begins = start("run", RunRequest(fake_training.config(20)), tmp_path)
    reports = reports_of(Full(clock, 0.01), begins, lambda update: [LEAVE] if steps_in(update.events) == [1] else [])
    assert states_in(reports) == ["running", "unsaved", "over"]


def test_a_run_that_comes_back_as_soon_as_it_has_left_is_said_to_be_computed(tmp_path: Path) -> None:
    """Else the pool does not know which run ended the worker, if it ends now."""
    begins = start("run", RunRequest(fake_training.config(5), paused=True), tmp_path)
    again = replace(begins, request=replace(begins.request, paused=False), known_step=1)

    def answer(update: protocol.RunUpdate) -> list[protocol.Command]:
        if update.state == "paused":
            return [LEAVE, again] if (tmp_path / "began").exists() else [protocol.Control("run", "step")]
        (tmp_path / "began").touch() if steps_in(update.events) else None
        return []

    reports = reports_of(fake_training, begins, answer)
    assert states_in(reports) == ["paused", "paused", "checkpointed", "running", "over"]
    away = next(
        n
        for n, update in enumerate(reports)
        if isinstance(update, protocol.RunUpdate) and update.state == "checkpointed"
    )
    running, busy, *_ = reports[away + 1 :]
    assert (running, busy) == (protocol.RunUpdate("run", state="running"), protocol.Busy("run"))
    assert (tmp_path / "state.pt").read_text() == "1"
