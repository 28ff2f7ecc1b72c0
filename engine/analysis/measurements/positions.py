from collections.abc import Iterator
from contextlib import suppress

import torch
from torch import Tensor

from engine.analysis.attention.model import run_with_cache
from engine.analysis.encodings.distances import order
from engine.encodings.base.layer import PositionalEncoding, PositionOutOfRange, cosines
from engine.model.activations import in_mode
from engine.training.result import Trained

FITTED, JUDGED = 192, 64  # sequences on which a probe is fitted and on which it is tested
RIDGE = 1e-3  # the number added to the diagonal of a covariance, relative to the diagonal's mean
LENGTHS = (8, 64, 512)  # sequence lengths at which neighbouring positions are compared
SQUEEZED = 8
DIGITS = 6  # an encoding's similarities are in single precision: further digits are rounding


@torch.no_grad()
def position_probe(trained: Trained) -> dict[str, float]:
    """Linear probes for position: accuracy and error of reading a token's position from the residual stream, by layer.

    There are two probes, both in closed form, fitted on some sequences and tested on others:

    - ``position_probe.<layer>``: accuracy of linear discriminants, one class per position. Not least squares on one-hot
      classes, which hides the middle classes where classes lie in order (Hastie, Tibshirani and Friedman 2009, The Elements
      of Statistical Learning, section 4.2; the discriminants are its equation 4.10).
    - ``position_error.<layer>``: mean distance in positions between the position and a ridge regression of it.

    Layer 0 is the embedding with the added encoding. Chance is 1 / length, and about length / 4 positions.
    Source: Alain and Bengio 2016, Understanding Intermediate Layers Using Linear Classifier Probes.
    """
    numbers: dict[str, float] = {}
    for layer, stream in enumerate(residual_stream(trained)):
        numbers[f"position_probe.{layer}"] = accuracy(stream[:FITTED], stream[FITTED:])
        numbers[f"position_error.{layer}"] = error(stream[:FITTED], stream[FITTED:])
    return numbers


def residual_stream(trained: Trained) -> Iterator[Tensor]:
    """[sequence, position, d_model], on held-out sequences: before the first block and after each."""
    config, model = trained.config, trained.model
    batch = trained.data.validation_batch(size=FITTED + JUDGED).to(trained.device)
    stack = "encoder" if config.family == "encoder" else "decoder"
    names = ["embedding", *(f"{stack}.{layer}.out" for layer in range(config.n_layers))]
    with in_mode(model, training=False):
        _, cache = run_with_cache(model, batch, *names)
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
    middle, center = fitted.mean((0, 1)), positions.mean()
    centred = (fitted - middle).flatten(0, 1)  # [sequence * position, d_model]
    targets = (positions - center).repeat(len(fitted))  # [sequence * position]
    covariance = _ridged(centred.T @ centred / len(centred))
    weights = torch.linalg.solve(covariance, centred.T @ targets / len(centred))  # [d_model]
    predicted = (judged - middle) @ weights + center  # [sequence, position]
    return float((predicted - positions).abs().mean())


def _ridged(covariance: Tensor) -> Tensor:
    """The covariance [d_model, d_model] with a ridge, invertible also if tokens do not vary at all."""
    width = len(covariance)
    return covariance + torch.eye(width, dtype=covariance.dtype) * (RIDGE * covariance.trace() / width + 1e-9)


@torch.no_grad()
def neighbour_cosine(trained: Trained) -> dict[str, float]:
    """The similarity of two neighbouring positions at a sequence length n, before any token is added.

    - ``neighbour_cosine@n``: mean cosine of positions i and i + 1 of 0 to n - 1 in the encoding; absent
      where a learned table has no rows.
    - ``squeezed_cosine@n``: the same for an encoding that adds fixed waves (sinusoids) of frequencies w_j, when the n positions
      are squeezed into the range of the ``SQUEEZED`` shortest, i -> i SQUEEZED / n. In closed form, from
      P_a . P_b = sum_j cos((a - b) w_j) (Vaswani et al. 2017, section 3.5): the mean over j of cos(w_j SQUEEZED / n).
    """
    encoding: PositionalEncoding = trained.model.encoding  # type: ignore[assignment]
    numbers = dict[str, float]()
    for n in LENGTHS:
        with suppress(PositionOutOfRange):
            similarity = encoding.matrices(n)["similarity"]
            numbers[f"neighbour_cosine@{n}"] = round(float(similarity.double().diagonal(1).mean()), DIGITS)
    frequencies = encoding.added_frequencies()
    if frequencies is not None:
        numbers |= {f"squeezed_cosine@{n}": float((frequencies * SQUEEZED / n).cos().mean()) for n in LENGTHS}
    return numbers


def table_structure(trained: Trained) -> dict[str, float]:
    """The order in a learned table: ``table_structure``, 1 if cosines fall linearly with distance and 0 if rows are unordered, and
    ``table_norm``, the mean norm of a row.

    Empty without a learned table. Source: Wang and Chen 2020, What Do Position Embeddings Learn?
    """
    table = getattr(trained.model.encoding, "table", None)
    if not isinstance(table, Tensor):
        return {}
    rows = table.detach().double().cpu()
    return {"table_structure": order(cosines(rows).numpy()), "table_norm": rows.norm(dim=1).mean().item()}
