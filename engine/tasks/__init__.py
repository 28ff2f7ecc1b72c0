"""The registry of tasks. Torch-free: implementations are imported by workers only.

To add one: write ``engine/tasks/<name>.py`` with a small class, and add one row here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.settings import Parameters
from engine.tasks import parameters as p

TRANSDUCER = ("decoder", "encoder", "encoder_decoder")
"""A sequence in, a sequence out: continued by a decoder, relabelled in place by an encoder, or translated."""
LABELLER = ("decoder", "encoder")
"""One answer at each position read; a decoder sees the past only."""

READER = ("decoder",)
"""The next token at each position; whoever sees it would only copy it."""


def _symbols(config: Any) -> int:
    return int(config.task_settings.vocab_size)


def _none(config: Any) -> int:
    return 0


def _whole(config: Any) -> tuple[tuple[int, ...], ...] | None:
    return None


def _never(config: Any) -> bool:
    return False


def _positions(config: Any) -> int:
    return int(max(config.seq_len, *config.test_lengths, 0))


@dataclass(frozen=True)
class TaskRow:
    """One task: what it asks, one worked sample in words, and which families can take it."""

    name: str
    label: str
    summary: str
    sample: str
    parameters: type[Parameters]
    families: tuple[str, ...]
    implementation: str
    """``module:TASK``, an :class:`engine.tasks.rule.TaskRule`."""
    extra_tokens: int = 0
    """Tokens above the symbols (begin of sequence, padding)."""
    n_answers: Callable[[Any], int] = _symbols
    """From the RunConfig: how many classes the output layer has."""
    lead_tokens: Callable[[Any], int] = _none
    """From the RunConfig: how many tokens stand before the first position."""
    n_symbols: Callable[[Any], int] = _symbols
    """From the RunConfig: how many symbols a source sequence may hold."""
    token_parts: Callable[[Any], tuple[tuple[int, ...], ...] | None] = _whole
    """From the RunConfig: for each token the rows of the embedding whose sum it is; None where each token has its own."""
    corpus: bool = False
    """Whether sequences are cut from a text rather than drawn by a rule."""
    pads: Callable[[Any], bool] = _never
    """From the RunConfig: whether sequences of one batch differ in length."""


TASKS: dict[str, TaskRow] = {
    row.name: row
    for row in (
        TaskRow(
            "reverse",
            "Reverse",
            "Write the sequence backwards.",
            "3 1 4 → 4 1 3",
            p.SymbolParameters,
            TRANSDUCER,
            "engine.tasks.reverse:TASK",
        ),
        TaskRow(
            "copy",
            "Copy",
            "Write the sequence again.",
            "3 1 4 → 3 1 4",
            p.SymbolParameters,
            TRANSDUCER,
            "engine.tasks.copy:TASK",
        ),
        TaskRow(
            "k_back",
            "k back",
            "At each position, name the symbol k positions earlier.",
            "k = 1: 3 1 4 → · 3 1",
            p.KBackParameters,
            LABELLER,
            "engine.tasks.k_back:TASK",
        ),
        TaskRow(
            "sort",
            "Sort",
            "Write the symbols in ascending order.",
            "3 1 4 → 1 3 4",
            p.SymbolParameters,
            TRANSDUCER,
            "engine.tasks.sort:TASK",
        ),
        TaskRow(
            "first_token",
            "First token",
            "At each position, name the first symbol of the sequence.",
            "3 1 4 → · 3 3",
            p.SymbolParameters,
            LABELLER,
            "engine.tasks.first_token:TASK",
        ),
        TaskRow(
            "own_position",
            "Own position",
            "At each position, name the position; the symbols do not help.",
            "3 1 4 → 0 1 2",
            p.OwnPositionParameters,
            LABELLER,
            "engine.tasks.own_position:TASK",
            extra_tokens=2,
            n_answers=_positions,
            lead_tokens=lambda config: int(config.task_settings.bos),
            pads=lambda config: config.task_settings.variant == "padded",
        ),
        TaskRow(
            "lookup",
            "Look-up",
            "Find the pair with the asked key and name its value.",
            "c1 a0 b3 b? → · · · 3",
            p.LookupParameters,
            LABELLER,
            "engine.tasks.lookup:TASK",
            n_answers=lambda config: int(config.task_settings.vocab_size**config.task_settings.lookups),
            n_symbols=lambda config: int(config.task_settings.n_keys * (config.task_settings.vocab_size + 1)),
            token_parts=lambda config: p.key_and_value(config.task_settings),
        ),
        TaskRow(
            "shakespeare_chars",
            "Next character",
            "Name the next character of Shakespeare's plays, or of a text of your own.",
            "T o ␣ b → o ␣ b e",
            p.CharacterParameters,
            READER,
            "engine.tasks.shakespeare_chars:TASK",
            corpus=True,
        ),
        TaskRow(
            "shakespeare_words",
            "Next word",
            "Name the next word, or what stands before it, of Shakespeare's plays or of a text of your own.",
            "to ␣ be → ␣ be ,",
            p.WordParameters,
            READER,
            "engine.tasks.shakespeare_words:TASK",
            corpus=True,
        ),
    )
}
