"""A run inside its worker: it trains slice by slice at its own pace, pauses, steps, and hands over its events."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Protocol

from engine.analysis.measurements.take import take_measurement
from engine.config.run_config import RunConfig
from engine.estimate.prediction import Prediction
from engine.foundation.errors import error_in_words
from engine.foundation.log import log_error, log_failure
from engine.runs.events import Ended, Event, Failed, Finished, Measuring, Progress, Snapshot, Started
from engine.runs.folder import RunFolder
from engine.runs.record_options import AHEAD, SNAPSHOT_NOW, RecordOptions
from engine.runs.request import RunRequest

if TYPE_CHECKING:
    from torch.nn import Module

    from engine.training.state import TrainingState

SLICE = 0.05
"""The most seconds that one run trains before the next run's turn."""
SHORT_SLICE = 0.01
"""The same while a command or a short job waits: it is answered soon, and a flood of them does not stop the training."""
BATCH = 0.1
"""Seconds between two deliveries of a run's events."""
SAVE_EVERY, SAVE_SHARE = 60.0, 50.0
"""Seconds between two times at which a run's state is saved, at least; and as a multiple of what saving took the last time."""
SNAPSHOT_EVERY = 0.5
"""Seconds between snapshots of a run with a limited pace, beside those that its config determines."""
SNAPSHOT_SHARE = 20
"""A snapshot that took t seconds is not repeated for 20 t, so that snapshots cost at most 5 %."""


class Training(Protocol):
    """The training module: ``engine.training.train``, or a stand-in for tests."""

    warm_up: Callable[[str], None]
    begin: Callable[[RunConfig, Prediction | None], TrainingState]
    train: Callable[
        [RunConfig, None, RecordOptions, Prediction | None, object, TrainingState], Generator[Event, str | None, None]
    ]


