"""Warnings about a run before training: known causes of failure and settings without effect, found in the config alone."""

from collections.abc import Iterator

from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes, writes_answer
from engine.foundation.formatting import in_digits
from engine.settings.costs import MIXED
from engine.tasks import TASKS
from engine.tasks.base import READER


def warnings_of(config: RunConfig) -> list[str]:
    return [*_general(config), *config.task_settings.warnings(config)]


def knows_offsets_only(c: RunConfig) -> bool:
    # a convolution also shows where a sequence begins and ends
    return c.architecture.attends and c.encoding.relative and c.encoding.acts_on != "embedding"


def leak_of(c: RunConfig) -> str:
    """The reason why a position can see the answer it must predict, as a clause; empty if it cannot."""
    reads_answers = writes_answer(c) or TASKS[c.task].architectures == READER
    if not (reads_answers and c.causal and c.architecture.attends):
        return ""
    # every mask fault shows the next token
    if c.mask_fault != "none":
        return "the mask shows each position the symbol that it must predict"
    # it divides by a sum in which later queries stand
    if c.softmax_axis == "query":
        return "with the softmax over the queries, each weight depends on later symbols"
    return ""


def warm_up_never_ends(c: RunConfig) -> str:
    steps = c.steps - c.pretrain_steps
    # A run shorter than the usual warm-up lacks steps, not a shorter warm-up.
    if c.warmup_steps <= max(steps, RunConfig.model_fields["warmup_steps"].default):
        return ""
    reached = in_digits(100 * steps / c.warmup_steps)
    return f"Warm-up takes {c.warmup_steps:,} steps of {steps:,}: the rate reaches {reached} % of its peak."


def _general(c: RunConfig) -> Iterator[str]:
    attends, settings, acts_on = c.architecture.attends, c.encoding_settings, c.encoding.acts_on
    reach, read = c.architecture.sees(c), shapes(c).length
    if not attends:
        yield f"A {c.family.upper()} has no attention: positional encoding, heads, scores and the MLP are not used."
    if reach is not None and reach < read:
        yield f"The convolutions see only the last {reach} of {read} positions. More layers see more."
    if acts_on == "nowhere" and c.family == "encoder" and TASKS[c.task].order_matters:
        yield "An encoder without positional encoding sees a bag of symbols: equal symbols get equal answers."
    if knows_offsets_only(c) and (beyond := c.task_settings.beyond_offsets(c)):
        yield beyond
    longer = [n for n in c.test_lengths if n > c.seq_len]
    coupled = c.task_settings.partners(c.seq_len) is not None
    has_rows = c.randomized_positions > 1 or coupled or c.drop_encoding_at < 1
    if attends and settings.ends_at_trained_length and longer and not has_rows:
        lengths = ", ".join(map(str, longer))
        yield f"The learned table has no row beyond the trained length: test lengths {lengths} cannot be run."
    if by_encoding := settings.warning(c):
        yield by_encoding
    unbounded = c.norm == "none" and c.skips and c.optimizer == "sgd" and c.grad_clip is None
    if attends and unbounded and c.n_layers >= 4:
        yield "SGD without normalisation or clipping often makes a deep stack NaN within a few steps."
    if attends and not c.skips and c.n_layers >= 4:
        yield "Without skip connections a deep stack hardly trains: watch the gradients of q and k."
    if attends and c.mlp and c.activation == "none":
        yield "Without an activation the two dense layers of the MLP are one linear map."
    if endless := warm_up_never_ends(c):
        yield endless
    if leak := leak_of(c):
        yield f"{leak[0].upper()}{leak[1:]}. A good score here shows only this fault."
    if c.dtype not in ("float32", MIXED):
        lost = "small updates can be lost" + (" and large values overflow" if c.dtype == "float16" else "")
        yield f"All numbers are {c.dtype}, without loss scaling: {lost}."
    if attends and settings.init_std is not None and acts_on == "embedding" and c.token_init_std != 0:
        ratio = settings.init_std / c.token_init_std
        if not 0.2 <= ratio <= 5:
            yield f"The encoding starts at {ratio:g} times the scale of the token embedding: a bad result may be nothing but this."
    if c.position_dropout and acts_on != "embedding":
        yield f"Position dropout does nothing here: {c.pos_encoding} adds nothing to the embedding."
    if attends and c.randomized_positions > 1 and not c.encoding.numbered:
        yield f"Randomized positions do nothing here: {c.pos_encoding} does not read the numbers of positions."
    if attends and c.drop_encoding_at < 1 and acts_on == "nowhere":
        yield "No encoding can be dropped here: the model has none."
    if coupled and not c.encoding.numbered:
        yield f"Coupled positions do nothing here: {c.pos_encoding} does not read the numbers of positions."
    if attends and acts_on == "rotation" and c.attention_score == "additive":
        yield "Rotations make a dot product depend on distances. They do not do this for an additive score."
    if c.depth_scale and c.norm != "pre":
        yield "Norm by depth does nothing here: it needs pre-LN."
    if attends and c.value_residual and c.n_layers == 1:
        yield "A value residual does nothing in one layer: it goes from the first layer to later ones."
    if attends and c.qk_norm and c.attention_score == "cosine":
        yield "QK-norm changes little here: a cosine brings queries and keys to one length anyway."
    numbers_left = c.head_width - (c.norm_kind == "layer")  # LayerNorm also removes the mean
    if attends and c.qk_norm and numbers_left <= 1:
        left = "only the sign" if numbers_left else "nothing"
        yield f"With a d_head of {c.head_width}, QK-norm leaves {left} of each query and key."
