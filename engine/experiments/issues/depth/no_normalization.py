"""no-normalization: does a deep stack blow up without normalisation; with which optimizer and precision, and what helps?"""

from collections.abc import Callable
from math import log

import numpy as np

from engine.experiments.experiment import Arm, Claim, Values, difference
from engine.experiments.issues.issue import read_issue

SYMBOLS = 10
NONE, WARM_UP, CLIP, SCALED = (
    "SGD, no norm",
    "SGD, no norm, warm-up",
    "SGD, no norm, clip 1",
    "SGD, no norm, branches scaled",
)
POST, PRE = "SGD, post-LN", "SGD, pre-LN"
GELU, DROPOUT, DECAY = "SGD, no norm, GELU", "SGD, no norm, dropout 0.2", "SGD, no norm, weight decay 0.1"
ADAM_NONE, ADAM_POST, ADAM_PRE = "AdamW, no norm", "AdamW, post-LN", "AdamW, pre-LN"
FAST_NONE, FAST_POST, FAST_PRE = "AdamW 0.03, no norm", "AdamW 0.03, post-LN", "AdamW 0.03, pre-LN"
HALF, BRAIN, SINGLE = "16 layers, float16", "16 layers, bfloat16", "16 layers, float32"
ADAM = {"optimizer": "adamw", "learning_rate": 0.003}
FAST = {"optimizer": "adamw", "learning_rate": 0.03}
DEEPER = {**ADAM, "n_layers": 16, "steps": 20}


def below_guessing(arm: str) -> Callable[[Values], np.ndarray]:
    """The effect "the loss of blind guessing minus the loss at the end", in nats."""
    return lambda values: log(SYMBOLS) - values(arm, "loss")


def _stays_finite(name: str, arm: str, other: str = NONE, extended: bool = False) -> Claim:
    return Claim(name, difference(arm, other, "finite"), 0.5)


def _learns(name: str, arm: str) -> Claim:
    return Claim(name, below_guessing(arm), 0.1)


def _not_finite(name: str, arm: str, other: str) -> Claim:
    return Claim(name, difference(arm, other, "finite"), 0.5, "less")


BASE = {
    "task": "k_back", "k": 1, "vocab_size": SYMBOLS, "seq_len": 12, "n_layers": 8, "n_heads": 2, "d_model": 16,
    "activation": "relu", "norm": "none", "optimizer": "sgd", "learning_rate": 0.1, "warmup_steps": 0,
    "grad_clip": None, "steps": 100,
}  # fmt: skip

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        Arm(NONE, "fault", {}, "finite"),
        Arm(PRE, "control", {"norm": "pre"}, "finite"),
        Arm(POST, "remedy", {"norm": "post"}, "finite"),
        Arm(SCALED, "remedy", {"residual_scale": 0.25}, "finite"),
        Arm(CLIP, "remedy", {"grad_clip": 1.0}, "finite"),
        Arm(WARM_UP, "remedy", {"warmup_steps": 20}, "finite"),
        Arm(GELU, "remedy", {"activation": "gelu"}, "finite"),
        Arm(DROPOUT, "remedy", {"dropout": 0.2}, "finite"),
        Arm(DECAY, "remedy", {"weight_decay": 0.1}, "finite"),
        Arm(ADAM_NONE, "fault", ADAM),
        Arm(ADAM_PRE, "control", {**ADAM, "norm": "pre"}),
        Arm(ADAM_POST, "comparison", {**ADAM, "norm": "post"}, extended=True),
        Arm(FAST_NONE, "fault", FAST, extended=True),
        Arm(FAST_POST, "comparison", {**FAST, "norm": "post"}, extended=True),
        Arm(FAST_PRE, "control", {**FAST, "norm": "pre"}, extended=True),
        Arm(HALF, "fault", {**DEEPER, "dtype": "float16"}, "finite", extended=True),
        Arm(BRAIN, "fault", {**DEEPER, "dtype": "bfloat16"}, "finite", extended=True),
        Arm(SINGLE, "control", DEEPER, "finite", extended=True),
    ),
    claims=(
        Claim("sgd-finite", difference(NONE, PRE, "finite"), 0.5, "less"),
        Claim("adamw-finite", difference(ADAM_NONE, ADAM_PRE, "finite"), 0.5, "less"),
        Claim("adamw-accuracy", difference(ADAM_NONE, ADAM_PRE, "accuracy"), 0.3, "less"),
        _stays_finite("warm-up", WARM_UP),
        _stays_finite("clipping", CLIP),
        _learns("clipped-learns", CLIP),
        _stays_finite("gelu", GELU),
        _stays_finite("dropout", DROPOUT),
        _stays_finite("weight-decay", DECAY),
        _stays_finite("scaled-branches", SCALED),
        _learns("scaled-learns", SCALED),
        _stays_finite("post-norm", POST),
        _learns("post-norm-learns", POST),
        _learns("pre-norm-learns", PRE),
        _not_finite("float16", HALF, SINGLE),
        _not_finite("bfloat16", BRAIN, SINGLE),
        Claim("higher-rate", difference(FAST_NONE, FAST_PRE, "accuracy"), 0.3, "less"),
        Claim("no-warm-up", difference(ADAM_PRE, ADAM_POST, "accuracy"), 0.1),
    ),
    curves=("grad.0.v", "grad.7.v"),
)
