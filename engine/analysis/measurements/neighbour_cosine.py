"""The similarity of two neighbouring positions at a sequence length n, before any token is added.

- ``neighbour_cosine@n``: mean cosine of positions i and i + 1 of 0 to n - 1 in the encoding; left out
  where a learned table has no rows.
- ``squeezed_cosine@n``: the same for an encoding that adds fixed waves (sinusoids) of frequencies w_j, when the n positions
  are squeezed into the range of the ``SQUEEZED`` shortest, i -> i SQUEEZED / n. In closed form, from
  P_a . P_b = sum_j cos((a - b) w_j) (Vaswani et al. 2017, section 3.5): the mean over j of cos(w_j SQUEEZED / n).
"""

from __future__ import annotations

from contextlib import suppress

import torch

from engine.encodings.base.layer import PositionalEncoding, PositionOutOfRange
from engine.training.trained import Trained

LENGTHS = (8, 64, 512)
SQUEEZED = 8
DIGITS = 6
"""An encoding's similarities are in single precision: further digits are rounding."""


@torch.no_grad()
def measure(trained: Trained) -> dict[str, float]:
    encoding: PositionalEncoding = trained.model.encoding  # type: ignore[assignment]
    numbers = dict[str, float]()
    for n in LENGTHS:
        with suppress(PositionOutOfRange):
            similarity = encoding.matrices(n)["similarity"]
            numbers[f"neighbour_cosine@{n}"] = round(float(similarity.double().diagonal(1).mean()), DIGITS)
    frequencies = encoding.added_frequencies()
    if frequencies is not None:
        for n in LENGTHS:
            numbers[f"squeezed_cosine@{n}"] = float((frequencies * SQUEEZED / n).cos().mean())
    return numbers
