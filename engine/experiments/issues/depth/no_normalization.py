"""no-normalization: does a deep stack blow up without normalisation; with which optimizer and precision, and what helps?"""

from math import log

from engine.experiments.experiment import Arm, Claim, Role, difference
from engine.experiments.issues.issue import read_issue

SYMBOLS = 10
NONE, WARM_UP = "SGD, no norm", "SGD, no norm, warm-up"
CLIP, SCALED = "SGD, no norm, clip 1", "SGD, no norm, branches scaled"
POST, PRE = "SGD, post-LN", "SGD, pre-LN"
GELU, DROPOUT, DECAY = "SGD, no norm, GELU", "SGD, no norm, dropout 0.2", "SGD, no norm, weight decay 0.1"
ADAM_NONE, ADAM_POST, ADAM_PRE = "AdamW, no norm", "AdamW, post-LN", "AdamW, pre-LN"
STEADY_NONE, STEADY_PRE = "AdamW 0.003, no norm", "AdamW 0.003, pre-LN"
FAST_NONE, FAST_POST, FAST_PRE = "AdamW 0.03, no norm", "AdamW 0.03, post-LN", "AdamW 0.03, pre-LN"
WARM_POST = "AdamW, post-LN, warm-up"
DEEP_PRE, DEEP_POST = "16 layers, AdamW, pre-LN", "16 layers, AdamW, post-LN"
DEEP_WARM_POST = "16 layers, AdamW, post-LN, warm-up"
HALF, BRAIN, SINGLE = "16 layers, float16", "16 layers, bfloat16", "16 layers, float32"
ADAM = {"optimizer": "adamw", "learning_rate": 0.003}
FAST = {"optimizer": "adamw", "learning_rate": 0.03}
DEEPER = {**ADAM, "n_layers": 16, "steps": 20}


def _at_its_rate(name: str, role: Role, settings: dict[str, object], extended: bool = False) -> Arm:
    """An arm of which it is asked whether it stays finite at this rate, so that the rate is not tuned."""
    return Arm(name, role, settings, "finite", extended=extended, tuned=False)


def _stays_finite(name: str, arm: str) -> Claim:
    return Claim(name, difference(arm, NONE, "finite"), 0.5)


def _learns(name: str, arm: str) -> Claim:
    """The effect is the loss of blind guessing minus the loss at the end, in nats."""
    return Claim(name, lambda values: log(SYMBOLS) - values(arm, "loss"), 0.1)


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
        _at_its_rate(NONE, "fault", {}),
        _at_its_rate(PRE, "control", {"norm": "pre"}),
        _at_its_rate(POST, "remedy", {"norm": "post"}),
        _at_its_rate(SCALED, "remedy", {"residual_scale": 0.25}),
        _at_its_rate(CLIP, "remedy", {"grad_clip": 1.0}),
        _at_its_rate(WARM_UP, "remedy", {"warmup_steps": 20}),
        _at_its_rate(GELU, "remedy", {"activation": "gelu"}),
        _at_its_rate(DROPOUT, "remedy", {"dropout": 0.2}),
        _at_its_rate(DECAY, "remedy", {"weight_decay": 0.1}),
        _at_its_rate(STEADY_NONE, "fault", ADAM),
        _at_its_rate(STEADY_PRE, "control", {**ADAM, "norm": "pre"}),
        Arm(ADAM_NONE, "fault", ADAM),
        Arm(ADAM_PRE, "control", {**ADAM, "norm": "pre"}),
        Arm(ADAM_POST, "comparison", {**ADAM, "norm": "post"}, extended=True),
        Arm(WARM_POST, "remedy", {**ADAM, "norm": "post", "warmup_steps": 20}, extended=True),
        Arm(DEEP_PRE, "control", {**ADAM, "norm": "pre", "n_layers": 16}, extended=True),
        Arm(DEEP_POST, "fault", {**ADAM, "norm": "post", "n_layers": 16}, extended=True),
        Arm(DEEP_WARM_POST, "remedy", {**ADAM, "norm": "post", "n_layers": 16, "warmup_steps": 20}, extended=True),
        Arm(FAST_NONE, "fault", FAST, extended=True, tuned=False),
        Arm(FAST_POST, "comparison", {**FAST, "norm": "post"}, extended=True, tuned=False),
        Arm(FAST_PRE, "control", {**FAST, "norm": "pre"}, extended=True, tuned=False),
        _at_its_rate(HALF, "fault", {**DEEPER, "dtype": "float16"}, extended=True),
        _at_its_rate(BRAIN, "fault", {**DEEPER, "dtype": "bfloat16"}, extended=True),
        _at_its_rate(SINGLE, "control", DEEPER, extended=True),
    ),
    claims=(
        _not_finite("sgd-finite", NONE, PRE),
        _not_finite("adamw-finite", STEADY_NONE, STEADY_PRE),
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
        Claim("no-warm-up-deep", difference(DEEP_PRE, DEEP_POST, "accuracy"), 0.1),
        Claim("warm-up-post-norm", difference(WARM_POST, ADAM_POST, "accuracy"), 0.1),
        Claim("warm-up-post-norm-deep", difference(DEEP_WARM_POST, DEEP_POST, "accuracy"), 0.1),
    ),
    curves=("grad.0.v", "grad.7.v"),
)
