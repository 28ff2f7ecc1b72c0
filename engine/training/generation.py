"""Writing an answer token by token: each token is predicted after those that the model itself wrote."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace

import torch
from torch import Tensor, nn

from engine.config.run_config import RunConfig
from engine.encodings.base.layer import Positions
from engine.estimate.layout import keeps_past
from engine.model.baseline import Baseline
from engine.model.cached import KeyValueCache, next_logits
from engine.model.mode import in_mode
from engine.model.recurrent import Recurrent, State
from engine.model.transformer import Transformer
from engine.runs.events import Measuring
from engine.training.data import Batch
from engine.training.evaluation import forward

Read = Callable[[Tensor], Tensor]
"""All tokens so far [batch, length] -> logits of the next token [batch, n_outputs]. Each call must repeat the tokens of the
call before and add to them: the first call takes any number of tokens, each later call one more."""


def generation_accuracy(
    config: RunConfig, model: nn.Module, batch: Batch, first: int
) -> Generator[Measuring, None, float]:
    """The share of right answers from position ``first`` on when the model reads its own answers instead of the right ones.

    A leaking mask cannot raise this number: while the model writes there are no later tokens to read. Yields after each
    position, so that a caller can do other work in between.
    """
    inputs, written, length = batch.inputs.clone(), torch.zeros_like(batch.targets), batch.inputs.size(1)
    read = reader(config, model, batch)
    for position in range(first, length):
        with torch.no_grad(), in_mode(model, training=False):
            written[:, position] = read(inputs[:, : position + 1]).argmax(-1)
        if position + 1 < length:
            inputs[:, position + 1] = written[:, position]
        yield Measuring(config.steps)
    return (written[:, first:] == batch.targets[:, first:]).float().mean().item()


def reader(config: RunConfig, model: nn.Module, batch: Batch) -> Read:
    """The function that reads the sequences of a batch token by token; it keeps earlier results where they stay valid."""
    if keeps_past(config) and isinstance(model, Transformer):
        return _with_keys_and_values(model, batch)
    if keeps_past(config) and isinstance(model, Baseline) and isinstance(model.body, Recurrent):
        return _with_states(model, model.body)
    return _from_the_start(config, model, batch)


def _with_keys_and_values(model: Transformer, batch: Batch) -> Read:
    cache = KeyValueCache()

    def read(tokens: Tensor) -> Tensor:
        if model.source_stack is not None and cache.memory is None and batch.source is not None:
            source_at = batch.source_positions or range(batch.source.size(1))
            cache.memory = model.source_stack(model.embedding(batch.source), source_at, None)
        return next_logits(model, tokens[:, cache.length :], cache, _positions(batch, tokens.size(1)))[:, -1]

    return read


def _with_states(model: Baseline, body: Recurrent) -> Read:
    states: list[State] = [None] * len(body.layers)
    known = 0

    def read(tokens: Tensor) -> Tensor:
        nonlocal states, known
        x, states = body.resume(model.embedding(tokens[:, known:]), states)
        known = tokens.size(1)
        logits: Tensor = model.head(x[:, -1])
        return logits

    return read


def _from_the_start(config: RunConfig, model: nn.Module, batch: Batch) -> Read:
    """Reads the whole sequence again for each token, or the part that the model can see."""
    sees = config.architecture.sees(config)

    def read(tokens: Tensor) -> Tensor:
        tokens = tokens if sees is None else tokens[:, -sees:]
        prefix = replace(batch, inputs=tokens, positions=_positions(batch, tokens.size(1)))
        return forward(model, prefix)[:, -1]

    return read


def _positions(batch: Batch, length: int) -> Positions | None:
    return None if batch.positions is None else batch.positions[:length]
