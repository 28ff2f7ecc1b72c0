"""A run in a folder: saved while it trains, also when it is interrupted, and continued (``train --save``, ``--resume``)."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import time
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

from engine.config.run_config import RunConfig
from engine.runs.events import Event, Failed, Finished, Measuring, Progress, Snapshot
from engine.runs.folder import RunFolder

if TYPE_CHECKING:
    from engine.training.state import TrainingState


class PreparedRun(NamedTuple):
    events: Iterable[Event]
    save_weights: Callable[[Path], None]
    state: TrainingState | None  # None if it trains on another machine


def new_folder(path: Path, config: RunConfig) -> RunFolder:
    """Raises ValueError if the folder exists."""
    folder = RunFolder(path)
    try:
        folder.write_config(path.name, config, owner="", created=time())
    except FileExistsError:
        raise ValueError(f"save is {path}; it must be a folder that does not exist yet.") from None
    return folder


def interrupted_run(path: Path) -> tuple[RunFolder, RunConfig]:
    """Raises ValueError with one sentence."""
    folder = RunFolder(path)
    try:
        _, config, _, _ = folder.read_config()
    except (OSError, ValueError):
        raise ValueError(f"resume is {path}; it must be a folder that train --save wrote.") from None
    if folder.saved_request.exists():
        raise ValueError(f"resume is {path}, which is a run of the app; it continues there.")
    if any(isinstance(event, Finished | Failed) for event in folder.read_events()):
        raise ValueError(f"resume is {path}, a run that has ended; it must be one that was interrupted.")
    if not folder.state.exists():
        raise ValueError(f"resume is {path}, which has no saved state; Ctrl-C and SIGTERM save one.")
    return folder, config


def save_events(training: PreparedRun, folder: RunFolder) -> Iterator[Event]:
    """Pass the events on and save them in the folder, and at the end the weights.

    Ctrl-C or SIGTERM ends the run after the step in progress: weights and state are then saved, too, and KeyboardInterrupt is
    raised. A run that has not begun leaves no folder.
    """
    last = {type(event): event.step for event in folder.read_events() if isinstance(event, Progress | Snapshot)}
    state = training.state
    step = 0 if state is None else state.step
    try:
        with _recorded_signals(state is not None) as signals:
            for event in training.events:
                if isinstance(event, Progress):
                    step = event.step
                if isinstance(event, Measuring):
                    yield event
                # a resumed run repeats the steps after its state; their events are in the folder already
                elif not isinstance(event, Progress | Snapshot) or event.step > last.get(type(event), -1):
                    folder.write_events([event])
                    yield event
                if not signals or state is None or isinstance(event, Finished | Failed):
                    continue
                if state.started and state.step == step:  # else the event of the last step has not been yielded yet
                    training.save_weights(folder.weights)
                    state.save(folder.state)
                    raise KeyboardInterrupt(f"Stopped after step {step}; train --resume {folder.path} continues.")
            training.save_weights(folder.weights)
    except BaseException:
        if not folder.has_events:
            shutil.rmtree(folder.path, ignore_errors=True)
        raise
    folder.state.unlink(missing_ok=True)


@contextmanager
def _recorded_signals(wanted: bool) -> Iterator[list[int]]:
    """Yield the list that collects Ctrl-C and SIGTERM; a second signal raises KeyboardInterrupt. An ignored one stays ignored."""
    signals: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if signals:
            raise KeyboardInterrupt
        signals.append(number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    replaced = {number: was for number, was in before.items() if wanted and was not in (None, signal.SIG_IGN)}
    for number in replaced:
        signal.signal(number, note)
    try:
        yield signals
    finally:
        for number, was in replaced.items():
            signal.signal(number, was)
