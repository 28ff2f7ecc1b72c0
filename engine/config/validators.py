"""Rules between settings. The message of each names one setting, its value and the allowed values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from engine.architectures import ARCHITECTURES
from engine.config.composed import ComposedConfig
from engine.settings.errors import Problem
from engine.settings.fields import to_text
from engine.tasks import TASKS

Rule = Callable[[ComposedConfig], tuple[str, str] | None]
"""A rule returns the setting at fault and its allowed values, or None where the rule holds."""


def _family_takes_task(c: ComposedConfig) -> tuple[str, str] | None:
    families = [name for name, row in ARCHITECTURES.items() if row.reads_as in TASKS[c.task].architectures]
    return None if c.family in families else ("family", f"one of {', '.join(families)} for task {c.task}")


def _heads_divide_width(c: ComposedConfig) -> tuple[str, str] | None:
    if c.architecture.attends and c.d_head is None and c.d_model % c.n_heads:
        divisors = [n for n in range(1, 65) if c.d_model % n == 0]
        return "n_heads", f"a divisor of d_model {c.d_model} ({', '.join(map(str, divisors))}), or any with d_head set"
    return None


def _rotation_needs_pairs(c: ComposedConfig) -> tuple[str, str] | None:
    rotates = c.architecture.attends and c.encoding.acts_on == "rotation"
    if not rotates or c.head_width % 2 == 0:
        return None
    if c.d_head is not None:
        return "d_head", f"an even number, since {c.pos_encoding} rotates dimensions in pairs"
    fitting = [n for n in range(1, 65) if c.d_model % n == 0 and c.d_model // n % 2 == 0]
    return (
        "n_heads",
        f"one that leaves an even d_head for {c.pos_encoding} ({', '.join(map(str, fitting)) or 'none here'})",
    )


def _tied_answers_are_tokens(c: ComposedConfig) -> tuple[str, str] | None:
    own = c.task_settings
    tokens = own.n_symbols + own.extra_tokens + len(own.named_tokens) + (c.family == "encoder_decoder")
    same = tokens == own.n_answers(c) and own.token_parts is None and not c.pretrain_steps
    if c.tie_embeddings and not same:
        return "tie_embeddings", "false unless the answers are the very tokens that are read"
    return None


def _lengths_ordered(c: ComposedConfig) -> tuple[str, str] | None:
    if c.min_seq_len is not None and c.min_seq_len > c.seq_len:
        return "min_seq_len", f"at most seq_len {c.seq_len}, or auto"
    return None


def _long_enough(c: ComposedConfig) -> tuple[str, str] | None:
    shortest = TASKS[c.task].shortest
    for name, length in (("seq_len", c.seq_len), ("min_seq_len", c.min_seq_len)):
        if (length or shortest) < shortest:
            return name, f"at least {shortest}, the shortest question of task {c.task}"
    if min(c.test_lengths, default=shortest) < shortest:
        return "test_lengths", f"at least {shortest} each, the shortest question of task {c.task}"
    return None


def _task_takes_settings(c: ComposedConfig) -> tuple[str, str] | None:
    return next(c.task_settings.broken_rules(c), None)


def _fused_computes_it(c: ComposedConfig) -> tuple[str, str] | None:
    if c.attention_impl == "fused" and c.attention_score == "additive":
        return "attention_impl", "materialised for attention_score additive, which no fused kernel computes"
    if c.attention_impl == "fused" and c.softmax_axis != "key":
        return "attention_impl", "materialised for softmax_axis query, which no fused kernel computes"
    return None


def _mask_faults_need_a_mask(c: ComposedConfig) -> tuple[str, str] | None:
    if c.mask_fault != "none" and not (c.causal and c.architecture.attends):
        return "mask_fault", f"none for family {c.family}, which has no causal mask to break"
    return None


def _softmax_needs_attention(c: ComposedConfig) -> tuple[str, str] | None:
    if c.softmax_axis != "key" and not c.architecture.attends:
        return "softmax_axis", f"key for family {c.family}, which has no softmax to turn"
    return None


def _own_steps_left(c: ComposedConfig) -> tuple[str, str] | None:
    return ("pretrain_steps", f"at most {c.steps - 1}, less than steps") if c.pretrain_steps >= c.steps else None


def _pretraining_has_other_symbols(c: ComposedConfig) -> tuple[str, str] | None:
    if c.pretrain_steps and not c.task_settings.sister_symbols:
        return "pretrain_steps", f"0 for task {c.task}, whose tokens have no sisters"
    return None


def _next_token_must_be_hidden(c: ComposedConfig) -> tuple[str, str] | None:
    if not c.pretrain_steps or c.pretrain_on != "next_token":
        return None
    if not c.causal:
        return "pretrain_on", f"sister for family {c.family}, which sees the next token"
    if "encoder_decoder" in TASKS[c.task].architectures:
        return "pretrain_on", f"sister for task {c.task}, whose answer is predicted token by token already"
    return None


RULES: tuple[Rule, ...] = (
    _family_takes_task,
    _heads_divide_width,
    _tied_answers_are_tokens,
    _rotation_needs_pairs,
    _lengths_ordered,
    _long_enough,
    _task_takes_settings,
    _fused_computes_it,
    _mask_faults_need_a_mask,
    _softmax_needs_attention,
    _own_steps_left,
    _pretraining_has_other_symbols,
    _next_token_must_be_hidden,
)


def broken_rules(config: ComposedConfig) -> Iterator[Problem]:
    plain = (breach for rule in RULES if (breach := rule(config)) is not None)
    for name, allowed in chain(plain, config.encoding_settings.broken_rules(config)):
        yield Problem(name, to_text(config.value(name)), allowed)
