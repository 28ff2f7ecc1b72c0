"""The layout of a task for an architecture: the sizes of the sequences and of the model's input and output.

Transduction tasks (reverse, copy, sort): a decoder continues ``x1..xn y1..yn`` by next-token prediction, an encoder relabels
the sequence in place, an encoder-decoder translates it. Labelling tasks (k back, first token, own position) have an answer
at each position. A family without attention reads as a decoder does.
"""

import math
from dataclasses import dataclass, replace
from typing import TypedDict

from engine.config.run_config import RunConfig
from engine.tasks import TASKS

VALIDATION_SIZE = 256  # sequences of a validation pass
TESTED = 128  # sequences of each test length
LONG = 128  # symbols above which fewer sequences are held out


class ModelShapes(TypedDict):
    n_tokens: int
    n_outputs: int
    max_positions: int


@dataclass(frozen=True)
class Shapes:
    n_tokens: int  # rows of the token embedding
    n_outputs: int  # classes of the output layer
    length: int  # positions that the model reads: [batch, length]
    source_length: int | None
    position_range: int  # upper bound of all positions: the length, unless positions are drawn from a larger range
    padded: bool = False
    # the targets are cut out of longer rows, one token further than the inputs: the loss then copies them
    cut_targets: bool = False

    @property
    def of_model(self) -> ModelShapes:
        """The arguments of ``build_model``; a learned table has a row for each position met in training."""
        return {"n_tokens": self.n_tokens, "n_outputs": self.n_outputs, "max_positions": self.position_range}


def continues(config: RunConfig) -> bool:
    """True if the model writes its answer after the question, in one sequence."""
    return config.architecture.reads_as == "decoder" and "encoder_decoder" in TASKS[config.task].architectures


def writes_answer(config: RunConfig) -> bool:
    """True if the model writes its answer token by token, each after its own earlier ones."""
    return continues(config) or config.family == "encoder_decoder"


def shapes(config: RunConfig, n: int | None = None) -> Shapes:
    """The sizes with the tokens and classes that pre-training adds; ``n``: the symbols of a sequence."""
    task = labelled(config, n)
    if not config.pretrain_steps:
        return task
    if config.pretrain_on == "next_token":
        return replace(task, n_outputs=task.n_outputs + task.n_tokens)
    sisters = config.task_settings.sister_symbols
    return replace(task, n_tokens=task.n_tokens + sisters, n_outputs=2 * task.n_outputs)


def labelled(config: RunConfig, n: int | None = None) -> Shapes:
    n, settings = n or config.seq_len, config.task_settings
    n_tokens = settings.n_tokens + int(config.family == "encoder_decoder")
    if settings.token_parts is not None:
        n_tokens = 1 + max(map(max, settings.token_parts))
    return Shapes(
        n_tokens=n_tokens, n_outputs=settings.n_answers(config),
        length=_length_read(config, n), source_length=n if config.family == "encoder_decoder" else None,
        position_range=_position_range(config, n), padded=settings.pad_token is not None,
        cut_targets=continues(config) or TASKS[config.task].corpus,
    )  # fmt: skip


def _length_read(config: RunConfig, n: int) -> int:
    return 2 * n - 1 if continues(config) else n + config.task_settings.lead_tokens


def _position_range(config: RunConfig, n: int) -> int:
    longest = max(config.seq_len, *config.test_lengths, 0)
    # coupled and randomized positions have one range for all lengths, large enough for the longest
    if config.task_settings.partners(longest) is not None:
        return longest
    if config.randomized_positions == 1:
        return _length_read(config, n)
    return config.randomized_positions * _length_read(config, longest)


def validation_size(n: int) -> int:
    # fewer long ones: their attention matrices then take no more memory than VALIDATION_SIZE sequences of length LONG
    return max(4, int(VALIDATION_SIZE * min(1.0, (LONG / n) ** 2)))


def generation_size(n: int) -> int:
    return max(4, validation_size(n) // 4)


def keeps_past(config: RunConfig) -> bool:
    """True if the tensors of a token stay valid when another token is read after it."""
    if not config.architecture.attends:
        # a CNN keeps no tensors
        return config.architecture.sees(config) is None
    # with a fault a token depends on later ones
    return config.causal and config.mask_fault == "none" and config.softmax_axis == "key"


def trained_lengths(config: RunConfig) -> range:
    return range(config.min_seq_len or config.seq_len, config.seq_len + 1)


def length_law(config: RunConfig) -> dict[int, float]:
    """The probability of each length in training: P(n + 1) = length_decay P(n) from the shortest to the longest."""
    lengths = trained_lengths(config)
    weights = {n: config.length_decay ** (n - lengths.start) for n in lengths}
    total = sum(weights.values())
    return {n: weight / total for n, weight in weights.items()}


def metric_names(config: RunConfig) -> tuple[str, ...]:
    return ("second_half_accuracy", "first_half_accuracy") if continues(config) else ("accuracy",)


def loss_floor(config: RunConfig) -> float | None:
    """The lowest validation loss any model can reach, in nats; None if it is not known."""
    # with noisy answers the best model of the noise is not the best of the clean answers
    if config.label_noise or config.min_seq_len not in (None, config.seq_len) or TASKS[config.task].corpus:
        return None
    if not continues(config):
        return config.task_settings.floor
    # a decoder that reads its own question cannot know symbols 2..n of it: ln(vocabulary) each, of 2n - 1 positions
    n = config.seq_len
    return (n - 1) / (2 * n - 1) * math.log(config.task_settings.n_symbols)
