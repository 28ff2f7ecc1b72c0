"""parameter-growth: how many parameters depth and width bring, and what they cost in bytes and time."""

from typing import Any

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.scaling import exponent, log2_ratio, minus

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
    title="Parameters grow, and training pays for each",
    summary=(
        "Deep and wide transformers have enormous numbers of parameters, and training has to store each of them several times"
        " and compute with it. Depth multiplies the blocks; width squares them."
    ),
    mechanism=r"""
A block of width $d$ with heads that split the width and an MLP of $fd$ hidden units has
$$\underbrace{4d^2 + 4d}_{\text{attention}} + \underbrace{2f d^2 + (f + 1)\,d}_{\text{MLP}} + \underbrace{4d}_{\text{two norms}}$$
parameters ($12d^2 + 13d$ with $f = 4$): $L$ blocks have $L$ times as many, and twice the width has four times as many. The number of heads
does not appear. Embedding and head have $2Vd$ for $V$ tokens, a larger share the narrower the model. Training keeps
four numbers for each parameter: the weight, its gradient, and AdamW's two moments; a step multiplies with each weight about $6N$
times for $N$ tokens. While writing, a decoder keeps $2 L d$ numbers a token, its key-value cache.
""",
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
            "The blocks' parameters grow nearly with the square of the width.",
            exponent(WIDE, BLOCKS),
            "exponent (parameters of the blocks over width)",
            1.8,
            condition=f"width {WIDTHS[0]} to {WIDTHS[-1]}, {DEPTH} layers",
        ),
        Claim(
            "They grow in proportion to the depth.",
            exponent(DEEP, BLOCKS),
            "exponent (parameters of the blocks over depth)",
            0.9,
            condition=f"1 to {DEPTHS[-1]} layers of width {WIDTH}",
        ),
        Claim(
            "Training keeps four numbers for each parameter.",
            above("width 128", "numbers_per_parameter", 1.0),
            "numbers kept for each, beside the weight itself",
            2.9,
            condition="AdamW",
        ),
        Claim(
            "A training step's time grows with the depth.",
            exponent(DEEP, TIME),
            "exponent (milliseconds over depth)",
            0.5,
            condition="one CPU core",
        ),
        Claim(
            "The time grows by less than the number of parameters does when the model gets wider.",
            minus(exponent(WIDE, BLOCKS), exponent(WIDE, TIME)),
            "difference of exponents over width (parameters less milliseconds)",
            0.3,
            condition="small models, one CPU core",
            about="condition",
        ),
        Claim(
            "In a narrow model embedding and head hold a larger share than in a wide one.",
            lambda values: (
                values("width 16", "share.embedding") + values("width 16", "share.head")
                - values("width 128", "share.embedding") - values("width 128", "share.head")
            ),
            "difference of their share of all parameters",
            0.05,
            condition=f"width {WIDTHS[0]} against {WIDTHS[-1]}",
            about="condition",
        ),
        Claim(
            "With d_ff twice the width, MLP and attention are of equal size: attention is half of a block, not most of it.",
            lambda values: values("width 128", "parameters.mlp") / values("width 128", "parameters.attention"),
            "the MLP's parameters over attention's",
            0.9,
            about="condition",
        ),
        Claim(
            "A training step takes well over twice as long as a pass without gradient.",
            log2_ratio("width 128", "width 128", "train_ms", "inference_ms"),
            "doublings of the time (training over inference)",
            1.0,
            condition=f"width 128, {DEPTH} layers, one CPU core",
            about="condition",
        ),
        Claim(
            "The next token takes less time with a key-value cache.",
            log2_ratio("tokens 512", "tokens 512", "recomputed_ms", "cached_ms"),
            "doublings of the time of one token without it",
            0.5,
            condition=f"after 512 tokens, {DEPTH} layers, one CPU core",
            about="condition",
        ),
        Claim(
            "One block used at every depth keeps the number from growing.",
            minus(exponent(_along("depth", (1, 8)), BLOCKS), exponent(SHARED, BLOCKS)),
            "difference of exponents over depth (parameters)",
            0.9,
            about="remedy",
        ),
        Claim(
            "It does not save time: a step takes as much longer with depth as without sharing.",
            exponent(SHARED, TIME),
            "exponent (milliseconds over depth, shared block)",
            0.5,
            about="remedy",
        ),
        Claim(
            "Plain SGD keeps two numbers fewer for each parameter.",
            difference("width 128", "SGD, width 128", "numbers_per_parameter"),
            "numbers kept for each parameter",
            1.9,
            about="remedy",
        ),
        Claim(
            "The key-value cache grows in proportion to the text.",
            exponent(TOKENS, "kv_cache_bytes"),
            "exponent (bytes over tokens)",
            0.9,
            about="condition",
            extended=True,
        ),
        Claim(
            "Computing the past again for each token gets slower as the text grows; with the cache less so.",
            minus(
                exponent(TOKENS, "recomputed_ms"),
                exponent(TOKENS, "cached_ms"),
            ),
            "difference of exponents over tokens (milliseconds a token)",
            0.2,
            condition="64 to 512 tokens",
            about="condition",
            extended=True,
        ),
    ),
    remedies=(
        "Train in mixed precision and shard optimizer state, gradients and weights over the accelerators (ZeRO, FSDP).",
        "Fine-tune a few low-rank numbers instead of all weights (LoRA), or keep the optimizer's state in 8 bits.",
        "Spend parameters where they are cheap: experts of which each token uses a few, shared blocks, a tied embedding.",
    ),
    sources=(
        "Vaswani et al. 2017, Attention Is All You Need, table 3",
        "Kaplan et al. 2020, Scaling Laws for Neural Language Models, table 1",
        "Rajbhandari et al. 2020, ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, section 3",
        "Shazeer 2019, Fast Transformer Decoding: One Write-Head is All You Need, section 2.4",
    ),
    x_label="Layers, width or tokens",
    notes=(
        "Counts and bytes are exact and the same for every seed, so their interval is a point; times differ.",
        "A time is the shortest of several goes, taken with the worker to itself, on batches of 16 sequences of 32 tokens.",
    ),
    evaluations=1,
)  # fmt: skip
