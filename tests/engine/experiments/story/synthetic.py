"""Events of runs that never were, with the numbers that a test wants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.config.run_config import RunConfig
from engine.estimate.layout import metric_names
from engine.runs.events import Event, Finished, Progress, Sample, Snapshot, Started
from engine.runs.log import EventLog
from engine.settings.costs import Memory

MEMORY = Memory(parameters=1, gradients=1, optimizer=2, saved=1, scores=1)
CHANCE = 0.1


def events_of(
    config: RunConfig,
    accuracy: float,
    *,
    samples: Sequence[Sample] = (),
    pattern: np.ndarray | None = None,
    ended: bool = True,
    measured: Sequence[tuple[int, float]] = (),
) -> EventLog:
    """A run that ends with this accuracy, and with these samples and this pattern in its last snapshot. ``measured``: steps before
    the last, each with its accuracy.
    """
    name = metric_names(config)[0]
    events: list[Event] = [Started(10, MEMORY, None, {"loss": 2.3, name: CHANCE}, None, "cpu")]
    events += [
        Progress(step, 1.0, 1.0, 0.01, 100.0, {name: share}, {"loss": 1.0, name: share}) for step, share in measured
    ]
    patterns = {} if pattern is None else {"self": pattern}
    events.append(Snapshot(config.steps, patterns, {}, list(samples)))
    if ended:
        events.append(Finished(config.steps, {"loss": 1.0, name: accuracy}, [], MEMORY, 1.0))
    return EventLog(events)


def sample(tokens: str, predictions: str, targets: str | None = None) -> Sample:
    """A sequence of one-letter symbols; a space in the targets: no answer is asked there."""
    asked = [sign.strip() for sign in (targets or tokens[::-1])]
    return Sample(list(tokens), asked, [guess if ask else "" for guess, ask in zip(predictions, asked, strict=True)])


def mirrored(heads: Sequence[bool], positions: int = 8) -> np.ndarray:
    """A pattern of one layer: heads that read the mirrored position, and heads that read their own."""
    own = np.eye(positions, dtype=np.float32)
    return np.stack([own[::-1] if mirror else own for mirror in heads])[None]
