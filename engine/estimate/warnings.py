"""Warnings about a run before training: known causes of failure and settings without effect, found in the config alone."""

from __future__ import annotations

from collections.abc import Callable

from engine.config.run_config import RunConfig
from engine.estimate.layout import continues, shapes
from engine.tasks import TASKS
from engine.tasks.base import READER

WarningRule = Callable[[RunConfig], str | None]


def _no_attention(c: RunConfig) -> str | None:
    if not c.architecture.attends:
        return f"A {c.family.upper()} has no attention: positional encoding, heads, scores and the MLP are not used."
    return None


def _short_sight(c: RunConfig) -> str | None:
    seen, read = c.architecture.sees(c), shapes(c).length
    if seen is not None and seen < read:
        return (
            f"{c.n_layers} layers of convolutions see {seen} positions of {read}: what stands earlier cannot be known."
        )
    return None


def _bag_of_symbols(c: RunConfig) -> str | None:
    if c.encoding.acts_on == "nowhere" and c.family == "encoder" and TASKS[c.task].order_matters:
        return (
            "An encoder without positional encoding sees a bag of symbols: equal symbols get equal answers wherever "
            "they stand."
        )
    return None


def knows_offsets_only(c: RunConfig) -> bool:
    """Whether the encoding tells offsets only. A convolution also shows where a sequence begins and ends."""
    row = c.encoding
    return c.architecture.attends and row.relative and row.acts_on != "embedding"


def _needs_more_than_offsets(c: RunConfig) -> str | None:
    return c.task_settings.beyond_offsets(c) if knows_offsets_only(c) else None


def _no_row(c: RunConfig) -> str | None:
    longer = [n for n in c.test_lengths if n > c.seq_len]
    table = c.encoding_settings.ends_at_trained_length
    if c.architecture.attends and table and longer and c.randomized_positions == 1:
        lengths = ", ".join(map(str, longer))
        return f"The learned table has no row beyond the trained length: test lengths {lengths} cannot be run."
    return None


def _by_encoding(c: RunConfig) -> str | None:
    return c.encoding_settings.warning(c)


def _blow_up(c: RunConfig) -> str | None:
    if (
        c.architecture.attends
        and c.norm == "none"
        and c.skips
        and c.optimizer == "sgd"
        and c.grad_clip is None
        and c.n_layers >= 4
    ):
        return "Deep, without normalisation or clipping, SGD tends to NaN in the first steps. The run will say where."
    return None


def _vanishing(c: RunConfig) -> str | None:
    if c.architecture.attends and not c.skips and c.n_layers >= 4:
        return "Without skip connections a deep stack hardly trains: watch the gradients of q and k."
    return None


def _linear(c: RunConfig) -> str | None:
    if c.architecture.attends and c.mlp and c.activation == "none":
        return "Without an activation the two dense layers of the MLP are one linear map."
    return None


def mask_shows_answers(c: RunConfig) -> bool:
    """Whether a position can see the answer it must predict: every mask fault shows the next token of a sequence."""
    return c.mask_fault != "none" and (continues(c) or TASKS[c.task].architectures == READER)


def _leaking_mask(c: RunConfig) -> str | None:
    if mask_shows_answers(c):
        return "The mask lets a position see what it should predict: a good score here is the fault showing."
    return None


def _coarse_numbers(c: RunConfig) -> str | None:
    if c.dtype != "float32":
        return (
            f"Everything is {c.dtype}, weights too and without loss scaling: small updates can be lost and large values "
            "overflow."
        )
    return None


def _table_scale(c: RunConfig) -> str | None:
    std = c.encoding_settings.init_std if c.architecture.attends else None
    if std is None or c.encoding.acts_on != "embedding" or c.token_init_std == 0 or 0.2 <= std / c.token_init_std <= 5:
        return None
    ratio = std / c.token_init_std
    return f"What is added starts at {ratio:g} times the scale of the token embedding: a bad result may be nothing but this."


def _nothing_to_drop(c: RunConfig) -> str | None:
    if c.position_dropout and c.encoding.acts_on != "embedding":
        return f"Position dropout does nothing here: {c.pos_encoding} adds nothing to the embedding."
    return None


def _nothing_to_randomize(c: RunConfig) -> str | None:
    if c.architecture.attends and c.randomized_positions > 1 and not c.encoding.numbered:
        return f"Randomized positions do nothing here: {c.pos_encoding} does not read the numbers of positions."
    return None


def _turned_sums(c: RunConfig) -> str | None:
    if c.architecture.attends and c.encoding.acts_on == "rotation" and c.attention_score == "additive":
        return "Rotated queries and keys make a score of offsets in a product only: with an additive score they do not."
    return None


WARNINGS: tuple[WarningRule, ...] = (
    _no_attention,
    _short_sight,
    _bag_of_symbols,
    _needs_more_than_offsets,
    _no_row,
    _by_encoding,
    _blow_up,
    _vanishing,
    _linear,
    _leaking_mask,
    _coarse_numbers,
    _table_scale,
    _nothing_to_drop,
    _nothing_to_randomize,
    _turned_sums,
)


def warnings_of(config: RunConfig) -> list[str]:
    """The warnings of a config, one sentence each; those of its task come last."""
    general = [sentence for rule in WARNINGS if (sentence := rule(config))]
    return [*general, *config.task_settings.warnings(config)]
