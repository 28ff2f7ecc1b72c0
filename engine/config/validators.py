"""Rules between settings. The message of each names one setting, its value and the allowed values."""

from collections.abc import Iterator
from itertools import chain

from engine.config.composed import ComposedConfig
from engine.settings.architectures import ARCHITECTURES
from engine.settings.errors import Problem
from engine.settings.fields import to_text
from engine.tasks import TASKS


def broken_rules(config: ComposedConfig) -> Iterator[Problem]:
    """The broken rules, in the order in which to name them."""
    of_encoding = config.encoding_settings.broken_rules(config)
    for name, allowed in chain(_of_shape(config), _of_task(config), _of_faults_and_pretraining(config), of_encoding):
        yield Problem(name, to_text(config.value(name)), allowed)


def _of_shape(c: ComposedConfig) -> Iterator[tuple[str, str]]:
    families = [name for name, row in ARCHITECTURES.items() if row.reads_as in TASKS[c.task].architectures]
    attends, settings = c.architecture.attends, c.task_settings
    divisors = [n for n in range(1, 65) if c.d_model % n == 0]
    if c.family not in families:
        yield "family", f"one of {', '.join(families)} for task {c.task}"
    if attends and c.d_head is None and c.d_model % c.n_heads:
        yield "n_heads", f"a divisor of d_model {c.d_model} ({', '.join(map(str, divisors))}), or any with d_head set"
    if attends and c.n_heads % c.key_heads:
        yield "kv_heads", f"a divisor of n_heads {c.n_heads}, or auto"
    if c.depth_scale and c.share_layers:
        yield "depth_scale", "false with share_layers, because one block is at every depth"
    if c.gated_mlp and c.family == "cnn":
        yield "activation", "relu, gelu or none for family cnn, whose convolutions have no gate"
    if c.tie_embeddings:
        # an encoder-decoder has one token more, with which it begins to answer
        same = settings.n_tokens + (c.family == "encoder_decoder") == settings.n_answers(c)
        if not same or settings.token_parts is not None or c.pretrain_steps:
            yield "tie_embeddings", "false unless the answers are the very tokens that are read"
    if attends and c.encoding.acts_on == "rotation" and c.head_width % 2:
        if c.d_head is not None:
            yield "d_head", f"an even number, because {c.pos_encoding} rotates dimensions in pairs"
        if c.d_model % 2:
            yield (
                "d_model",
                f"an even number, because {c.pos_encoding} rotates dimensions in pairs, or any with d_head set",
            )
        fitting = ", ".join(str(n) for n in divisors if c.d_model // n % 2 == 0)
        yield "n_heads", f"one that leaves an even d_head for {c.pos_encoding} ({fitting})"


def _of_task(c: ComposedConfig) -> Iterator[tuple[str, str]]:
    if c.min_seq_len is not None and c.min_seq_len > c.seq_len:
        yield "min_seq_len", f"at most seq_len {c.seq_len}, or auto"
    shortest = TASKS[c.task].shortest
    for name, length in (("seq_len", c.seq_len), ("min_seq_len", c.min_seq_len)):
        if (length or shortest) < shortest:
            yield name, f"at least {shortest}, the shortest question of task {c.task}"
    if min(c.test_lengths, default=shortest) < shortest:
        yield "test_lengths", f"at least {shortest} each, the shortest question of task {c.task}"
    yield from c.task_settings.broken_rules(c)


def _of_faults_and_pretraining(c: ComposedConfig) -> Iterator[tuple[str, str]]:
    if c.attention_impl == "fused" and c.attention_score == "additive":
        yield "attention_impl", "materialised for attention_score additive, which no fused kernel computes"
    if c.attention_impl == "fused" and c.softmax_axis != "key":
        yield "attention_impl", "materialised for softmax_axis query, which no fused kernel computes"
    if c.mask_fault != "none" and not (c.causal and c.architecture.attends):
        yield "mask_fault", f"none for family {c.family}, which has no causal mask to break"
    if c.softmax_axis != "key" and not c.architecture.attends:
        yield "softmax_axis", f"key for family {c.family}, which has no softmax to turn"
    if c.pretrain_steps >= c.steps:
        yield "pretrain_steps", f"at most {c.steps - 1}, less than steps"
    if c.pretrain_steps and not c.task_settings.sister_symbols:
        yield "pretrain_steps", f"0 for task {c.task}, whose tokens have no sisters"
    if c.pretrain_steps and c.pretrain_on == "next_token":
        if not c.causal:
            yield "pretrain_on", f"sister for family {c.family}, which sees the next token"
        elif "encoder_decoder" in TASKS[c.task].architectures:
            yield "pretrain_on", f"sister for task {c.task}, whose answer is predicted token by token already"