class LiveRun:
    """A run inside its worker: the generator, its pace, and its events that are not sent yet."""

    def __init__(
        self,
        run_id: str,
        request: RunRequest,
        prediction: Prediction | None,
        training: Training,
        folder: RunFolder,
        seen: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``seen``: the last step that the pool knows of a run that goes on, from the state in its folder or from its beginning: the
        steps up to that one are repeated. None: it begins anew."""
        self.run_id, self.request, self.folder = run_id, request, folder
        self.model: Module | None = None
        self.unsent: list[Event] = []
        self.step = seen or 0
        self.saved_step: int | None = None
        """The step of the state that is in its folder; None where there is none, or it is not read yet."""
        self.paused = request.paused
        self.over = False
        self.announced_pause = False
        """Whether the pool has been told that this run waits."""
        self.urgent = True
        """Whether the next delivery is sent at once instead of in the next batch."""
        self._shown = seen is not None or not request.record.snapshots
        self._seen, self._repeats_to = seen, self.step
        self._saved_at, self._save_cost = clock(), 0.0
        self._state: TrainingState | None = None
        self._allowed = 0  # optimizer steps that a paused run may still take
        self._training, self._prediction, self._clock = training, prediction, clock
        self._generator = self._events()
        self._last: Event | None = None
        self.due = clock()
        """The time at which the next step may be taken."""
        self._sent_at = self._snapshot_at = clock()
        self._snapshot_cost = 0.0
        self.set_pace(request.pace)

    def _events(self) -> Generator[Event, str | None, None]:
        config = self.request.config
        self._state = state = self._training.begin(config, self._prediction)
        if self._seen is not None and self.folder.state.exists():
            state.load(self.folder.state)
            self.saved_step = state.step
            if state.step > self._seen:  # the events in between were on their way when the app ended
                self._state = state = self._training.begin(config, self._prediction)
        self.model, self.step = state.model, state.step
        record = self.request.record
        yield from self._training.train(config, None, record, self._prediction, take_measurement, state)

    def suspend(self) -> None:
        """Save the run's state and end its training here. Raises OSError where :meth:`save` does, or where a single step that was asked
        for is not taken yet; the run then stays as it is."""
        if self.paused and self._allowed:
            raise BlockingIOError("A step that was asked for is not taken yet.")
        self.settle()
        if self._state is not None:
            self.save()
        self._generator.close()  # where it has not begun, that from which it would go on is still there

    def save(self) -> None:
        """Save the state of a run that has begun. Raises OSError where the disk does not take it, or where a step is taken but its
        event is not given yet."""
        assert self._state is not None
        if self._state.step != self.step or self._ahead:
            raise BlockingIOError("The validation after the step is not over.")
        began = self._saved_at = self._clock()
        self._state.save(self.folder.state)
        self._save_cost, self.saved_step = self._clock() - began, self.step

    @property
    def save_due(self) -> bool:
        """Whether it is time to save the state of a run that goes on: if its worker or the app ends, little of it is lost. Steps whose
        events are still to come are settled first."""
        if self.over or not self.request.is_saved or self._state is None:
            return False
        if self._state.step != self.step and not self._ahead:  # the validation after the step is not over
            return False
        longest = max(SAVE_EVERY, SAVE_SHARE * self._save_cost)
        return self.step != self.saved_step and self._clock() - self._saved_at >= longest

    @property
    def failed(self) -> bool:
        return isinstance(self._last, Failed)

    @property
    def repeating(self) -> bool:
        """Whether it takes steps that the pool knows already."""
        return self.step < self._repeats_to

    def free(self) -> None:
        """Drop everything that takes memory."""
        self.model = self._state = None

    @property
    def waiting(self) -> bool:
        """Whether the run is paused with no single step asked for; a run that starts paused first shows its first weights."""
        return self.paused and self._allowed == 0 and self._shown

    @property
    def is_new(self) -> bool:
        """Whether the run has no point yet and is about to have one: its data are drawn, in pieces where they are large."""
        return self.step == 0 and (self.on_device or not isinstance(self._last, Measuring))

    @property
    def delivery_due(self) -> float:
        """The time at which the run's events should be sent."""
        return 0.0 if self.urgent else self._sent_at + BATCH

    @property
    def deliverable(self) -> bool:
        return bool(self.unsent) and self._clock() >= self.delivery_due

    def set_pace(self, steps_per_second: float | None) -> None:
        self._interval = 1 / steps_per_second if steps_per_second else 0.0
        self.due = min(self.due, self._clock() + self._interval)

    def pause(self) -> None:
        if not self.paused:
            self.paused = True
            self.settle()
            self._take_snapshot()
        self.urgent = True

    def allow_step(self) -> None:
        self.paused = True
        self.settle()
        self._allowed += 1
        self.due = self._clock()

    def resume(self) -> None:
        self.paused, self._allowed = False, 0
        self.due = self._clock()

    def stop(self) -> None:
        self.settle()
        if self.over:
            return
        try:
            self._generator.close()
        except Exception as error:
            log_error(f"Run {self.run_id} was stopped", error)
        self._note(Ended(max(self.step, self._repeats_to), "stopped"))

    def advance(self, seconds: float = SLICE, hurry: Callable[[], bool] = lambda: False) -> None:
        """Train until the slice is used up, the pace or a pause requires waiting, or the run is over; shorter in a ``hurry``. While a
        device computes by itself, other runs have their turn; the device is handed the next steps at once."""
        began = self._clock()
        if self.on_device:
            seconds = math.inf
        while not self.over:
            if self._state is not None:
                self._state.ahead = 1 if self.paused or self._interval or self.urgent else AHEAD
            event = self._next()
            now = self._clock()
            if self.on_device:
                return
            if isinstance(event, Progress):
                # A run that is behind its pace may catch up by one slice, not by its whole backlog.
                paced = self._interval and not self.repeating
                self.due = max(self.due + self._interval, now - SLICE) if paced else now
                apart = max(SNAPSHOT_EVERY, SNAPSHOT_SHARE * self._snapshot_cost)
                if self.paused and event.step > self._repeats_to:
                    self._allowed -= 1
                    if self._allowed == 0:
                        self._take_snapshot()
                        self.urgent = True
                elif self._interval and not self._ahead and now - self._snapshot_at >= apart:
                    self._take_snapshot()
            if self._ahead:
                continue
            if self.urgent or self.waiting or now < self.due:
                return
            if now - began >= (min(seconds, SHORT_SLICE) if hurry() else seconds):
                return

    def deliver(self) -> list[Event]:
        """The events since the last delivery, which are then counted as sent."""
        events, self.unsent = self.unsent, []
        # The facts and the first point of the curve are each sent at once.
        self.urgent = self.urgent and not any(isinstance(event, Progress) for event in events)
        self._sent_at = self._clock()
        return events

    @property
    def on_device(self) -> bool:
        """Whether a device was handed steps, and their events are still to come."""
        return isinstance(self._last, Measuring) and self._last.on_device

    @property
    def _ahead(self) -> bool:
        """Whether the state is ahead of the last event: steps are taken whose events are still to come."""
        if self.on_device:
            return True
        return isinstance(self._last, Progress) and self._state is not None and self._state.step > self._last.step

    def settle(self) -> None:
        """Give the events of the steps that a device has taken or takes, so that nothing is ahead of them."""
        while self._ahead and not self.over:
            self._next()

    def _take_snapshot(self) -> None:
        """Take a snapshot of the current model; only after a step, since nothing else changes the model."""
        if isinstance(self._last, Progress) and self.request.record.snapshots:
            began = self._clock()
            self._next(SNAPSHOT_NOW)
            self._snapshot_cost = self._clock() - began

    def _next(self, request: str | None = None) -> Event | None:
        event: Event | None
        try:
            event = self._generator.send(request if self._last is not None else None)
        except StopIteration:
            ended = isinstance(self._last, Finished | Failed)
            event = None if ended else Failed(self.step, "The run ended without a result.")
        except Exception as error:
            log_failure(f"Run {self.run_id}", error)
            event = Failed(self.step, error_in_words(error))
        if event is not None:
            self._note(event)
        self.over = self.over or event is None
        return event

    def _note(self, event: Event) -> None:
        self._last = event
        if isinstance(event, Measuring):
            return
        self.unsent.append(event)
        if isinstance(event, Snapshot):
            self._snapshot_at = self._clock()
            self._shown = True
        if not isinstance(event, Started):
            self.step = event.step
        self.over = isinstance(event, Finished | Failed | Ended)
