"""Randomized positions: the tokens of a sequence stand, in order, anywhere in a range that is longer than the sequence.

Source: Ruoss et al. 2023, Randomized Positional Encodings Boost Length Generalization of Transformers, section 3. As there,
each training batch gets positions of its own. In evaluation every token stands at its mean position in training, so that
the same model always gives the same answer.
"""

from __future__ import annotations

import torch


def drawn(length: int, limit: int, generator: torch.Generator) -> tuple[int, ...]:
    """``length`` different positions below ``limit``, ascending."""
    positions: list[int] = torch.randperm(limit, generator=generator)[:length].sort().values.tolist()
    return tuple(positions)


def spread(length: int, limit: int) -> tuple[int, ...]:
    """The mean of each of the :func:`drawn` positions, rounded down: (i + 1)(limit + 1) / (length + 1) - 1.

    That is the expected i-th smallest of a sample without replacement (David and Nagaraja 2003, Order Statistics, section 3.7).
    """
    return tuple((i + 1) * (limit + 1) // (length + 1) - 1 for i in range(length))
