"""Loss and accuracies of a model on a batch with teacher forcing: at each position the model reads the right earlier answers."""

import math
from collections.abc import Generator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.config.run_config import RunConfig
from engine.estimate.layout import labelled
from engine.estimate.pieces import pieces
from engine.model.activations import ActivationCache, in_mode
from engine.runs.events import Measuring
from engine.tasks.base.data import IGNORE
from engine.training.data import Batch, Data

LARGEST_EXPONENT = 700.0
"""The highest exponent whose exp is a finite float."""


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross entropy in nats over the positions at which an answer is asked.

    logits [batch, length, class], targets [batch, length].
    """
    # [batch, length, class] -> [batch * length, class]
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORE)


def accuracies(predictions: Tensor, batch: Batch) -> dict[str, float]:
    """The share of right answers in each region of the batch; predictions [batch, length]."""
    return _shares(_counts(predictions, batch).tolist(), batch)


def _counts(predictions: Tensor, batch: Batch) -> Tensor:
    """For each region the number of right answers and of those asked, [2 * region]."""
    asked = batch.targets != IGNORE
    right = (predictions == batch.targets) & asked
    return torch.stack(
        [part for region in batch.regions.values() for part in (right[:, region].sum(), asked[:, region].sum())]
    )


def _shares(counts: list[int], batch: Batch) -> dict[str, float]:
    return {name: counts[2 * i] / max(1, counts[2 * i + 1]) for i, name in enumerate(batch.regions)}


def forward(model: nn.Module, batch: Batch, cache: ActivationCache | None = None) -> Tensor:
    logits: Tensor = model(
        batch.inputs,
        source=batch.source,
        token_mask=batch.token_mask,
        cache=cache,
        positions=batch.positions,
        source_positions=batch.source_positions,
    )
    return logits


@torch.no_grad()
def predictions(model: nn.Module, batch: Batch) -> Tensor:
    """The likeliest class at each position, [batch, length], without dropout."""
    with in_mode(model, training=False):
        return forward(model, batch).argmax(-1)


@torch.no_grad()
def evaluate(model: nn.Module, batch: Batch) -> dict[str, float]:
    """``loss`` and the accuracies of a model on a batch, without dropout."""
    with in_mode(model, training=False):
        logits = forward(model, batch)
    loss = loss_of(logits.float(), batch.targets).item()
    return {"loss": loss, **accuracies(logits.argmax(-1), batch), **_perplexity(loss, batch)}


def evaluate_in_pieces(
    model: nn.Module, batch: Batch, at_once: int, step: int
) -> Generator[Measuring, None, dict[str, float]]:
    """:func:`evaluate` on so many rows at once (:func:`engine.estimate.pieces.rows_at_once`). Yields between the pieces, so
    that a caller can do other work; a batch of one piece gives the very numbers of ``evaluate``."""
    if len(batch.inputs) <= at_once:
        return evaluate(model, batch)
    loss, asked, counts = 0.0, 0, torch.zeros(2 * len(batch.regions), dtype=torch.long)
    for rows in pieces(len(batch.inputs), at_once):
        piece = batch.rows(rows)
        with torch.no_grad(), in_mode(model, training=False):
            logits = forward(model, piece)
            here = int((piece.targets != IGNORE).sum())
            if here:
                loss += loss_of(logits.float(), piece.targets).item() * here
            counts += _counts(logits.argmax(-1), piece).cpu()
        asked += here
        del logits
        yield Measuring(step)
    mean = loss / asked if asked else math.nan  # as the mean of torch over no answers
    return {"loss": mean, **_shares(counts.tolist(), batch), **_perplexity(mean, batch)}


def _perplexity(loss: float, batch: Batch) -> dict[str, float]:
    return {"perplexity": math.exp(min(loss, LARGEST_EXPONENT))} if batch.text else {}


def chance_of(config: RunConfig, data: Data) -> dict[str, float]:
    """The scores of blind guessing: metric name to value, ``loss`` in nats."""
    sizes = labelled(config)
    guess = data.chance()
    uniform_loss = torch.tensor(float(sizes.n_outputs)).log().item()
    return {"loss": uniform_loss, **dict.fromkeys(data.validation_batch(size=2).regions, guess)}
