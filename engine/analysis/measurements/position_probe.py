"""Linear probes for position: accuracy and error of reading a token's position from the residual stream, by layer.

There are two probes, both in closed form, fitted on some sequences and tested on others:

- ``position_probe.<layer>``: accuracy of linear discriminants, one class a position. Not least squares on one-hot
  classes, which hides the middle classes where classes lie in order (Hastie, Tibshirani and Friedman 2009, The Elements
  of Statistical Learning, section 4.2; the discriminants are its equation 4.10).
- ``position_error.<layer>``: mean distance in positions between the position and a ridge regression of it.

Layer 0 is the embedding with the added encoding. Chance is 1 / length, and about length / 4 positions.
Source: Alain and Bengio 2016, Understanding Intermediate Layers Using Linear Classifier Probes.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from engine.model.activations import OnlyThese
from engine.model.mode import in_mode
from engine.training.evaluation import forward
from engine.training.trained import Trained

FITTED, JUDGED = 192, 64
"""The number of sequences to fit and to test on."""
RIDGE = 1e-3
"""The number added to the diagonal of a covariance, relative to the diagonal's mean."""


@torch.no_grad()
def measure(trained: Trained) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for layer, stream in enumerate(residual_stream(trained)):
        numbers[f"position_probe.{layer}"] = accuracy(stream[:FITTED], stream[FITTED:])
        numbers[f"position_error.{layer}"] = error(stream[:FITTED], stream[FITTED:])
    return numbers


def residual_stream(trained: Trained) -> Iterator[Tensor]:
    """The residual stream on held-out sequences, before the first block and after each: [sequence, position, d_model]."""
    config, model = trained.config, trained.model
    batch = trained.data.validation_batch(size=FITTED + JUDGED).to(trained.device)
    stack = "encoder" if config.family == "encoder" else "decoder"
    names = ["embedding", *(f"{stack}.{layer}.out" for layer in range(config.n_layers))]
    cache = OnlyThese(names)
    with in_mode(model, training=False):
        forward(model, batch, cache)
    return (cache.pop(name).double().cpu() for name in names)


def accuracy(fitted: Tensor, judged: Tensor) -> float:
    """The share of tokens whose position the linear discriminants predict; both [sequence, position, d_model].

    delta_p(x) = x . S^-1 mu_p - mu_p . S^-1 mu_p / 2, with one covariance S for all positions.
    """
    means = fitted.mean(0)  # [position, d_model]
    spread = (fitted - means).flatten(0, 1)  # [sequence * position, d_model]
    directions = torch.linalg.solve(_ridged(spread.T @ spread / len(spread)), means.T)  # [d_model, position]
    scores = judged @ directions - (means.T * directions).sum(0) / 2  # [sequence, position, class]
    right = scores.argmax(-1) == torch.arange(scores.size(1))
    return float(right.double().mean())


def error(fitted: Tensor, judged: Tensor) -> float:
    """Mean |position - prediction| of a ridge regression; both [sequence, position, d_model]."""
    positions = torch.arange(fitted.size(1), dtype=fitted.dtype)
    middle, place = fitted.mean((0, 1)), positions.mean()
    centred = (fitted - middle).flatten(0, 1)  # [sequence * position, d_model]
    targets = (positions - place).repeat(len(fitted))  # [sequence * position]
    weights = torch.linalg.solve(
        _ridged(centred.T @ centred / len(centred)), centred.T @ targets / len(centred)
    )  # [d_model]
    predicted = (judged - middle) @ weights + place  # [sequence, position]
    return float((predicted - positions).abs().mean())


def _ridged(covariance: Tensor) -> Tensor:
    """The covariance [d_model, d_model] with a ridge, invertible also where tokens do not vary at all."""
    width = len(covariance)
    return covariance + torch.eye(width, dtype=covariance.dtype) * (RIDGE * covariance.trace() / width + 1e-9)
