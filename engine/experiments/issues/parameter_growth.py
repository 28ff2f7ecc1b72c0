"""parameter-growth: how many parameters depth and width bring, and what they cost in bytes and time."""

from typing import Any

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.scaling import exponent, log2_ratio, minus
from engine.experiments.issues.written import written
from engine.experiments.key_figure import KeyFigure, Row

DEPTHS = (1, 2, 4, 8)
WIDTHS = (16, 32, 64, 128)
WIDTH, DEPTH = 32, 2
"""The width at which the depth varies, and the depth at which the width varies."""
MEASURED = ("training_state", "step_time", "kv_cache")


def _arm(line: str, settings: dict[str, Any], x: int, *, extended: bool = False) -> Arm:
    return Arm(
        f"{line} {x}", "comparison", settings, "parameters.blocks", MEASURED,
        extended=extended, alone=True, line=line, x=float(x),
    )  # fmt: skip


def _along(line: str, sizes: tuple[int, ...]) -> dict[float, str]:
    return {float(n): f"{line} {n}" for n in sizes}


DEEP, WIDE, SHARED = _along("depth", DEPTHS), _along("width", WIDTHS), _along("shared block, depth", (1, 8))
TOKENS = _along("tokens", (64, 128, 256, 512))
BLOCKS, TIME = "parameters.blocks", "train_ms"

