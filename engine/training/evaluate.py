"""Loss and accuracies of a model on a batch: teacher-forced, and where it writes, in its own hand."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.config import RunConfig
from engine.encodings.base import NoRow
from engine.framing import labelled
from engine.model.mode import in_mode
from engine.tasks.rule import IGNORE
from engine.training.data import Batch, Data

LARGEST_EXPONENT = 700.0
"""exp of more overflows."""


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross entropy in nats over the positions that are asked.

    logits [batch, length, class], targets [batch, length].
    """
    # [batch, length, class] -> [batch * length, class]
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORE)


def accuracies(predictions: Tensor, batch: Batch) -> dict[str, float]:
    """Share of right answers in each region of the batch; predictions [batch, length]."""
    asked = batch.targets != IGNORE
    right = (predictions == batch.targets) & asked
    counts = torch.stack(
        [part for region in batch.regions.values() for part in (right[:, region].sum(), asked[:, region].sum())]
    )
    numbers = counts.tolist()
    return {name: numbers[2 * i] / max(1, numbers[2 * i + 1]) for i, name in enumerate(batch.regions)}


def forward(model: nn.Module, batch: Batch, look: dict[str, Tensor] | None = None) -> Tensor:
    logits: Tensor = model(
        batch.inputs,
        source=batch.source,
        padding=batch.padding,
        look=look,
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
    """``loss`` and the accuracies, without dropout."""
    with in_mode(model, training=False):
        logits = forward(model, batch)
    loss = loss_of(logits.float(), batch.targets).item()
    perplexity = {"perplexity": math.exp(min(loss, LARGEST_EXPONENT))} if batch.text else {}
    return {"loss": loss, **accuracies(logits.argmax(-1), batch), **perplexity}


@torch.no_grad()
def written_accuracy(model: nn.Module, batch: Batch, first: int) -> float:
    """Accuracy when the model reads its own answers instead of the right ones, from position ``first`` on.

    This is what a leaking mask cannot fake: while writing there is no future to look at.
    """
    was_training = model.training
    model.eval()
    inputs, written = batch.inputs.clone(), torch.full_like(batch.targets, IGNORE)
    for position in range(first, inputs.size(1)):
        end = position + 1
        at = None if batch.positions is None else batch.positions[:end]
        prefix = replace(batch, inputs=inputs[:, :end], targets=batch.targets[:, :end], positions=at)
        written[:, position] = forward(model, prefix)[:, -1].argmax(-1)
        if position + 1 < inputs.size(1):
            inputs[:, position + 1] = written[:, position]
    model.train(was_training)
    return (written[:, first:] == batch.targets[:, first:]).float().mean().item()


def final_metrics(config: RunConfig, model: nn.Module, data: Data, device: torch.device) -> dict[str, float]:
    """Held-out metrics at the end of training, with the written accuracy where the model writes its answer."""
    batch = data.validation_batch().to(device)
    metrics = evaluate(model, batch)
    if "second_half_accuracy" in batch.regions:
        metrics["written_accuracy"] = written_accuracy(model, batch.head(64), config.seq_len - 1)
    elif config.family == "encoder_decoder":
        metrics["written_accuracy"] = written_accuracy(model, batch.head(64), 0)
    return metrics


def by_length(config: RunConfig, model: nn.Module, data: Data, device: torch.device) -> list[dict[str, object]]:
    """Held-out metrics at each test length; a note where the encoding has no row for a position."""
    rows: list[dict[str, object]] = []
    for n in sorted({config.seq_len, *config.test_lengths}) if config.test_lengths else ():
        row: dict[str, object] = {"length": n, "trained": (config.min_seq_len or config.seq_len) <= n <= config.seq_len}
        try:
            row |= evaluate(model, data.validation_batch(n, 128).to(device))
        except NoRow as missing:
            row["note"] = str(missing)
        rows.append(row)
    return rows


def chance_of(config: RunConfig, data: Data) -> dict[str, float]:
    """What blind guessing scores: metric name to value, ``loss`` in nats."""
    sizes = labelled(config)
    guess = data.chance()
    uniform_loss = torch.tensor(float(sizes.n_outputs)).log().item()
    return {"loss": uniform_loss, **dict.fromkeys(data.validation_batch(size=2).regions, guess)}
