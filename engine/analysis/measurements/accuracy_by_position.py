"""Accuracy against exposure: the accuracy at a position by the number of times it was met in training.

When lengths follow a distribution, position i is met by every sequence longer than i: in expectation
batch_size x steps x P(length > i) times. Sequences of the full length are tested, and positions of similar exposure pooled.
"""

from __future__ import annotations

from bisect import bisect_right

from engine.config.run_config import RunConfig
from engine.estimate.layout import length_law, shapes
from engine.tasks.base.data import IGNORE
from engine.training.evaluation import predictions
from engine.training.trained import Trained

SEQUENCES = 512
EDGES = (0, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)


def measure(trained: Trained) -> dict[str, float]:
    """``accuracy_seen_100_to_300`` and so on: bands of exposure, the lower bound included; only bands that occur."""
    batch = trained.data.validation_batch(size=SEQUENCES).to(trained.device)
    asked = batch.targets != IGNORE
    right = ((predictions(trained.model, batch) == batch.targets) & asked).sum(dim=0).tolist()
    counts = asked.sum(dim=0).tolist()
    pooled: dict[str, tuple[int, int]] = {}
    for position, times in enumerate(exposures(trained.config)):
        name = band(times)
        hits, total = pooled.get(name, (0, 0))
        pooled[name] = hits + right[position], total + counts[position]
    return {name: hits / total for name, (hits, total) in pooled.items() if total}


def exposures(config: RunConfig) -> list[float]:
    """The expected number of training sequences that reach each position that the model reads, [position]."""
    sequences, law = config.batch_size * config.steps, length_law(config)
    reads = {shapes(config, n).length: share for n, share in law.items()}
    return [
        sequences * sum(share for length, share in reads.items() if length > position)
        for position in range(shapes(config).length)
    ]


def band(times: float) -> str:
    """The name of an exposure's band: ``accuracy_seen_100_to_300``, or ``accuracy_seen_from_100000`` beyond the last edge."""
    above = bisect_right(EDGES, times)
    if above == len(EDGES):
        return f"accuracy_seen_from_{EDGES[-1]}"
    return f"accuracy_seen_{EDGES[above - 1]}_to_{EDGES[above]}"