ISSUE = Issue(
    slug="parameter-growth",
    group="attention",
    **written(__file__),
    base={
        "task": "k_back",
        "k": 1,
        "seq_len": 32,
        "pos_encoding": "sinusoidal",
        "n_heads": 4,
        "d_model": WIDTH,
        "n_layers": DEPTH,
        "batch_size": 16,
        "steps": 1,
        "device": "cpu",
    },
    arms=(
        *(_arm("depth", {"n_layers": n}, n) for n in DEPTHS),
        *(_arm("width", {"d_model": n}, n) for n in WIDTHS),
        *(_arm("shared block, depth", {"n_layers": n, "share_layers": True}, n) for n in (1, 8)),
        _arm("SGD, width", {"optimizer": "sgd", "d_model": 128}, 128),
        _arm("tokens", {"seq_len": 512, "batch_size": 2}, 512),
        _arm("width", {"d_model": 256}, 256, extended=True),
        _arm("depth", {"n_layers": 16}, 16, extended=True),
        *(_arm("tokens", {"seq_len": n, "batch_size": 2}, n, extended=True) for n in (64, 128, 256)),
    ),
    claims=(
        Claim(
            "width",
            "The number of parameters in the blocks grows nearly with the square of the width.",
            exponent(WIDE, BLOCKS),
            "exponent of parameters over width",
            1.8,
            condition=f"width {WIDTHS[0]} to {WIDTHS[-1]}, {DEPTH} layers",
        ),
        Claim(
            "depth",
            "The number of parameters in the blocks grows in proportion to the number of layers.",
            exponent(DEEP, BLOCKS),
            "exponent of parameters over layers",
            0.9,
            condition=f"1 to {DEPTHS[-1]} layers of width {WIDTH}",
        ),
        Claim(
            "adamw-state",
            "Training with AdamW keeps four numbers for each parameter: the weight, its gradient and two running means.",
            above("width 128", "numbers_per_parameter", 1.0),
            "numbers kept for each parameter, beside the weight",
            2.9,
            condition="AdamW",
        ),
        Claim(
            "depth-time",
            "The time of a training step grows with the number of layers.",
            exponent(DEEP, TIME),
            "exponent of time over layers",
            0.5,
            condition=f"1 to {DEPTHS[-1]} layers of width {WIDTH}, one CPU core",
        ),
        Claim(
            "width-time",
            "When the model gets wider, the time of a training step grows less than the number of parameters.",
            minus(exponent(WIDE, BLOCKS), exponent(WIDE, TIME)),
            "exponent of parameters minus exponent of time, over width",
            0.3,
            condition=f"width {WIDTHS[0]} to {WIDTHS[-1]}, one CPU core",
            about="condition",
        ),
        Claim(
            "embedding-share",
            "Embedding and head hold a larger share of all parameters in a model of width 16 than in a model of width 128.",
            lambda values: (
                values("width 16", "share.embedding") + values("width 16", "share.head")
                - values("width 128", "share.embedding") - values("width 128", "share.head")
            ),
            "share of all parameters (narrow minus wide)",
            0.05,
            condition=f"{DEPTH} layers",
            about="condition",
        ),
        Claim(
            "mlp-share",
            "An MLP whose hidden layer is twice the width has about as many parameters as the attention of its block.",
            lambda values: values("width 128", "parameters.mlp") / values("width 128", "parameters.attention"),
            "parameters of the MLP divided by those of the attention",
            0.9,
            about="condition",
        ),
        Claim(
            "training-pass",
            "A training step takes more than twice as long as a pass without gradient on the same batch.",
            log2_ratio("width 128", "width 128", "train_ms", "inference_ms"),
            "doublings of the time (training step over pass)",
            1.0,
            condition=f"width 128, {DEPTH} layers, one CPU core",
            about="condition",
        ),
        Claim(
            "cached-token",
            "After 512 tokens, the next token takes less time with a key-value cache than without one.",
            log2_ratio("tokens 512", "tokens 512", "recomputed_ms", "cached_ms"),
            "doublings of the time (without over with the cache)",
            0.5,
            condition=f"{DEPTH} layers, one CPU core",
            about="condition",
        ),
        Claim(
            "shared-parameters",
            "The number of parameters grows less with depth where one block is used at every depth than where each depth has its own.",
            minus(exponent(_along("depth", (1, 8)), BLOCKS), exponent(SHARED, BLOCKS)),
            "difference of two exponents of parameters over layers",
            0.9,
            about="remedy",
        ),
        Claim(
            "shared-time",
            "The time of a training step grows with depth where one block is used at every depth, too.",
            exponent(SHARED, TIME),
            "exponent of time over layers, shared block",
            0.5,
            about="remedy",
        ),
        Claim(
            "sgd-state",
            "Training with plain SGD keeps two numbers fewer for each parameter than training with AdamW.",
            difference("width 128", "SGD, width 128", "numbers_per_parameter"),
            "numbers kept for each parameter (AdamW minus SGD)",
            1.9,
            about="remedy",
        ),
        Claim(
            "cache-size",
            "The key-value cache grows in proportion to the number of tokens.",
            exponent(TOKENS, "kv_cache_bytes"),
            "exponent of bytes over tokens",
            0.9,
            about="condition",
            extended=True,
        ),
        Claim(
            "cached-growth",
            "As the text grows, the time of the next token grows more without a key-value cache than with one.",
            minus(
                exponent(TOKENS, "recomputed_ms"),
                exponent(TOKENS, "cached_ms"),
            ),
            "difference of two exponents of time over tokens",
            0.2,
            condition="64 to 512 tokens",
            about="condition",
            extended=True,
        ),
    ),
    key_figure=KeyFigure(
        claim="width",
        sample="2 blocks of width 32 have 2 × 8,544 = 17,088 parameters",
        question="Double the width of this model instead of its depth: does that give the blocks fewer or more parameters?",
        answers=("Fewer", "As many", "More"),
        quantity="Parameters of the blocks",
        subject="the number of parameters in the blocks",
        change="With twice the width instead of twice the depth",
        before=Row("twice the depth: 4 layers, width 32", "depth 4", BLOCKS),
        after=Row("twice the width: 2 layers, width 64", "width 64", BLOCKS),
        others=(
            Row("the start: 2 layers, width 32", "depth 2", BLOCKS),
            Row("8 layers, width 32", "depth 8", BLOCKS),
            Row("8 layers that share one block, width 32", "shared block, depth 8", BLOCKS),
        ),
        remedy="Use one block at every depth where memory for parameters is scarce.",
        scale="log",
        also=("adamw-state", "width-time"),
    ),
    x_label="Layers, width or tokens",
    evaluations=1,
)  # fmt: skip
