"""Loss and accuracies of a model on a batch with teacher forcing: at each position the model reads the right earlier answers."""

import math
from collections.abc import Generator

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.config.run_config import RunConfig
from engine.estimate.layout import labelled
from engine.estimate.pieces import pieces
from engine.model.activations import ActivationCache, in_mode
from engine.runs.events import Measuring
from engine.tasks.base.data import IGNORE
from engine.text.tokens import UNKNOWN
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
    """``loss`` and the accuracies of a model on a batch, without dropout; of a text also what :func:`_of_text` gives."""
    with in_mode(model, training=False):
        logits = forward(model, batch)
    loss, predictions = loss_of(logits.float(), batch.targets).item(), logits.argmax(-1)
    known = _over_known(logits, predictions, batch, loss) if batch.text else NONE_KNOWN
    return {"loss": loss, **accuracies(predictions, batch), **_of_text(loss, batch, known)}


def evaluate_in_pieces(
    model: nn.Module, batch: Batch, at_once: int, step: int
) -> Generator[Measuring, None, dict[str, float]]:
    """:func:`evaluate` on so many rows at once (:func:`engine.estimate.pieces.rows_at_once`). Yields between the pieces, so
    that a caller can do other work; a batch of one piece gives the very numbers of ``evaluate``."""
    if len(batch.inputs) <= at_once:
        return evaluate(model, batch)
    loss, asked, counts, known = 0.0, 0, torch.zeros(2 * len(batch.regions), dtype=torch.long), NONE_KNOWN
    for rows in pieces(len(batch.inputs), at_once):
        piece = batch.rows(rows)
        with torch.no_grad(), in_mode(model, training=False):
            logits = forward(model, piece)
            predictions, mean = logits.argmax(-1), math.nan
            here = int((piece.targets != IGNORE).sum())
            if here:
                mean = loss_of(logits.float(), piece.targets).item()
                loss += mean * here
            counts += _counts(predictions, piece).cpu()
            if batch.text:
                known = known + _over_known(logits, predictions, piece, mean)
        asked += here
        del logits
        yield Measuring(step)
    mean = loss / asked if asked else math.nan  # as the mean of torch over no answers
    return {"loss": mean, **_shares(counts.tolist(), batch), **_of_text(mean, batch, known)}


NONE_KNOWN = np.zeros(3)


def _over_known(logits: Tensor, predictions: Tensor, batch: Batch, loss: float) -> np.ndarray:
    """Of the answers that the vocabulary has: the sum of their nats, how many are right, and how many there are. ``loss``: the mean nats
    of all answers."""
    targets = batch.targets.masked_fill(batch.targets == UNKNOWN, IGNORE)
    count = int((targets != IGNORE).sum())
    if not count:
        return NONE_KNOWN
    mean = loss if targets.equal(batch.targets) else loss_of(logits.float(), targets).item()
    return np.array([mean * count, int((predictions == targets).sum()), count])


def _of_text(loss: float, batch: Batch, known: np.ndarray) -> dict[str, float]:
    """Of a text: ``perplexity``; ``unknown_share``, the share of the answers that are the unknown token, which is easy to guess where it
    is common; ``known_accuracy`` and ``known_perplexity`` over the other answers. Of anything else nothing."""
    if not batch.text:
        return {}
    nats, right, count = known.tolist()
    asked = int((batch.targets != IGNORE).sum())
    return {
        "perplexity": _perplexity(loss),
        "unknown_share": 1 - count / asked if asked else math.nan,
        "known_accuracy": right / count if count else math.nan,
        "known_perplexity": _perplexity(nats / count) if count else math.nan,
    }


def _perplexity(loss: float) -> float:
    return math.exp(min(loss, LARGEST_EXPONENT))


def chance_of(config: RunConfig, data: Data) -> dict[str, float]:
    """The scores of blind guessing: metric name to value, ``loss`` in nats. Of a text it is guessing among the tokens that it has."""
    choices = labelled(config).n_outputs if data.corpus is None else data.corpus.kinds
    guess = data.chance()
    uniform_loss = torch.tensor(float(choices)).log().item()
    return {"loss": uniform_loss, **dict.fromkeys(data.validation_batch(size=2).regions, guess)}
