"""Two measures of what predictions depend on: the share unchanged with other content, and with shuffled positions.

A model that answers by position alone keeps every prediction when new symbols are drawn, and few when the positions are
shuffled; one that ignores positions does the opposite. Shuffling: each token keeps its symbol and its index under the mask,
but gets another token's position, so the set of positions stays the same.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from engine.encodings.base.layer import Positions
from engine.tasks.base.data import IGNORE
from engine.training.evaluation import predictions
from engine.training.trained import Trained

SEQUENCES = 256
SHUFFLES = 8
"""The number of orders; all sequences of a batch share their positions, so several are tried."""


def measure(trained: Trained) -> dict[str, float]:
    """``unchanged_by_content`` and ``unchanged_by_positions``: shares from 0 to 1 of the predictions at asked positions.

    Sequences are drawn without the correlation of training, where the task has one.
    """
    first, second = (
        trained.data.decorrelated_batch(size=SEQUENCES, stream=stream).to(trained.device) for stream in (3, 4)
    )
    before, resampled = predictions(trained.model, first), predictions(trained.model, second)
    asked = first.targets != IGNORE
    generator = torch.Generator().manual_seed(trained.config.seed)
    kept = []
    for _ in range(SHUFFLES):
        moved = replace(
            first,
            positions=shuffled(first.positions or range(first.inputs.size(1)), generator),
            source_positions=None
            if first.source is None
            else shuffled(first.source_positions or range(first.source.size(1)), generator),
        )
        kept.append(share_alike(before, predictions(trained.model, moved), asked))
    return {
        "unchanged_by_content": share_alike(before, resampled, asked & (second.targets != IGNORE)),
        "unchanged_by_positions": sum(kept) / len(kept),
    }


def shuffled(positions: Positions, generator: torch.Generator) -> tuple[int, ...]:
    order: list[int] = torch.randperm(len(positions), generator=generator).tolist()
    return tuple(positions[place] for place in order)


def share_alike(one: Tensor, other: Tensor, asked: Tensor) -> float:
    """The share of equal predictions where ``asked``; all three [batch, length]."""
    return ((one == other) & asked).sum().item() / max(1, int(asked.sum()))
