"""quadratic-cost: time and memory of self-attention grow with the square of the length, those of an RNN or CNN with it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.config.run_config import parse
from engine.estimate.matching import matched_width, n_parameters
from engine.experiments.experiment import Arm, Claim, Role, Values
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.scaling import exponent, log2_ratio, minus

LENGTHS = (128, 256, 512)
LONGEST = LENGTHS[-1]
BASE: dict[str, Any] = {
    "task": "k_back",
    "k": 1,
    "pos_encoding": "sinusoidal",
    "d_model": 24,
    "n_heads": 4,
    "n_layers": 1,
    "attention_impl": "fused",
    "batch_size": 2,
    "steps": 1,
    "device": "cpu",
}
PARAMETERS = n_parameters(parse(BASE))


def _matched(family: str, **settings: Any) -> dict[str, Any]:
    own = {"family": family, **settings}
    return {**own, "d_model": matched_width(parse({**BASE, **own}), PARAMETERS)}


def _name(line: str, length: int) -> str:
    return f"{line}, {length} tokens"


def _line(
    line: str, role: Role, settings: Mapping[str, Any], lengths: tuple[int, ...] = LENGTHS, *, extended: bool = False
) -> tuple[Arm, ...]:
    measurements = ("saved_bytes", "step_time")
    return tuple(
        Arm(
            _name(line, n), role, {**settings, "seq_len": n}, "saved_bytes", measurements,
            extended=extended, alone=True, line=line, x=float(n),
        )
        for n in lengths
    )  # fmt: skip


def _along(line: str, lengths: tuple[int, ...] = LENGTHS) -> dict[float, str]:
    return {float(n): _name(line, n) for n in lengths}


WRITTEN, FUSED, BIASED, DROPPED = "scores written out", "fused", "fused, learned bias", "fused, dropout"
GRU, CNN = "GRU", "dilated CNN"
ENDS = (LENGTHS[0], LONGEST)
MEMORY, TIME = "saved_bytes", "train_ms"


def _share_that_agrees(values: Values) -> np.ndarray:
    shapes = [values(arm, "formula_agrees") for line in (WRITTEN, FUSED) for arm in _along(line).values()]
    share: np.ndarray = np.array(shapes).mean(axis=0)  # [shape, seed] -> [seed]
    return share


ISSUE = Issue(
    slug="quadratic-cost",
    group="attention",
    title="Cost grows with the square of the length",
    summary=(
        "Every position compares itself with every other: with n tokens attention computes n² scores a head, while a recurrent"
        " or a convolutional network does the same work once a token. Twice the text, four times the time and memory."
    ),
    mechanism=r"""
