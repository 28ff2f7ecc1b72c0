"""parameter-growth: how many parameters depth and width bring, and what they cost in bytes and time."""

from functools import partial
from typing import Any

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import read_issue
from engine.experiments.issues.scaling import growth, minus, share_more

DEPTHS = (1, 2, 4, 8)
WIDTHS = (16, 32, 64, 128)
WIDTH, DEPTH = 32, 2
"""The width at which the depth varies, and the depth at which the width varies."""
MEASURED = ("training_state", "step_time", "kv_cache")


def _arm(line: str, settings: dict[str, Any], x: int, *, extended: bool = False) -> Arm:
    name, size = f"{line} {x}", float(x)
    return Arm(name, "comparison", settings, BLOCKS, MEASURED, extended, alone=True, line=line, x=size)


def _along(line: str, sizes: tuple[int, ...]) -> dict[float, str]:
    return {float(n): f"{line} {n}" for n in sizes}


DEEP, WIDE, SHARED = _along("depth", DEPTHS), _along("width", WIDTHS), _along("shared block, depth", (1, 8))
TOKENS = _along("tokens", (64, 128, 256, 512))
BLOCKS, TIME = "parameters.blocks", "train_ms"

BASE = {
    "task": "k_back", "k": 1, "seq_len": 32, "pos_encoding": "sinusoidal", "n_heads": 4, "d_model": WIDTH,
    "n_layers": DEPTH, "batch_size": 16, "steps": 1, "device": "cpu",
}  # fmt: skip

_computed = partial(Claim, computed=True)
"""A claim about what is counted: no seed changes it."""

ISSUE = read_issue(
    __file__,
    base=BASE,
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
    # Growth is a factor for twice the size, less 1 (no growth) or less that of another cost. Sizes that count are those that were
    # declared as exponents (1.8 is 2.5, .9 is .87, .5 is .41) or as doublings (1 is 100 % more, .5 is 41 %).
    claims=(
        _computed("width", minus(growth(WIDE, BLOCKS), 1.0), 2.5),
        _computed("depth", minus(growth(DEEP, BLOCKS), 1.0), 0.87),
        _computed("adamw-state", above("width 128", "numbers_per_parameter", 1.0), 2.9),
        Claim("depth-time", minus(growth(DEEP, TIME), 1.0), 0.41),
        Claim("width-time", minus(growth(WIDE, BLOCKS), growth(WIDE, TIME)), 0.7),
        _computed(
            "embedding-share",
            lambda values: (
                values("width 16", "share.embedding")
                + values("width 16", "share.head")
                - values("width 128", "share.embedding")
                - values("width 128", "share.head")
            ),
            0.05,
        ),
        _computed(
            "mlp-share",
            lambda values: values("width 128", "parameters.mlp") / values("width 128", "parameters.attention"),
            0.9,
        ),
        Claim("training-pass", share_more("width 128", "width 128", "train_ms", "inference_ms"), 1.0),
        Claim("cached-token", share_more("tokens 512", "tokens 512", "recomputed_ms", "cached_ms"), 0.41),
        _computed("shared-parameters", minus(growth(_along("depth", (1, 8)), BLOCKS), growth(SHARED, BLOCKS)), 0.87),
        Claim("shared-time", minus(growth(SHARED, TIME), 1.0), 0.41),
        _computed("sgd-state", difference("width 128", "SGD, width 128", "numbers_per_parameter"), 1.9),
        _computed("cache-size", minus(growth(TOKENS, "kv_cache_bytes"), 1.0), 0.87),
        Claim("cached-growth", minus(growth(TOKENS, "recomputed_ms"), growth(TOKENS, "cached_ms")), 0.2),
    ),
    x_label="Layers, width or tokens",
    evaluations=1,
)
