"""Loss and accuracies of a model on a batch with teacher forcing: at each position the model reads the right earlier answers."""

import math
from collections.abc import Generator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.config.run_config import RunConfig
from engine.estimate.layout import labelled
from engine.estimate.pieces import pieces
from engine.model.activations import ActivationCache, in_mode
from engine.runs.events import Measuring
from engine.tasks.base.data import IGNORE
from engine.tasks.text.tokens import UNKNOWN
from engine.training.data import Batch, Data

LARGEST_EXPONENT = 700.0  # of the exponents whose exp is a finite float


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross entropy in nats over the positions with an answer; logits [batch, length, class], targets [batch, length]."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORE)


def accuracies(predictions: Tensor, batch: Batch) -> dict[str, float]:
    """The share of right answers in each region of the batch; predictions [batch, length]."""
    return shares(counts_of(predictions, batch).tolist(), batch)


def counts_of(predictions: Tensor, batch: Batch) -> Tensor:
    """For each region the number of right answers and of all answers, [2 * region]."""
    answered = batch.targets != IGNORE
    right = (predictions == batch.targets) & answered
    return torch.stack(
        [part for region in batch.regions.values() for part in (right[:, region].sum(), answered[:, region].sum())]
    )


def shares(counts: Sequence[float], batch: Batch) -> dict[str, float]:
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
    """``loss`` and the accuracies of a model on a batch, without dropout. Of a text also ``perplexity``; ``unknown_share``, the
    share of the answers that are the unknown token, which is easy to guess if it is common; ``known_accuracy`` and
    ``known_perplexity`` over the other answers."""
    return as_metrics([pass_numbers(model, batch).tolist()], batch)


def evaluate_in_pieces(
    model: nn.Module, batch: Batch, at_once: int, step: int
) -> Generator[Measuring, None, dict[str, float]]:
    """Evaluate ``at_once`` rows at a time (:func:`engine.estimate.pieces.rows_at_once`). A batch of one piece gives the very numbers of
    :func:`evaluate`."""
    if len(batch.inputs) <= at_once:
        return evaluate(model, batch)
    rows_of_numbers = list[list[float]]()
    for rows in pieces(len(batch.inputs), at_once):
        rows_of_numbers.append(pass_numbers(model, batch.rows(rows)).tolist())
        yield Measuring(step)
    return as_metrics(rows_of_numbers, batch)


@torch.no_grad()
def pass_numbers(model: nn.Module, batch: Batch) -> Tensor:
    """The numbers of a pass over a batch, without dropout and without waiting for a device: the mean nats of all answers, and of
    those that the vocabulary has; the number of both, and of right ones among the latter; then :func:`counts_of`."""
    with in_mode(model, training=False):
        logits = forward(model, batch)
    predictions, loss = logits.argmax(-1), loss_of(logits.float(), batch.targets)
    answered = batch.targets != IGNORE
    known, loss_of_known = answered, loss
    if batch.text:
        known = answered & (batch.targets != UNKNOWN)
        loss_of_known = loss_of(logits.float(), batch.targets.masked_fill(~known, IGNORE))
    right = (predictions == batch.targets) & known
    first = (loss, loss_of_known, answered.sum(), known.sum(), right.sum())
    return torch.cat([torch.stack([number.float() for number in first]), counts_of(predictions, batch).float()])


def as_metrics(rows_of_numbers: Sequence[Sequence[float]], batch: Batch) -> dict[str, float]:
    answered, known, right = (sum(numbers[i] for numbers in rows_of_numbers) for i in (2, 3, 4))
    loss, known_nats = rows_of_numbers[0][0], sum(numbers[1] * numbers[3] for numbers in rows_of_numbers if numbers[3])
    if len(rows_of_numbers) > 1:
        loss = (
            sum(numbers[0] * numbers[2] for numbers in rows_of_numbers if numbers[2]) / answered
            if answered
            else math.nan
        )
    counts = [sum(of_pieces) for of_pieces in zip(*(numbers[5:] for numbers in rows_of_numbers), strict=True)]
    metrics = {"loss": loss, **shares(counts, batch)}
    if batch.text:
        metrics |= {
            "perplexity": _perplexity(loss),
            "unknown_share": 1 - known / answered if answered else math.nan,
            "known_accuracy": right / known if known else math.nan,
            "known_perplexity": _perplexity(known_nats / known) if known else math.nan,
        }
    return metrics


def _perplexity(loss: float) -> float:
    return math.exp(min(loss, LARGEST_EXPONENT))


def chance_of(config: RunConfig, data: Data) -> dict[str, float]:
    """The scores of blind guessing by metric, ``loss`` in nats. In a text it guesses among the tokens that occur."""
    choices = labelled(config).n_outputs if data.corpus is None else data.corpus.kinds
    guess = data.chance()
    uniform_loss = torch.tensor(float(choices)).log().item()
    return {"loss": uniform_loss, **dict.fromkeys(data.validation_batch(size=2).regions, guess)}
