"""The registry of tasks. Torch-free: implementations are imported by workers only.

To add one: write ``engine/tasks/<name>.py`` with a small class, and add one row here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.settings.fields import Parameters
from engine.tasks import parameters as p
from engine.tasks.markov_source import source_of

TRANSDUCER = ("decoder", "encoder", "encoder_decoder")
"""A sequence in, a sequence out: continued by a decoder, relabelled in place by an encoder, or translated."""
LABELLER = ("decoder", "encoder")
"""One answer at each position read; a decoder sees the past only."""
READER = ("decoder",)
"""The answer stands in the sequence itself, one position on: whoever may see it need not learn anything."""
ENCODER = ("encoder",)
"""An answer may depend on what comes after it."""


def _symbols(config: Any) -> int:
    return int(config.task_settings.vocab_size)


def _with_offset(config: Any) -> int:
    return int(config.task_settings.vocab_size * config.task_settings.max_offset)


def _none(config: Any) -> int:
    return 0


def _no_names(config: Any) -> tuple[str, ...]:
    return ()


def _whole(config: Any) -> tuple[tuple[int, ...], ...] | None:
    return None


def _never(config: Any) -> bool:
    return False


def _certain(config: Any) -> float:
    return 0.0


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
    n_symbols: Callable[[Any], int] = _symbols
    """From the RunConfig: how many different tokens the input is written with."""
    extra_tokens: int = 0
    """Tokens above those (begin of sequence, padding)."""
    named_tokens: Callable[[Any], tuple[str, ...]] = _no_names
    """From the RunConfig: names of the task's own tokens, numbered from just above the symbols."""
    n_answers: Callable[[Any], int] = _symbols
    """From the RunConfig: how many classes the output layer has."""
    lead_tokens: Callable[[Any], int] = _none
    """From the RunConfig: how many tokens stand before the first position."""
    token_parts: Callable[[Any], tuple[tuple[int, ...], ...] | None] = _whole
    """From the RunConfig: for each token the rows of the embedding whose sum it is; None where each token has its own."""
    corpus: bool = False
    """Whether sequences are cut from a text rather than drawn by a rule."""
    pads: Callable[[Any], bool] = _never
    """From the RunConfig: whether sequences of one batch differ in length."""
    floor: Callable[[Any], float] = _certain
    """From the RunConfig: the lowest mean loss that the answers allow, in nats; above 0 where they are drawn by chance."""
    shortest: int = 2
    """The shortest sequence that asks anything."""


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
            "permutation",
            "Permutation",
            "Write the symbols in one fixed order, which has to be found out.",
            "order 3 1 2: 3 1 4 → 4 3 1",
            p.PermutationParameters,
            TRANSDUCER,
            "engine.tasks.permutation:TASK",
        ),
        TaskRow(
            "content_offset",
            "Content offset",
            "Each token says how far back the symbol stands that it asks for.",
            "3₁ 1₁ 4₂ → · 3 3",
            p.ContentOffsetParameters,
            LABELLER,
            "engine.tasks.content_offset:TASK",
            n_symbols=_with_offset,
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
            "parity",
            "Parity",
            "After the last bit, say whether the ones so far are odd in number.",
            "1 0 1 → · · 0",
            p.ParityParameters,
            LABELLER,
            "engine.tasks.parity:TASK",
        ),
        TaskRow(
            "dyck",
            "Bracket depth",
            "After each bracket (0 opens, 1 closes), say how many are open.",
            "0 0 1 → 1 2 1",
            p.DyckParameters,
            LABELLER,
            "engine.tasks.dyck:TASK",
            n_answers=lambda config: int(config.task_settings.max_depth) + 1,
        ),
        TaskRow(
            "recall",
            "Associative recall",
            "Pairs of key and value, then one of the keys: name its value.",
            "0 7 1 5 0 → · · · · 7",
            p.RecallParameters,
            LABELLER,
            "engine.tasks.recall:TASK",
            shortest=3,
        ),
        TaskRow(
            "markov",
            "Markov source",
            "At each position, name the next symbol of a source that looks two symbols back.",
            "3 1 4 → · 4 ·",
            p.MarkovParameters,
            READER,
            "engine.tasks.markov:TASK",
            floor=lambda config: source_of(config.task_settings).entropy_rate,
            shortest=3,
        ),
        TaskRow(
            "key_token",
            "Key token",
            "One key stands somewhere; it says how far every symbol moves round the circle of symbols.",
            "3 1 K2 → 1 3 ·",
            p.KeyTokenParameters,
            ENCODER,
            "engine.tasks.key_token:TASK",
            named_tokens=lambda config: tuple(f"K{j}" for j in range(config.task_settings.vocab_size)),
        ),
        TaskRow(
            "cue_majority",
            "Majority with a cue",
            "At the last position, say whether most symbols are high; the cue in front may give it away.",
            "↑ 3 7 1 → · · · 0",
            p.CueMajorityParameters,
            ENCODER,
            "engine.tasks.cue_majority:TASK",
            named_tokens=lambda config: ("↓", "↑", "□"),
            n_answers=lambda config: 2,
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
            "to be , → be , or",
            p.WordParameters,
            READER,
            "engine.tasks.shakespeare_words:TASK",
            corpus=True,
        ),
    )
}
