"""Pre-training: the steps before a run's usual sequences, on a related task that has many labels or on unlabelled sequences.

``sister``: the same rule with other symbols in question and answer, so that the rule carries over and not the embedding of any
symbol. ``next_token``: the task's sequences without their answers; the model predicts the next token. Both draw fresh sequences for
every step.
"""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from engine.config.run_config import RunConfig
from engine.estimate.layout import labelled
from engine.tasks.base.data import IGNORE
from engine.training.data import Batch, Data


def sister(config: RunConfig, batch: Batch) -> Batch:
    """The batch in the symbols of the sister task: symbol s becomes token ``n_tokens + s``, answer a class ``n_answers + a``."""
    task, symbols = labelled(config), config.task_settings.sister_symbols

    def other(tokens: Tensor) -> Tensor:
        return torch.where(tokens < symbols, tokens + task.n_tokens, tokens)

    return replace(
        batch,
        inputs=other(batch.inputs),
        targets=torch.where(batch.targets == IGNORE, IGNORE, batch.targets + task.n_outputs),
        source=None if batch.source is None else other(batch.source),
    )


def next_token(config: RunConfig, batch: Batch) -> Batch:
    """The batch with the next token as target: class ``n_answers + next token`` at each position but the last."""
    targets = torch.full_like(batch.inputs, IGNORE)
    targets[:, :-1] = batch.inputs[:, 1:] + labelled(config).n_outputs
    if batch.token_mask is not None:
        targets[:, :-1][~batch.token_mask[:, 1:]] = IGNORE
    return replace(batch, targets=targets, regions={"accuracy": slice(None)})


RELATED: dict[str, Callable[[RunConfig, Batch], Batch]] = {"sister": sister, "next_token": next_token}


class Pretraining(Data):
    def __init__(self, config: RunConfig) -> None:
        super().__init__(config.replace(dataset_size=None, label_noise=0.0))
        # With the run's own seed, the first sister sequences would be the labelled ones in other symbols.
        self.generator.manual_seed(2**33 + config.seed)

    def training_batches(self, count: int) -> list[tuple[Tensor, Batch]]:
        related = RELATED[self.config.pretrain_on]
        return [(state, related(self.config, batch)) for state, batch in super().training_batches(count)]