The scores of one head are a matrix $QK^\top \in \mathbb{R}^{T \times T}$: $T^2 d_h$ multiplications to compute and, if it is written out
and kept for the backward pass, $4T^2$ bytes a head in float32. For a pre-LN block with $N = BT$ tokens, $h$ heads and an MLP of width $fd$
$$\text{saved bytes} = 4\big[(8 + 2f)\,N d + 4N + B\,h\,T^2\big],$$
with GELU. *Fused* attention computes the scores block by block, keeps one number a query (the logarithm of the softmax's denominator)
and computes the rest again in the backward pass: $T$ takes the place of $T^2$. The time stays quadratic. A GRU keeps a fixed number
of values a token, but its $T$ steps must wait for each other.
""",
    base=BASE,
    arms=(
        *_line(WRITTEN, "fault", {"attention_impl": "materialised"}),
        *_line(GRU, "control", _matched("gru")),
        *_line(CNN, "control", _matched("cnn", n_layers=2)),
        *_line(FUSED, "remedy", {}),
        *_line(BIASED, "comparison", {"pos_encoding": "t5_bias"}, ENDS),
        *_line(DROPPED, "comparison", {"dropout": 0.1}, ENDS),
        *_line("fused, ALiBi", "comparison", {"pos_encoding": "alibi"}, ENDS, extended=True),
        *_line(WRITTEN, "fault", {"attention_impl": "materialised"}, (1024,), extended=True),
        *_line(GRU, "control", _matched("gru"), (1024,), extended=True),
        *_line(CNN, "control", _matched("cnn", n_layers=2), (1024,), extended=True),
        *_line(FUSED, "remedy", {}, (1024,), extended=True),
    ),
    claims=(
        Claim(
            "With the scores written out, memory grows faster with the length than a GRU's.",
            minus(exponent(_along(WRITTEN), MEMORY), exponent(_along(GRU), MEMORY)),
            "difference of exponents (bytes saved)",
            0.5,
            condition=f"{LENGTHS[0]} to {LONGEST} tokens, as many parameters",
        ),
        Claim(
            "With the scores written out, the time of a training step grows faster than in proportion.",
            minus(exponent(_along(WRITTEN), TIME), 1.0),
            "exponent above 1 (milliseconds a step)",
            0.2,
            condition=f"{LENGTHS[0]} to {LONGEST} tokens, one CPU core",
        ),
        Claim(
            "Memory grows faster than a dilated convolution's, too.",
            minus(exponent(_along(WRITTEN), MEMORY), exponent(_along(CNN), MEMORY)),
            "difference of exponents (bytes saved)",
            0.5,
        ),
        Claim(
            "A GRU, for all that, takes longer than attention.",
            log2_ratio(_name(GRU, LONGEST), _name(FUSED, LONGEST), TIME),
            "doublings of the time of a training step",
            0.5,
            condition=f"{LONGEST} tokens, one CPU core, fused attention",
            about="condition",
        ),
        Claim(
            "Fused attention's time still grows faster than in proportion: it saves memory, not multiplications.",
            minus(exponent(_along(FUSED), TIME), 1.0),
            "exponent above 1 (milliseconds a step)",
            0.2,
            condition=f"{LENGTHS[0]} to {LONGEST} tokens, one CPU core",
            about="condition",
        ),
        Claim(
            "Fused attention's memory grows quadratically again with a learned bias on the scores.",
            minus(exponent(_along(BIASED, ENDS), MEMORY), exponent(_along(FUSED, ENDS), MEMORY)),
            "difference of exponents (bytes saved)",
            0.5,
            condition="T5 bias, CPU kernels",
            about="condition",
        ),
        Claim(
            "Fused attention's memory grows quadratically again with dropout on the weights.",
            minus(exponent(_along(DROPPED, ENDS), MEMORY), exponent(_along(FUSED, ENDS), MEMORY)),
            "difference of exponents (bytes saved)",
            0.5,
            condition="dropout 0.1, CPU kernels",
            about="condition",
        ),
        Claim(
            "The formula above counts what autograd keeps, to the byte.",
            _share_that_agrees,
            "share of six shapes in which both agree",
            0.9,
            about="condition",
        ),
        Claim(
            "Fused attention's memory grows in proportion to the length: its exponent is lower than with scores written out.",
            minus(exponent(_along(WRITTEN), MEMORY), exponent(_along(FUSED), MEMORY)),
            "difference of exponents (bytes saved)",
            0.5,
            about="remedy",
        ),
        Claim(
            "Fused attention takes less time, too.",
            log2_ratio(_name(WRITTEN, LONGEST), _name(FUSED, LONGEST), TIME),
            "doublings of the time of a training step",
            0.3,
            condition=f"{LONGEST} tokens",
            about="remedy",
        ),
    ),
    remedies=(
        "Use a fused kernel (FlashAttention, PyTorch's scaled_dot_product_attention) and check that bias and dropout let it be used.",
        "Look at fewer pairs: a sliding window with a few global tokens, or a linear or state-space layer in most of the depth.",
        "Keep less: fewer key-value heads (grouped queries), lower precision, or recompute blocks in the backward pass.",
    ),
    sources=(
        "Vaswani et al. 2017, Attention Is All You Need, table 1",
        "Dao et al. 2022, FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness, theorems 1 and 2",
        "Rabe and Staats 2021, Self-attention Does Not Need O(n²) Memory",
        "Tay et al. 2022, Efficient Transformers: A Survey",
    ),
    x_label="Tokens",
    notes=(
        "Bytes are those saved for the backward pass, each storage once, without parameters and masks; the peak has transients on"
        " top. They do not depend on the seed, so their interval is a point.",
        "A time is the shortest of several goes, taken with the worker to itself.",
        "The baselines have as many parameters as the transformer; the CNN has two layers.",
    ),
    evaluations=1,
)  # fmt: skip
