"""parameter-growth: how many parameters depth and width bring, and what they cost in bytes and time."""

from typing import Any

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.scaling import exponent, log2_ratio, minus
from engine.experiments.issues.written import worded, written
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
    claims=worded(
        __file__,
        Claim("width", exponent(WIDE, BLOCKS), "exponent of parameters over width", 1.8),
        Claim("depth", exponent(DEEP, BLOCKS), "exponent of parameters over layers", 0.9),
        Claim(
            "adamw-state",
            above("width 128", "numbers_per_parameter", 1.0),
            "numbers kept for each parameter, beside the weight",
            2.9,
        ),
        Claim("depth-time", exponent(DEEP, TIME), "exponent of time over layers", 0.5),
        Claim(
            "width-time",
            minus(exponent(WIDE, BLOCKS), exponent(WIDE, TIME)),
            "exponent of parameters minus exponent of time, over width",
            0.3,
            about="condition",
        ),
        Claim("embedding-share", lambda values: (
                values("width 16", "share.embedding") + values("width 16", "share.head")
                - values("width 128", "share.embedding") - values("width 128", "share.head")
            ), "share of all parameters (narrow minus wide)", 0.05, about="condition"),
        Claim(
            "mlp-share",
            lambda values: values("width 128", "parameters.mlp") / values("width 128", "parameters.attention"),
            "parameters of the MLP divided by those of the attention",
            0.9,
            about="condition",
        ),
        Claim(
            "training-pass",
            log2_ratio("width 128", "width 128", "train_ms", "inference_ms"),
            "doublings of the time (training step over pass)",
            1.0,
            about="condition",
        ),
        Claim(
            "cached-token",
            log2_ratio("tokens 512", "tokens 512", "recomputed_ms", "cached_ms"),
            "doublings of the time (without over with the cache)",
            0.5,
            about="condition",
        ),
        Claim(
            "shared-parameters",
            minus(exponent(_along("depth", (1, 8)), BLOCKS), exponent(SHARED, BLOCKS)),
            "difference of two exponents of parameters over layers",
            0.9,
            about="remedy",
        ),
        Claim("shared-time", exponent(SHARED, TIME), "exponent of time over layers, shared block", 0.5, about="remedy"),
        Claim(
            "sgd-state",
            difference("width 128", "SGD, width 128", "numbers_per_parameter"),
            "numbers kept for each parameter (AdamW minus SGD)",
            1.9,
            about="remedy",
        ),
        Claim(
            "cache-size",
            exponent(TOKENS, "kv_cache_bytes"),
            "exponent of bytes over tokens",
            0.9,
            about="condition",
            extended=True,
        ),
        Claim("cached-growth", minus(
                exponent(TOKENS, "recomputed_ms"),
                exponent(TOKENS, "cached_ms"),
            ), "difference of two exponents of time over tokens", 0.2, about="condition", extended=True),
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
