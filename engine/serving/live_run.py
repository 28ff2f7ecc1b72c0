"""A run inside its worker: it trains slice by slice at its pace, pauses, steps, and delivers its events.

:class:`Pacer` decides when the next step is due, :class:`Throttle` when it is time to save and to show, :class:`TrainingEvents` trains and
knows how far its state is ahead of its events; :class:`LiveRun` combines them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from engine.analysis.measurements.take import take_measurement
from engine.config.run_config import RunConfig
from engine.estimate.prediction import Prediction
from engine.foundation.errors import error_in_words
from engine.foundation.log import log_error, log_failure
from engine.runs.events import Ended, Event, Failed, Finished, Measuring, Progress, Snapshot, Started
from engine.runs.folder import RunFolder
from engine.runs.record_options import AHEAD, SNAPSHOT_NOW, RecordOptions
from engine.serving.protocol import Start

if TYPE_CHECKING:
    from engine.training.state import TrainingState

SLICE = 0.05  # one run's training before the next run's turn
# the same while a command or a short job waits: it is answered soon, and a flood of them does not stop the training
SHORT_SLICE = 0.01
DELIVERY_SECONDS = 0.1
# seconds between two saves of a run's state, at least; and as a multiple of the last save's duration
SAVE_EVERY, SAVE_INTERVAL_FACTOR = 60.0, 50.0
SNAPSHOT_EVERY = 0.5  # seconds between snapshots of a run with a limited pace, beside those that its config determines
# a snapshot that took t seconds is not repeated for 20 t, so that snapshots cost at most 5 %
SNAPSHOT_INTERVAL_FACTOR = 20


class TrainingModule(Protocol):
    warm_up: Callable[[str], None]
    begin: Callable[[RunConfig, Prediction | None], TrainingState]
    train: Callable[
        [RunConfig, None, RecordOptions, Prediction | None, object, TrainingState], Generator[Event, str | None, None]
    ]


class Pacer:
    """The time of a run's next step: at its pace, or while paused once for each requested single step."""

    def __init__(self, pace: float | None, now: float, *, paused: bool) -> None:
        self.paused, self.allowed = paused, 0
        self.due = now
        self.set_pace(pace, now)

    @property
    def stands_still(self) -> bool:
        return self.paused and self.allowed == 0

    def set_pace(self, steps_per_second: float | None, now: float) -> None:
        self.interval = 1 / steps_per_second if steps_per_second else 0.0
        self.due = min(self.due, now + self.interval)

    def allow_step(self, now: float) -> None:
        self.paused, self.allowed, self.due = True, self.allowed + 1, now

    def resume(self, now: float) -> None:
        self.paused, self.allowed, self.due = False, 0, now

    def count(self, now: float, to_repeat: int) -> None:
        """Count a step as taken. ``to_repeat``: the steps that are repeated after it; negative for a new one."""
        # A run that is behind its pace may catch up by one slice, not by its whole backlog.
        self.due = max(self.due + self.interval, now - SLICE) if self.interval and to_repeat <= 0 else now
        if self.paused and to_repeat < 0:
            self.allowed -= 1


class Throttle:
    """The time for something that takes time itself: after ``every`` seconds, or ``factor`` times its last duration."""

    def __init__(self, every: float, factor: float, now: float) -> None:
        self._every, self._factor = every, factor
        self.last_start, self.cost = now, 0.0

    def is_due(self, now: float) -> bool:
        return now - self.last_start >= max(self._every, self._factor * self.cost)

    def count(self, start: float, end: float) -> None:
        self.last_start, self.cost = start, end - start


class TrainingEvents:
    """The events of a training, and its state. A device takes several steps before it gives the first of their events: the state is
    then ahead of the events, and nobody saves or shows it."""

    def __init__(self, start: Start, training: TrainingModule, checkpoint: Path) -> None:
        self._start, self._training, self._checkpoint = start, training, checkpoint
        self.state: TrainingState | None = None
        self.last: Event | None = None
        self.step = start.known_step or 0  # of the last event
        self._generator = self._events()
        self.close = self._generator.close

    def _events(self) -> Generator[Event, str | None, None]:
        request, known_step, given = self._start.request, self._start.known_step, self._start.prediction
        self.state = state = self._training.begin(request.config, given)
        if known_step is not None and self._checkpoint.exists():
            state.load(self._checkpoint)
            if state.step > known_step:  # the events in between were on their way when the app ended
                self.state = state = self._training.begin(request.config, given)
        self.step = state.step
        yield from self._training.train(request.config, None, request.record, given, take_measurement, state)

    def next(self, request: str | None = None) -> Event | None:
        """The next event, Failed after an exception; None after the last one."""
        event: Event | None
        try:
            event = self._generator.send(request if self.last is not None else None)
        except StopIteration:
            has_ended = isinstance(self.last, Finished | Failed)
            event = None if has_ended else Failed(self.step, "The run ended without a result.")
        except Exception as error:
            log_failure(f"Run {self._start.run_id}", error)
            event = Failed(self.step, error_in_words(error))
        if event is not None:
            self.last = event
            if not isinstance(event, Measuring | Started):
                self.step = event.step
        return event

    @property
    def on_device(self) -> bool:
        return isinstance(self.last, Measuring) and self.last.on_device

    @property
    def ahead(self) -> bool:
        step_done = isinstance(self.last, Progress) and self.state is not None and self.state.step > self.last.step
        return self.on_device or step_done

    @property
    def whole(self) -> bool:
        """True if the state is that after the last event. It is not during the validation after a step."""
        return self.state is not None and self.state.step == self.step and not self.ahead


