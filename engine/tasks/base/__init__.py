"""The specification of a task: its facts and settings, without its sequences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Self

from engine.settings.base import BaseConfig
from engine.settings.fields import Parameters, setting

TRANSDUCER = ("decoder", "encoder", "encoder_decoder")
"""Architectures for a sequence in, a sequence out: continued by a decoder, relabelled in place by an encoder, or translated."""
LABELLER = ("decoder", "encoder")
"""Architectures for one answer at each position read; a decoder sees the past only."""
READER = ("decoder",)
"""The answer stands in the sequence itself, one position on: an architecture that sees it need not learn anything."""
ENCODER = ("encoder",)
"""An answer may depend on what comes after it."""

Group = Literal["rewrite", "place", "symbol", "count", "next"]
GROUPS: dict[Group, str] = {
    "rewrite": "Write the symbols again, in some order",
    "place": "Find a symbol by its place",
    "symbol": "Find an answer by another symbol",
    "count": "Count",
    "next": "Say what comes next",
}
"""What the tasks of a group ask for, in the order of every list."""

Breach = tuple[str, str]
"""A setting whose value does not fit, and what it may be."""


class TaskSettings(Parameters):
    """A task's own settings, and the sizes, names, rules and warnings that follow from them. A task overrides what it changes.

    Tokens are numbered: first the symbols, then either the begin-of-sequence token and the padding token or the task's named
    tokens.
    """

    @property
    def n_symbols(self) -> int:
        """The number of different symbols that the input is written with."""
        raise NotImplementedError

    def n_answers(self, config: BaseConfig) -> int:
        """The number of classes of the output layer."""
        return self.n_symbols

    @property
    def extra_tokens(self) -> int:
        """The number of unnamed tokens above the symbols (begin of sequence, padding)."""
        return 0

    @property
    def named_tokens(self) -> tuple[str, ...]:
        """The names of the task's own tokens, numbered from just above the symbols."""
        return ()

    @property
    def n_tokens(self) -> int:
        """The number of all of the task's tokens."""
        return self.n_symbols + self.extra_tokens + len(self.named_tokens)

    @property
    def lead_tokens(self) -> int:
        """The number of tokens that stand before the first position."""
        return 0

    @property
    def pad_token(self) -> int | None:
        """The padding token; None where all sequences of a batch have one length."""
        return None

    @property
    def token_parts(self) -> tuple[tuple[int, ...], ...] | None:
        """The rows of the embedding whose sum each token is; None where each token has a row of its own."""
        return None

    @property
    def sister_symbols(self) -> int:
        """The number of symbols that a sister task writes otherwise (:mod:`engine.training.pretraining`); 0 where it has none."""
        return 0

    @property
    def nothing(self) -> int | None:
        """The answer where there is nothing to say; None where the task has no such answer."""
        return None

    @property
    def floor(self) -> float:
        """The lowest mean loss that the answers allow, in nats; above 0 where they are drawn by chance."""
        return 0.0

    def chance(self, config: BaseConfig) -> float:
        """The share of answers that the best constant guess gets right."""
        return 1.0 / self.n_answers(config)

    def distinct(self, length: int) -> float:
        """About how many sequences of a length can be drawn; of a few none can be held out."""
        return int(self.n_symbols**length)

    def unknown_share(self) -> float:
        """The share of the held-out tokens that are the unknown token, from 0 to 1; of a text only."""
        return 0.0

    def decorrelated(self) -> Self:
        """The settings that draw sequences without the correlation that a model could use instead of the rule."""
        return self

    def partners(self, length: int) -> Sequence[int] | None:
        """For each symbol of the answer, the place in the question of the symbol that it repeats, of a question of this length. None where
        positions are not coupled."""
        return None

    def token_name(self, token: int) -> str:
        """The name of a symbol in a figure."""
        return str(token)

    def answer_name(self, answer: int) -> str:
        """The name of an answer in a figure."""
        return str(answer)

    def sample(self, usual: str) -> str:
        """The worked sample with these settings; ``usual`` is that of the specification, with the defaults."""
        return usual

    def broken_rules(self, config: BaseConfig) -> Iterator[Breach]:
        """The task's rules between settings that a config breaks, the first to name first."""
        yield from ()

    def warnings(self, config: BaseConfig) -> Iterator[str]:
        """Warnings about a config, one sentence each with the reason."""
        yield from ()

    def beyond_offsets(self, config: BaseConfig) -> str | None:
        """The reason why an encoding of offsets alone cannot answer, in one sentence; None where offsets are enough."""
        return None


class SymbolSettings(TaskSettings):
    """The settings of a task whose sequences are written with symbols that mean nothing by themselves."""

    vocab_size: int = setting(10, "Symbols", "Number of different symbols. Chance is one over it.", ge=2, le=1000)

    @property
    def n_symbols(self) -> int:
        return self.vocab_size

    @property
    def sister_symbols(self) -> int:
        return self.vocab_size


class CoupledSettings(SymbolSettings):
    """The settings of a task that writes the symbols of its question again, each from a place that is known beforehand.

    Source: Cho et al. 2024, Position Coupling: Improving Length Generalization of Arithmetic Transformers Using Task Structure.
    """

    coupled_positions: bool = setting(
        False, "Coupled positions",
        "Each answer symbol has the position of the symbol that it repeats. In training, the first position is random.",
    )  # fmt: skip

    def order(self, length: int) -> Sequence[int]:
        """The places in the question from which the answer is written."""
        raise NotImplementedError

    def partners(self, length: int) -> Sequence[int] | None:
        return self.order(length) if self.coupled_positions else None

    def broken_rules(self, config: BaseConfig) -> Iterator[Breach]:
        if self.coupled_positions and config.family != "decoder":
            yield (
                "coupled_positions",
                f"false for family {config.family}: a decoder reads question and answer as one sequence",
            )
        elif self.coupled_positions and config.randomized_positions > 1:
            yield "coupled_positions", "false where randomized_positions is above 1: both set the positions"


@dataclass(frozen=True)
class TaskSpec:
    """One task: its name, its question, one worked sample in words, and the architectures that can take it.

    The specification of task ``name`` is ``SPEC`` in ``engine/tasks/<name>/__init__.py``; its sequences and answers are ``TASK``
    in ``engine/tasks/<name>/data.py``, which :func:`engine.tasks.base.data.task_data` loads; tasks on a text share
    ``engine/tasks/text/data.py``.
    """

    name: str
    label: str
    summary: str
    sample: str
    settings: type[TaskSettings]
    architectures: tuple[str, ...]
    """The architectures that can learn it, among ``decoder``, ``encoder`` and ``encoder_decoder``; a baseline reads as one of them."""
    group: Group
    """What it asks for; tasks of one group stand together in lists."""
    corpus: bool = False
    """Whether sequences are cut from a text rather than drawn by a rule; the settings are then TextSettings."""
    order_matters: bool = False
    """Whether the answer depends on where a symbol stands."""
    shortest: int = 2
    """The shortest sequence that asks anything."""
