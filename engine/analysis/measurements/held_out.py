from bisect import bisect_right
from dataclasses import replace

import torch
from torch import Tensor

from engine.config.run_config import RunConfig
from engine.encodings.base.layer import Positions
from engine.estimate.layout import length_law, shapes
from engine.tasks.base.data import IGNORE
from engine.training.data import Data
from engine.training.evaluation import evaluate, predictions
from engine.training.result import Trained

SEQUENCES, SHUFFLED_SEQUENCES = 512, 256
SHUFFLES = 8  # all sequences of a batch share their positions, so several orders are tried
EDGES = (0, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)  # of the ranges of exposure


def decorrelated(trained: Trained) -> dict[str, float]:
    """``decorrelated_loss`` and ``decorrelated_<accuracy>`` on sequences without the correlation that training has; a task without
    a correlation is tested as in training. Source: Geirhos et al. 2020, Shortcut Learning in Deep Neural Networks."""
    batch = trained.data.decorrelated_batch(size=SEQUENCES).to(trained.device)
    return {f"decorrelated_{name}": value for name, value in evaluate(trained.model, batch).items()}


def shuffle_meters(trained: Trained) -> dict[str, float]:
    """``unchanged_by_content`` and ``unchanged_by_positions``: shares from 0 to 1 of the predictions at asked positions that stay
    when new symbols are drawn, and when the positions are shuffled.

    A model that answers by position alone keeps every prediction when new symbols are drawn, and few when the positions are
    shuffled; one that ignores positions does the opposite. Shuffling: each token keeps its symbol and its index under the mask, but
    gets another token's position, so the set of positions stays the same. Sequences are drawn without the correlation of training,
    if the task has one. Source: Sinha et al. 2022, The Curious Case of Absolute Position Embeddings (there shifted, here shuffled).
    """
    draws = (trained.data.decorrelated_batch(size=SHUFFLED_SEQUENCES, stream=stream) for stream in (3, 4))
    first, second = (batch.to(trained.device) for batch in draws)
    before, resampled = predictions(trained.model, first), predictions(trained.model, second)
    answered = first.targets != IGNORE
    generator = torch.Generator().manual_seed(trained.config.seed)
    shares = []
    for _ in range(SHUFFLES):
        positions = shuffled(first.positions or range(first.inputs.size(1)), generator)
        source = None
        if first.source is not None:
            source = shuffled(first.source_positions or range(first.source.size(1)), generator)
        moved = replace(first, positions=positions, source_positions=source)
        shares.append(share_alike(before, predictions(trained.model, moved), answered))
    return {
        "unchanged_by_content": share_alike(before, resampled, answered & (second.targets != IGNORE)),
        "unchanged_by_positions": sum(shares) / len(shares),
    }


def shuffled(positions: Positions, generator: torch.Generator) -> tuple[int, ...]:
    order: list[int] = torch.randperm(len(positions), generator=generator).tolist()
    return tuple(positions[index] for index in order)


def share_alike(one: Tensor, other: Tensor, answered: Tensor) -> float:
    """The share of equal predictions where ``answered``; all three [batch, length]."""
    return ((one == other) & answered).sum().item() / max(1, int(answered.sum()))


def accuracy_by_position(trained: Trained) -> dict[str, float]:
    """Accuracy against exposure: the accuracy at a position by the number of times that training met it.

    ``accuracy_seen_100_to_300`` and so on: ranges of exposure, the lower bound included; only ranges that occur. When lengths
    follow a distribution, every sequence longer than i meets position i: in expectation batch_size x steps x P(length > i)
    times. Sequences of the full length are tested, and positions of similar exposure pooled.
    """
    batch = trained.data.validation_batch(size=SEQUENCES).to(trained.device)
    answered = batch.targets != IGNORE
    right = ((predictions(trained.model, batch) == batch.targets) & answered).sum(dim=0).tolist()
    counts = answered.sum(dim=0).tolist()
    pooled: dict[str, tuple[int, int]] = {}
    for position, times in enumerate(exposures(trained.config)):
        name = exposure_name(times)
        hits, total = pooled.get(name, (0, 0))
        pooled[name] = hits + right[position], total + counts[position]
    return {name: hits / total for name, (hits, total) in pooled.items() if total}


def exposures(config: RunConfig) -> list[float]:
    """The expected number of training sequences that reach each position that the model reads, [position]."""
    sequences, law = config.batch_size * config.steps, length_law(config)
    reads = {shapes(config, n).length: share for n, share in law.items()}
    return [
        sequences * sum(share for length, share in reads.items() if length > position)
        for position in range(shapes(config).length)
    ]


def exposure_name(times: float) -> str:
    """``accuracy_seen_100_to_300``, or ``accuracy_seen_from_100000`` beyond the last edge."""
    above = bisect_right(EDGES, times)
    if above == len(EDGES):
        return f"accuracy_seen_from_{EDGES[-1]}"
    return f"accuracy_seen_{EDGES[above - 1]}_to_{EDGES[above]}"


def other_text(trained: Trained) -> dict[str, float]:
    """``other_text.loss``: the loss in nats on text that is held out in any case, whatever the run's validation windows are: other plays
    (of a user's text, its last tenth); and ``other_text.flattery``, that loss minus the run's validation loss.

    Raises ValueError if the task reads no text. Source: Kaufman et al. 2012, Leakage in Data Mining.
    """
    if trained.data.corpus is None:
        raise ValueError(f"task is {trained.config.task}; for other_text it must be one that reads a text.")
    other = Data(trained.config.replace(split="plays")).validation_batch().to(trained.device)
    validation = trained.data.validation_batch().to(trained.device)
    loss = evaluate(trained.model, other)["loss"]
    return {"other_text.loss": loss, "other_text.flattery": loss - evaluate(trained.model, validation)["loss"]}
