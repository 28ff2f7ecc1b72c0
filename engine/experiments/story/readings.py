"""Readings of a run: how many answers are right, what equal symbols got, which heads read the mirrored position.

Each is read from the events of a finished run alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from engine.config.run_config import RunConfig
from engine.estimate.layout import metric_names, validation_size
from engine.runs.events import Finished, Progress, Sample, Started
from engine.runs.log import EventLog

AT_MIRROR = 0.8
"""The share of positions at which a head's strongest weight has to lie on the mirrored position, so that the head reads it."""
AT_ONE_DISTANCE = 0.5
"""The share of positions whose strongest weights have to lie at one distance, so that the head reads at this distance: no other
distance than 0 has a partner for every position."""


@dataclass(frozen=True)
class Score:
    """The share of right answers on held-out sequences."""

    value: float
    chance: float
    sequences: int


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
    at_distance: int
    """The number of positions whose strongest weight lies at the commonest distance."""

    @property
    def at_mirror(self) -> bool:
        return self.hits >= AT_MIRROR * self.positions

    @property
    def at_one_distance(self) -> bool:
        return self.at_distance >= AT_ONE_DISTANCE * self.positions


def score_of(config: RunConfig, events: EventLog) -> Score | None:
    """The main accuracy at the end of a run; None while it has not finished."""
    finished, name = events.last(Finished), metric_names(config)[0]
    if finished is None or name not in finished.metrics:
        return None
    chance = events.of(Started)[0].chance.get(name, 0.0)
    return Score(finished.metrics[name], chance, validation_size(config.seq_len))


def step_reaching(config: RunConfig, events: EventLog, share: float) -> int | None:
    """The first step at which this share of answers on held-out sequences was right; None where it never was."""
    name, finished = metric_names(config)[0], events.last(Finished)
    measured = [(one.step, one.validation) for one in events.landmarks() if isinstance(one, Progress)]
    if finished is not None:
        measured.append((finished.step, finished.metrics))
    return next((step for step, metrics in measured if metrics is not None and metrics.get(name, 0.0) >= share), None)


def equal_symbols(samples: Iterable[Sample]) -> tuple[int, int]:
    """The number of pairs of equal symbols among the positions of each sequence at which an answer is asked; and of those whose two
    answers are the same."""
    pairs = same = 0
    for sample in samples:
        asked = [position for position, target in enumerate(sample.targets) if target != ""]
        for one, other in combinations(asked, 2):
            if sample.tokens[one] == sample.tokens[other]:
                pairs += 1
                same += sample.predictions[one] == sample.predictions[other]
    return pairs, same


def heads_of(pattern: np.ndarray) -> list[Head]:
    """Every head of a pattern [layer, head, query, key] whose key ``n - 1 - i`` mirrors query ``i``."""
    layers, heads, positions, keys = pattern.shape
    mirror = keys - 1 - np.arange(positions)
    strongest = pattern.argmax(-1)
    hits = (strongest == mirror).sum(-1)
    distances = strongest - np.arange(positions)
    weights = pattern[..., np.arange(positions), mirror].mean(-1)
    return [
        Head(
            layer,
            head,
            positions,
            int(hits[layer, head]),
            float(weights[layer, head]),
            int(np.unique(distances[layer, head], return_counts=True)[1].max()),
        )
        for layer in range(layers)
        for head in range(heads)
    ]