class LiveRun:
    def __init__(
        self, start: Start, training: TrainingModule, folder: RunFolder, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.run_id, self.request, self.folder = start.run_id, start.request, folder
        self.unsent: list[Event] = []
        self.over = False
        self.announced_pause = False  # the pool knows that this run waits
        self.urgent = True  # the next delivery is sent at once, not in the next batch
        self.saved_step: int | None = None  # the last one that this worker has saved
        self._clock, now = clock, clock()
        self.pacer = Pacer(start.request.pace, now, paused=start.request.paused)
        self.training = TrainingEvents(start, training, folder.state)
        self._saves = Throttle(SAVE_EVERY, SAVE_INTERVAL_FACTOR, now)
        self._snapshots = Throttle(SNAPSHOT_EVERY, SNAPSHOT_INTERVAL_FACTOR, now)
        self._is_shown = start.known_step is not None or not start.request.record.snapshots
        self._repeats_to = start.known_step or 0
        self._sent_at = now

    # State, read by the worker

    @property
    def step(self) -> int:
        return self.training.step

    @property
    def failed(self) -> bool:
        return isinstance(self.training.last, Failed)

    @property
    def repeating(self) -> bool:
        return self.step < self._repeats_to

    @property
    def waiting(self) -> bool:
        return self.pacer.stands_still and self._is_shown  # a run that starts paused first shows its initial weights

    @property
    def is_new(self) -> bool:
        """True if the run is about to have its first point: its data are drawn, in pieces if they are large."""
        return self.step == 0 and (self.training.on_device or not isinstance(self.training.last, Measuring))

    @property
    def delivery_due(self) -> float:
        return 0.0 if self.urgent else self._sent_at + DELIVERY_SECONDS

    @property
    def deliverable(self) -> bool:
        return bool(self.unsent) and self._clock() >= self.delivery_due

    @property
    def save_due(self) -> bool:
        # so that little is lost if its worker or the app ends; steps whose events are still to come are settled first
        able = not self.over and self.request.is_saved and (self.training.whole or self.training.ahead)
        return able and self.step != self.saved_step and self._saves.is_due(self._clock())

    # Commands

    def set_pace(self, steps_per_second: float | None) -> None:
        self.pacer.set_pace(steps_per_second, self._clock())

    def pause(self) -> None:
        if not self.pacer.paused:
            self.pacer.paused = True
            self.settle()
            self._take_snapshot()
        self.urgent = True

    def allow_step(self) -> None:
        self.pacer.paused = True
        self.settle()
        self.pacer.allow_step(self._clock())

    def resume(self) -> None:
        self.pacer.resume(self._clock())

    def stop(self) -> None:
        self.settle()
        if self.over:
            return
        self.close()
        self._note(Ended(max(self.step, self._repeats_to), "stopped"))

    def close(self) -> None:
        try:
            self.training.close()
        except Exception as error:
            log_error(f"Run {self.run_id} was closed", error)

    def save(self) -> bool:
        """Save the state of a begun run; False if it is between two events. Raises OSError."""
        if self.training.state is None:  # that from which it goes on is still there
            return True
        if not self.training.whole:
            return False
        began = self._saves.last_start = self._clock()
        self.training.state.save(self.folder.state)
        self._saves.count(began, self._clock())
        self.saved_step = self.step
        return True

    # Training

    def advance(self, seconds: float = SLICE, hurry: Callable[[], bool] = lambda: False) -> None:
        began = self._clock()
        if self.training.on_device:
            seconds = math.inf
        while not self.over:
            if self.training.state is not None:
                single = self.pacer.paused or self.pacer.interval or self.urgent
                self.training.state.ahead = 1 if single else AHEAD
            event, now = self._next(), self._clock()
            # other runs have their turn while a device computes by itself
            if self.training.on_device:
                return
            if isinstance(event, Progress):
                self._count(event.step, now)
            if self.training.ahead:
                continue
            if self.urgent or self.waiting or now < self.pacer.due:
                return
            if now - began >= (min(seconds, SHORT_SLICE) if hurry() else seconds):
                return

    def _count(self, step: int, now: float) -> None:
        self.pacer.count(now, self._repeats_to - step)
        if self.pacer.paused and step > self._repeats_to:
            if self.pacer.stands_still:
                self._take_snapshot()
                self.urgent = True
        elif self.pacer.interval and not self.training.ahead and self._snapshots.is_due(now):
            self._take_snapshot()

    def deliver(self) -> list[Event]:
        events, self.unsent = self.unsent, []
        # The facts and the first point of the curve are each sent at once.
        self.urgent = self.urgent and not any(isinstance(event, Progress) for event in events)
        self._sent_at = self._clock()
        return events

    def settle(self) -> None:
        """Take the remaining events of a device's steps, so that the state is not ahead of them."""
        while self.training.ahead and not self.over:
            self._next()

    def _take_snapshot(self) -> None:
        # only after a step, since nothing else changes the model
        if isinstance(self.training.last, Progress) and self.request.record.snapshots:
            began = self._clock()
            self._next(SNAPSHOT_NOW)
            self._snapshots.cost = self._clock() - began

    def _next(self, request: str | None = None) -> Event | None:
        event = self.training.next(request)
        self.over = event is None
        if event is not None:
            self._note(event)
        return event

    def _note(self, event: Event) -> None:
        if isinstance(event, Measuring):
            return
        self.unsent.append(event)
        if isinstance(event, Snapshot):
            self._snapshots.last_start, self._is_shown = self._clock(), True
        self.over = isinstance(event, Finished | Failed | Ended)
