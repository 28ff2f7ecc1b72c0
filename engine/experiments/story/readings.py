"""Readings of a run: how many answers are right, what equal symbols got, which heads read the mirrored position.

Each is read from the events of a finished run alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from engine.config.run_config import RunConfig
from engine.estimate.layout import metric_names, validation_size
from engine.runs.events import Finished, Sample, Snapshot, Started
from engine.runs.log import EventLog

AT_MIRROR = 0.8
"""The share of positions at which a head's strongest weight has to lie on the mirrored position, so that the head reads it."""


@dataclass(frozen=True)
class Score:
    """The share of right answers on held-out sequences."""

    value: float
    chance: float
    sequences: int


@dataclass(frozen=True)
class EqualSymbols:
    """Pairs of positions in one sequence at which the model reads the same symbol."""

    pairs: int
    same: int
    """The number of pairs whose two answers are the same."""


@dataclass(frozen=True)
class Head:
    """What one head of a sequence's attention does with the mirrored positions."""

    layer: int
    head: int
    """Both counted from 0."""
    positions: int
    """The number of positions that ask."""
    hits: int
    """The number of positions whose strongest weight lies on the mirrored position."""
    weight: float
    """The mean weight on the mirrored position."""

    @property
    def at_mirror(self) -> bool:
        return self.hits >= AT_MIRROR * self.positions


def finished_in(events: EventLog) -> Finished | None:
    found = events.of(Finished)
    return found[-1] if found else None


def last_look(events: EventLog) -> Snapshot | None:
    """The last snapshot, which shows the trained model once the run has finished."""
    found = events.of(Snapshot)
    return found[-1] if found else None


def score_of(config: RunConfig, events: EventLog) -> Score | None:
    """The main accuracy at the end of a run; None while it has not finished."""
    finished, name = finished_in(events), metric_names(config)[0]
    if finished is None or name not in finished.metrics:
        return None
    chance = events.of(Started)[0].chance.get(name, 0.0)
    return Score(finished.metrics[name], chance, validation_size(config.seq_len))


def equal_symbols(samples: Iterable[Sample]) -> EqualSymbols:
    """The pairs of equal symbols among the positions of each sequence at which an answer is asked."""
    pairs = same = 0
    for sample in samples:
        asked = [position for position, target in enumerate(sample.targets) if target != ""]
        for one, other in combinations(asked, 2):
            if sample.tokens[one] == sample.tokens[other]:
                pairs += 1
                same += sample.predictions[one] == sample.predictions[other]
    return EqualSymbols(pairs, same)


def heads_of(pattern: np.ndarray) -> list[Head]:
    """Every head of a pattern [layer, head, query, key] whose key ``n - 1 - i`` mirrors query ``i``."""
    layers, heads, positions, keys = pattern.shape
    mirror = keys - 1 - np.arange(positions)
    hits = (pattern.argmax(-1) == mirror).sum(-1)
    weights = pattern[..., np.arange(positions), mirror].mean(-1)
    return [
        Head(layer, head, positions, int(hits[layer, head]), float(weights[layer, head]))
        for layer in range(layers)
        for head in range(heads)
    ]
