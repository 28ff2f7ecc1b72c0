"""How a family reads a task: the shapes of what goes in and comes out. Torch-free.

A transducer (reverse, copy, sort) is continued by a decoder, which reads ``x1..xn y1..yn`` as next-token
prediction; relabelled in place by an encoder; translated by an encoder-decoder. A labeller (k back, first
token, own position) is answered at each position read. A family without attention reads as a decoder does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypedDict

from engine.config import RunConfig
from engine.tasks import TASKS


class ModelShapes(TypedDict):
    n_tokens: int
    n_outputs: int
    max_positions: int


@dataclass(frozen=True)
class Shapes:
    """The sizes a run's task and family ask of the model, for source sequences of ``n`` symbols."""

    n_tokens: int
    """Rows of the token embedding."""
    n_outputs: int
    """Classes of the output layer."""
    length: int
    """Positions the model reads: [batch, length]."""
    source_length: int | None
    """Positions of the encoder side of an encoder-decoder."""

    @property
    def of_model(self) -> ModelShapes:
        """What the model is built from; a learned table has a row for each position read while training."""
        return {"n_tokens": self.n_tokens, "n_outputs": self.n_outputs, "max_positions": self.length}


def continues(config: RunConfig) -> bool:
    """Whether the model writes its answer after the question, in one sequence."""
    return config.family_row.reads_as == "decoder" and "encoder_decoder" in TASKS[config.task].families


def shapes(config: RunConfig, n: int | None = None) -> Shapes:
    """With pre-training there are tokens and classes of its own besides the task's."""
    own = labelled(config, n)
    if not config.pretrain_steps:
        return own
    if config.pretrain_on == "next_token":
        return replace(own, n_outputs=own.n_outputs + own.n_tokens)
    symbols: int = config.task_settings.vocab_size  # type: ignore[attr-defined]
    return replace(own, n_tokens=own.n_tokens + symbols, n_outputs=2 * own.n_outputs)


def labelled(config: RunConfig, n: int | None = None) -> Shapes:
    """The sizes of the task itself, whatever came before it."""
    row, n = TASKS[config.task], n or config.seq_len
    translates = config.family == "encoder_decoder"
    return Shapes(
        n_tokens=config.task_settings.vocab_size + row.extra_tokens + int(translates),  # type: ignore[attr-defined]
        n_outputs=row.n_answers(config),
        length=2 * n - 1 if continues(config) else n + row.lead_tokens(config),
        source_length=n if translates else None,
    )


def metric_names(config: RunConfig) -> tuple[str, ...]:
    """The accuracies this task has in this family; the first is the one to look at."""
    return ("second_half_accuracy", "first_half_accuracy") if continues(config) else ("accuracy",)


def loss_floor(config: RunConfig) -> float | None:
    """The lowest validation loss any model can reach, in nats; None where it is not known.

    A decoder that reads its own question cannot know symbols 2..n of it: ln(vocabulary) each, of 2n - 1 places.
    Where the training answers are noisy the best model of the noise is not the best of the clean answers.
    """
    if config.label_noise or config.min_seq_len not in (None, config.seq_len):
        return None
    if not continues(config):
        return 0.0
    n = config.seq_len
    return (n - 1) / (2 * n - 1) * math.log(config.task_settings.vocab_size)  # type: ignore[attr-defined]
