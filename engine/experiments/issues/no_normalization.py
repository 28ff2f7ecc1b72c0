"""no-normalization: does a deep stack blow up without normalisation; with which optimizer and precision, and what helps?"""

from collections.abc import Callable
from math import log

import numpy as np

from engine.experiments.experiment import Arm, Claim, Values, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.written import written
from engine.experiments.key_figure import KeyFigure, Row

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
SHARE = "share of the runs that stay finite"
ADAM = {"optimizer": "adamw", "learning_rate": 0.003}
FAST = {"optimizer": "adamw", "learning_rate": 0.03}
DEEPER = {**ADAM, "n_layers": 16, "steps": 20}


def below_guessing(arm: str) -> Callable[[Values], np.ndarray]:
    """The effect "the loss of blind guessing minus the loss at the end", in nats."""
    return lambda values: log(SYMBOLS) - values(arm, "loss")


def _stays_finite(name: str, arm: str, sentence: str, other: str = NONE, extended: bool = False) -> Claim:
    return Claim(
        name,
        sentence,
        difference(arm, other, "finite"),
        SHARE,
        0.5,
        about="remedy",
        extended=extended,
    )


def _learns(name: str, arm: str, sentence: str) -> Claim:
    return Claim(name, sentence, below_guessing(arm), "nats below the loss of guessing", 0.1, about="remedy")


def _not_finite(name: str, arm: str, other: str, sentence: str, condition: str) -> Claim:
    return Claim(
        name, sentence, difference(arm, other, "finite"), SHARE, 0.5, "less", condition,
        "condition", extended=True,
    )  # fmt: skip


ISSUE = Issue(
    slug="no-normalization",
    group="depth",
    **written(__file__),
    base={
        "task": "k_back",
        "k": 1,
        "vocab_size": SYMBOLS,
        "seq_len": 12,
        "n_layers": 8,
        "n_heads": 2,
        "d_model": 16,
        "activation": "relu",
        "norm": "none",
        "optimizer": "sgd",
        "learning_rate": 0.1,
        "warmup_steps": 0,
        "grad_clip": None,
        "steps": 100,
    },
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
        Claim(
            "sgd-finite",
            "With SGD, fewer runs stay finite without normalisation than with layer normalisation before each branch (pre-LN).",
            difference(NONE, PRE, "finite"),
            SHARE,
            0.5,
            "less",
            condition="SGD, learning rate 0.1, 8 layers, float32",
        ),
        Claim(
            "adamw-finite",
            "With AdamW, fewer runs stay finite without normalisation than with layer normalisation before each branch (pre-LN).",
            difference(ADAM_NONE, ADAM_PRE, "finite"),
            SHARE,
            0.5,
            "less",
            condition="AdamW, learning rate 0.003, float32",
            about="condition",
        ),
        Claim(
            "adamw-accuracy",
            "With AdamW, a model without normalisation reaches a lower accuracy than a model with pre-LN.",
            difference(ADAM_NONE, ADAM_PRE, "accuracy"),
            "accuracy",
            0.3,
            "less",
            condition="AdamW, learning rate 0.003, float32",
            about="condition",
        ),
        _stays_finite(
            "warm-up",
            WARM_UP,
            "With SGD and no normalisation, more runs stay finite if the learning rate warms up over 20 steps.",
        ),
        _stays_finite(
            "clipping", CLIP, "With SGD and no normalisation, more runs stay finite if gradients are clipped at norm 1."
        ),
        _learns(
            "clipped-learns",
            CLIP,
            "With SGD, no normalisation and gradients clipped at norm 1, a model ends with a lower loss than guessing.",
        ),
        _stays_finite(
            "gelu", GELU, "With SGD and no normalisation, more runs stay finite if the activation is GELU and not ReLU."
        ),
        _stays_finite(
            "dropout",
            DROPOUT,
            "With SGD and no normalisation, more runs stay finite with dropout of 0.2 than without dropout.",
        ),
        _stays_finite(
            "weight-decay",
            DECAY,
            "With SGD and no normalisation, more runs stay finite with weight decay of 0.1 than without weight decay.",
        ),
        _stays_finite(
            "scaled-branches",
            SCALED,
            "With SGD and no normalisation, more runs stay finite if the output of each branch is multiplied by 0.25.",
        ),
        _learns(
            "scaled-learns",
            SCALED,
            "With SGD, no normalisation and branches multiplied by 0.25, a model ends with a lower loss than guessing.",
        ),
        _stays_finite(
            "post-norm",
            POST,
            "With SGD, more runs stay finite with layer normalisation after each sum (post-LN) than without normalisation.",
        ),
        _learns("post-norm-learns", POST, "With SGD and post-LN, a model ends with a lower loss than guessing."),
        _learns("pre-norm-learns", PRE, "With SGD and pre-LN, a model ends with a lower loss than guessing."),
        _not_finite(
            "float16",
            HALF,
            SINGLE,
            "With AdamW and no normalisation, fewer runs stay finite in float16 than in float32.",
            "16 layers, 20 steps, no loss scaling",
        ),
        _not_finite(
            "bfloat16",
            BRAIN,
            SINGLE,
            "With AdamW and no normalisation, fewer runs stay finite in bfloat16 than in float32.",
            "16 layers, 20 steps",
        ),
        Claim(
            "higher-rate",
            "With AdamW at ten times the learning rate, a model without normalisation reaches a lower accuracy than a model with pre-LN.",
            difference(FAST_NONE, FAST_PRE, "accuracy"),
            "accuracy",
            0.3,
            "less",
            condition="AdamW, learning rate 0.03",
            about="condition",
            extended=True,
        ),
        Claim(
            "no-warm-up",
            "With AdamW and no warm-up, a model with pre-LN reaches a higher accuracy than a model with post-LN.",
            difference(ADAM_PRE, ADAM_POST, "accuracy"),
            "accuracy",
            0.1,
            condition="AdamW, learning rate 0.003, no warm-up",
            about="condition",
            extended=True,
        ),
    ),
    key_figure=KeyFigure(
        claim="sgd-finite",
        sample="reads 7 2 9 4, must write · 7 2 9: the symbol before",
        question="SGD trains eight layers. Take layer normalisation away: how many runs keep a finite loss, without NaN?",
        answers=("Fewer runs", "As many runs", "More runs"),
        quantity="Share of the runs that stay finite",
        subject="the share of the runs that stay finite",
        change="Without layer normalisation",
        before=Row("with layer normalisation (pre-LN)", PRE, "finite"),
        after=Row("without", NONE, "finite"),
        others=(
            Row("without, warm-up", WARM_UP, "finite"),
            Row("without, gradients clipped", CLIP, "finite"),
            Row("without, branches times 0.25", SCALED, "finite"),
            Row("layer normalisation after each sum (post-LN)", POST, "finite"),
        ),
        remedy="Put layer normalisation before every attention and every MLP.",
        also=("adamw-finite", "adamw-accuracy"),
    ),
    curves=("grad.0.v", "grad.7.v"),
)
