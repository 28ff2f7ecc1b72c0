"""no-normalization: without normalisation a deep stack blows up; with which optimizer and precision, and what helps."""

from collections.abc import Callable
from math import log

import numpy as np

from engine.experiments.experiment import Arm, Claim, Values, difference
from engine.experiments.issues.issue import Issue

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


def _stays_finite(arm: str, sentence: str, other: str = NONE, extended: bool = False) -> Claim:
    return Claim(
        sentence,
        difference(arm, other, "finite"),
        "share of runs that stay finite",
        0.5,
        about="remedy",
        extended=extended,
    )


def _learns(arm: str, sentence: str) -> Claim:
    return Claim(sentence, below_guessing(arm), "nats below guessing", 0.1, about="remedy")


def _not_finite(arm: str, other: str, sentence: str, condition: str) -> Claim:
    return Claim(
        sentence, difference(arm, other, "finite"), "share of runs that stay finite", 0.5, "less", condition,
        "condition", extended=True,
    )  # fmt: skip


ISSUE = Issue(
    slug="no-normalization",
    group="depth",
    title="Normalisation is missing",
    summary=(
        "Without normalisation the sum in a deep stack grows from block to block, the first large gradient throws the weights "
        "off, and the loss ends in NaN."
    ),
    mechanism=r"""
A block without normalisation adds a branch whose size follows its input's, $x_{l+1} = x_l + f(x_l)$. If the branch adds a variance
of $c$ times that of its input, then
$$\mathrm{Var}(x_L) = (1 + c)^{2L}\, \mathrm{Var}(x_0)$$
for $L$ blocks of two branches, and the gradient grows by the same factors on its way back. LayerNorm makes each branch read a vector
of fixed size: before the branch (pre-LN) the sum grows only as $L$, and the gradient of a block shrinks as $1/\sqrt{L}$ (Xiong et al.
2020). Multiplying each branch by $1/\sqrt{2L}$ does the same for the first step: $(1 + c/2L)^{2L} \le e^c$.

SGD takes a step in proportion to the gradient, so one large gradient is enough. Adam divides by its running size: its steps stay
bounded by the learning rate whatever the gradient is, up to what the number format can hold.
""",
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
            "Without normalisation training ends in a number that is not finite.",
            difference(NONE, PRE, "finite"),
            "share of runs that stay finite",
            0.5,
            "less",
            condition="SGD, learning rate 0.1, 8 layers, float32",
        ),
        Claim(
            "With AdamW too, training without normalisation ends in a number that is not finite.",
            difference(ADAM_NONE, ADAM_PRE, "finite"),
            "share of runs that stay finite",
            0.5,
            "less",
            condition="AdamW, learning rate 0.003, float32",
            about="condition",
        ),
        Claim(
            "With AdamW the model without normalisation does not learn what the other does.",
            difference(ADAM_NONE, ADAM_PRE, "accuracy"),
            "accuracy",
            0.3,
            "less",
            condition="AdamW, learning rate 0.003, float32",
            about="condition",
        ),
        _stays_finite(WARM_UP, "Warm-up keeps SGD finite."),
        _stays_finite(CLIP, "Clipping the gradient keeps SGD finite."),
        _learns(CLIP, "Clipping the gradient also lets it learn better than guessing."),
        _stays_finite(GELU, "Another activation (GELU) keeps SGD finite."),
        _stays_finite(DROPOUT, "Dropout keeps SGD finite."),
        _stays_finite(DECAY, "Weight decay keeps SGD finite."),
        _stays_finite(SCALED, "Scaled residual branches keep SGD finite."),
        _learns(SCALED, "With scaled residual branches it learns better than guessing."),
        _stays_finite(POST, "Post-LN keeps SGD finite."),
        _learns(POST, "With post-LN it learns better than guessing."),
        _learns(PRE, "With pre-LN it learns better than guessing."),
        _not_finite(
            HALF,
            SINGLE,
            "In float16 AdamW ends in a number that is not finite where float32 does not.",
            "16 layers, 20 steps, no loss scaling",
        ),
        _not_finite(
            BRAIN,
            SINGLE,
            "In bfloat16 AdamW ends in a number that is not finite where float32 does not.",
            "16 layers, 20 steps",
        ),
        Claim(
            "At ten times the learning rate the model without normalisation still only fails to learn.",
            difference(FAST_NONE, FAST_PRE, "accuracy"),
            "accuracy",
            0.3,
            "less",
            condition="AdamW, learning rate 0.03",
            about="condition",
            extended=True,
        ),
        Claim(
            "With AdamW pre-LN learns more than post-LN.",
            difference(ADAM_PRE, ADAM_POST, "accuracy"),
            "accuracy",
            0.1,
            condition="AdamW, learning rate 0.003, no warm-up",
            about="condition",
            extended=True,
        ),
    ),
    remedies=(
        "Pre-LN (or RMSNorm) in every block and one more norm before the head: what nearly every deep model does today.",
        "Without norms, start each branch near zero: scale it by one over the root of twice the depth, or by a learned zero.",
        "Clip gradients and warm up on top of that, not instead; compute in bfloat16 but keep the weights in float32.",
    ),
    sources=(
        "Ba et al. 2016, Layer Normalization",
        "Xiong et al. 2020, On Layer Normalization in the Transformer Architecture, theorem 1",
        "Zhang et al. 2019, Fixup Initialization, section 2",
        "Micikevicius et al. 2018, Mixed Precision Training, section 3",
    ),
    notes=(
        "A run that is not finite ends at that step; the lab names the step, the layer and the first tensor.",
        "Pre-LN has a last norm before the head, which the arm without normalisation lacks as well.",
        "The remedies change one thing each against SGD without normalisation.",
    ),
    curves=("grad.0.v", "grad.7.v"),
)
