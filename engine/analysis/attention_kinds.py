"""Scores for the kind of a head: the share of its weight on the cells of that kind, against chance.

Chance is attention that is uniform over the visible keys: (weight there - chance) / (1 - chance), so 0 is no more than
uniform attention and 1 is all weight. Kinds as in Voita et al. 2019, Analyzing Multi-Head Self-Attention, section 4, and
Clark et al. 2019, What Does BERT Look At?, section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

NAMED = 0.5
"""The lowest score at which a head is named by its best kind: half of the way from chance to certainty."""
FEWEST_QUERIES = 2
"""The fewest queries at which a kind must be able to show; with fewer it has no score."""
FURTHEST_BACK = 64
NONE = "none of these"


@dataclass(frozen=True)
class Kind:
    """The cells that a head of this kind attends to: ``cells(query, key, keys)`` of positions [query, 1] and [1, key]."""

    label: str
    cells: Callable[[Tensor, Tensor, int], Tensor]


KINDS: dict[str, Kind] = {
    "previous": Kind("previous token", lambda query, key, keys: key == query - 1),
    "same": Kind("same place", lambda query, key, keys: key == query),
    "next": Kind("next token", lambda query, key, keys: key == query + 1),
    # Not at queries for which the first token is also the same or the previous one.
    "first": Kind("first token", lambda query, key, keys: (key == 0) & (query >= 2)),
    "mirrored": Kind(
        "mirrored", lambda query, key, keys: (key == keys - 1 - query) & ((key - query).abs() >= 2)
    ),
}  # fmt: skip


def kind_scores(pattern: Tensor, visible: Tensor) -> dict[str, float]:
    """The score of each kind that can show, by label; from a head's pattern and visibility, both [batch, query, key].

    Kinds are those of ``KINDS``, the best fixed distance ("k back", from 2 on) and ``uniform``.
    """
    queries, keys = pattern.shape[-2:]
    query, key = torch.arange(queries)[:, None], torch.arange(keys)[None, :]
    choice = visible.sum(-1)  # [batch, query]
    scores: dict[str, float] = {}
    for kind in KINDS.values():
        _note(scores, kind.label, score_in(pattern, visible, choice, kind.cells(query, key, keys)))
    back: dict[str, float] = {}
    for k in range(2, min(FURTHEST_BACK, queries)):
        _note(back, f"{k} back", score_in(pattern, visible, choice, key == query - k))
    if back:
        best = max(back, key=lambda label: back[label])
        scores[best] = back[best]
    _note(scores, "uniform", uniform_score(pattern, choice))
    return scores


def _note(scores: dict[str, float], label: str, score: float | None) -> None:
    if score is not None:
        scores[label] = score


def score_in(pattern: Tensor, visible: Tensor, choice: Tensor, cells: Tensor) -> float | None:
    """(mean weight in the cells - chance) / (1 - chance) over the queries that see such a cell and another key.

    None where there are too few such queries. ``cells`` [query, key] has at most one cell for each query.
    """
    able = (visible & cells).any(-1) & (choice > 1)  # [batch, query]
    if able.any(0).sum() < FEWEST_QUERIES:
        return None
    weight = (pattern * cells).sum(-1)[able].mean().item()
    chance = (1 / choice[able]).mean().item()
    return (weight - chance) / (1 - chance)


def uniform_score(pattern: Tensor, choice: Tensor) -> float | None:
    """The evenness of the weights: 1 where all visible keys have equal weight, 0 where the weights are as uneven as weights
    drawn uniformly from all that sum to one (mean entropy 1/2 + 1/3 + ... + 1/n nats), negative where more uneven.
    """
    able = choice > 1
    if able.any(0).sum() < FEWEST_QUERIES:
        return None
    harmonic = torch.cumsum(1 / torch.arange(1, int(choice.max()) + 1, dtype=torch.float64), 0)
    chance = (harmonic[choice[able] - 1] - 1).mean().item()
    most = choice[able].double().log().mean().item()
    return (entropy(pattern)[able].mean().item() - chance) / (most - chance)


def name_of(scores: dict[str, float]) -> str:
    """The best kind's label, or the label for none of the kinds."""
    best = max(scores, key=lambda label: scores[label], default=NONE)
    return best if scores.get(best, 0.0) >= NAMED else NONE


def entropy(pattern: Tensor) -> Tensor:
    """The entropy of each query's weights in nats, [..., query, key] -> [..., query]. Its exponential is the effective number of keys."""
    surprise: Tensor = -torch.special.xlogy(pattern, pattern)
    return surprise.sum(-1)


def mean_distance(pattern: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """The weighted mean of |i - j| between a query and its keys, in positions: [..., query, key] -> [..., query]."""
    apart = (query_positions[:, None] - key_positions[None, :]).abs()
    return (pattern * apart).sum(-1)
