from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Self

from engine.settings.base import BaseConfig
from engine.settings.fields import Parameters, setting

# a sequence in, a sequence out: continued by a decoder, relabelled in place by an encoder, or translated
TRANSDUCER = ("decoder", "encoder", "encoder_decoder")
LABELLER = ("decoder", "encoder")  # one answer at each position read; a decoder sees the past only
# the answer stands in the sequence itself, one position on: an architecture that sees it need not learn anything
READER = ("decoder",)
ENCODER = ("encoder",)  # an answer may depend on what comes after it

Group = Literal["rewrite", "place", "symbol", "count", "next"]
# in the order of every list
GROUPS: dict[Group, str] = {
    "rewrite": "Write the symbols again, in some order",
    "place": "Find a symbol by its place",
    "symbol": "Find an answer by another symbol",
    "count": "Count",
    "next": "Say what comes next",
}

Breach = tuple[str, str]  # a setting whose value does not fit, and its allowed values


class TaskSettings(Parameters):
    """A task's specific settings, and the sizes, names, rules and warnings that follow from them.

    Tokens are numbered: first the symbols, then either the begin-of-sequence token and the padding token or the task's named tokens.
    """

    @property
    def n_symbols(self) -> int:
        # the number of different symbols that the input is written with
        raise NotImplementedError

    def n_answers(self, config: BaseConfig) -> int:
        return self.n_symbols

    @property
    def extra_tokens(self) -> int:
        return 0  # unnamed, above the symbols: begin of sequence, padding

    @property
    def named_tokens(self) -> tuple[str, ...]:
        """The names of tokens that are numbered from just above the symbols."""
        return ()

    @property
    def n_tokens(self) -> int:
        return self.n_symbols + self.extra_tokens + len(self.named_tokens)

    @property
    def lead_tokens(self) -> int:
        return 0  # before the first position

    @property
    def pad_token(self) -> int | None:
        """None if all sequences of a batch have one length."""
        return None

    @property
    def token_parts(self) -> tuple[tuple[int, ...], ...] | None:
        """The rows of the embedding whose sum each token is; None if each token has its own row."""
        return None

    @property
    def sister_symbols(self) -> int:
        """Symbols that a sister task writes otherwise (:mod:`engine.training.pretraining`); 0 if it has none."""
        return 0

    @property
    def nothing(self) -> int | None:
        """The answer that says nothing; None if the task has no such answer."""
        return None

    @property
    def floor(self) -> float:
        """The lowest mean loss that the answers allow, in nats; above 0 if they are drawn by chance."""
        return 0.0

    def chance(self, config: BaseConfig) -> float:
        """The share of answers that the best constant guess gets right."""
        return 1.0 / self.n_answers(config)

    def distinct(self, length: int) -> float:
        # of a few none can be held out
        return int(self.n_symbols**length)  # about so many sequences can be drawn

    def unknown_share(self) -> float:
        """The share of the held-out tokens that are the unknown token, from 0 to 1; above 0 only for a text."""
        return 0.0

    def decorrelated(self) -> Self:
        return self

    def partners(self, length: int) -> Sequence[int] | None:
        """For each symbol of the answer, the index in the question of the symbol that it repeats. None if positions are not coupled."""
        return None

    def token_name(self, token: int) -> str:
        return str(token)

    def answer_name(self, answer: int) -> str:
        return str(answer)

    def sample(self, usual: str) -> str:
        """The worked sample; ``usual``: that of the specification, with the defaults."""
        return usual

    def broken_rules(self, config: BaseConfig) -> Iterator[Breach]:
        """The task's rules between settings that a config breaks, in the order in which to name them."""
        yield from ()

    def warnings(self, config: BaseConfig) -> Iterator[str]:
        """Sentences, each with its reason."""
        yield from ()

    def beyond_offsets(self, config: BaseConfig) -> str | None:
        """The reason why an encoding of offsets alone cannot answer, in one sentence; None if offsets are enough."""
        return None


class SymbolSettings(TaskSettings):
    vocab_size: int = setting(10, "Symbols", "Number of different symbols. Chance is one over it.", ge=2, le=1000)

    @property
    def n_symbols(self) -> int:
        return self.vocab_size

    @property
    def sister_symbols(self) -> int:
        return self.vocab_size


class CoupledSettings(SymbolSettings):
    """Settings of a task that writes the symbols of its question again, in an order that is known beforehand.

    Source: Cho et al. 2024, Position Coupling: Improving Length Generalization of Arithmetic Transformers Using Task Structure.
    """

    coupled_positions: bool = setting(
        False, "Coupled positions",
        "Each answer symbol has the position of the symbol that it repeats. In training, the first position is random.",
    )  # fmt: skip

    def order(self, length: int) -> Sequence[int]:
        """The index in the question of each symbol of the answer."""
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
    """The specification of task ``name`` is ``SPEC`` in ``engine/tasks/<name>/__init__.py``; its sequences and answers are ``TASK`` in
    ``engine/tasks/<name>/data.py``, which :func:`engine.tasks.base.data.task_data` loads; tasks on a text share
    ``engine/tasks/text/data.py``."""

    name: str
    label: str
    summary: str
    sample: str
    settings: type[TaskSettings]
    architectures: tuple[str, ...]  # those that can learn it; a baseline reads as one of them
    group: Group
    corpus: bool = False  # sequences are cut from a text, not drawn by a rule; the settings are then TextSettings
    order_matters: bool = False  # the answer depends on the position of a symbol
    shortest: int = 2  # the shortest sequence that asks anything
