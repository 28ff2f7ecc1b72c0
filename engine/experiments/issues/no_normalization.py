"""no-normalization: does a deep stack blow up without normalisation; with which optimizer and precision, and what helps?"""

from collections.abc import Callable
from math import log

import numpy as np

from engine.experiments.experiment import Arm, Claim, Values, difference
from engine.experiments.issues.issue import Issue, Source
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


def _stays_finite(arm: str, sentence: str, other: str = NONE, extended: bool = False) -> Claim:
    return Claim(
        sentence,
        difference(arm, other, "finite"),
        SHARE,
        0.5,
        about="remedy",
        extended=extended,
    )


def _learns(arm: str, sentence: str) -> Claim:
    return Claim(sentence, below_guessing(arm), "nats below the loss of guessing", 0.1, about="remedy")


def _not_finite(arm: str, other: str, sentence: str, condition: str) -> Claim:
    return Claim(
        sentence, difference(arm, other, "finite"), SHARE, 0.5, "less", condition,
        "condition", extended=True,
    )  # fmt: skip


ISSUE = Issue(
    slug="no-normalization",
    group="depth",
    title="Do deep models need layer normalisation?",
    summary=(
        "Layer normalisation brings the numbers of each token back to one size, before every attention and every MLP. Here we leave it "
        "out of a deep model, and look at whether training survives, with which optimizer, and what else helps."
    ),
    mechanism=r"""
A block has two branches, attention and MLP. Each branch computes some $f(x)$ from its input $x$, and the skip connection adds the two:
$x + f(x)$. Without normalisation $f(x)$ is the larger, the larger $x$ is. Let the variance of $f(x)$ be $c$ times
the variance of $x$, and let the two be uncorrelated. Then $L$ blocks turn the variance of the embedding $x_0$ into
$$\mathrm{Var}(x_L) = (1 + c)^{2L}\, \mathrm{Var}(x_0),$$
where $x_L$ is the output of the last block, and the gradient grows in the same way on its road back. Three changes prevent this:

- **Layer normalisation before each branch (pre-LN).** Every branch then reads a vector of fixed size and adds about the same variance.
  So the variance of the sum grows only in proportion to $L$, and the gradient in the last block shrinks as $1/\sqrt{L}$
  (Xiong et al. 2020).
- **Layer normalisation after each sum (post-LN).** It brings the sum $x + f(x)$ itself back to one size.
- **Smaller branches.** If each branch is multiplied by $1/\sqrt{2L}$, the variance grows at most by the factor
  $(1 + c/2L)^{2L} \le e^c$, however large $L$ is. This holds for the first weights; training can change it.

A step of SGD is proportional to the gradient. One very large gradient can therefore throw the weights so far off that the next loss is
not a finite number (it is NaN or infinite). Adam divides each gradient by its own usual size. Its steps stay near the learning rate
however large the gradient is, as long as the number format can hold it. To stay finite is not yet to learn.
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
            "With SGD, fewer runs stay finite without normalisation than with layer normalisation before each branch (pre-LN).",
            difference(NONE, PRE, "finite"),
            SHARE,
            0.5,
            "less",
            condition="SGD, learning rate 0.1, 8 layers, float32",
        ),
        Claim(
            "With AdamW, fewer runs stay finite without normalisation than with layer normalisation before each branch (pre-LN).",
            difference(ADAM_NONE, ADAM_PRE, "finite"),
            SHARE,
            0.5,
            "less",
            condition="AdamW, learning rate 0.003, float32",
            about="condition",
        ),
        Claim(
            "With AdamW, a model without normalisation reaches a lower accuracy than a model with pre-LN.",
            difference(ADAM_NONE, ADAM_PRE, "accuracy"),
            "accuracy",
            0.3,
            "less",
            condition="AdamW, learning rate 0.003, float32",
            about="condition",
        ),
        _stays_finite(
            WARM_UP, "With SGD and no normalisation, more runs stay finite if the learning rate warms up over 20 steps."
        ),
        _stays_finite(CLIP, "With SGD and no normalisation, more runs stay finite if gradients are clipped at norm 1."),
        _learns(
            CLIP,
            "With SGD, no normalisation and gradients clipped at norm 1, a model ends with a lower loss than guessing.",
        ),
        _stays_finite(
            GELU, "With SGD and no normalisation, more runs stay finite if the activation is GELU and not ReLU."
        ),
        _stays_finite(
            DROPOUT, "With SGD and no normalisation, more runs stay finite with dropout of 0.2 than without dropout."
        ),
        _stays_finite(
            DECAY,
            "With SGD and no normalisation, more runs stay finite with weight decay of 0.1 than without weight decay.",
        ),
        _stays_finite(
            SCALED,
            "With SGD and no normalisation, more runs stay finite if the output of each branch is multiplied by 0.25.",
        ),
        _learns(
            SCALED,
            "With SGD, no normalisation and branches multiplied by 0.25, a model ends with a lower loss than guessing.",
        ),
        _stays_finite(
            POST,
            "With SGD, more runs stay finite with layer normalisation after each sum (post-LN) than without normalisation.",
        ),
        _learns(POST, "With SGD and post-LN, a model ends with a lower loss than guessing."),
        _learns(PRE, "With SGD and pre-LN, a model ends with a lower loss than guessing."),
        _not_finite(
            HALF,
            SINGLE,
            "With AdamW and no normalisation, fewer runs stay finite in float16 than in float32.",
            "16 layers, 20 steps, no loss scaling",
        ),
        _not_finite(
            BRAIN,
            SINGLE,
            "With AdamW and no normalisation, fewer runs stay finite in bfloat16 than in float32.",
            "16 layers, 20 steps",
        ),
        Claim(
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
        also=(1, 2),
    ),
    remedies=(
        "Put layer normalisation (or RMSNorm) before every branch, and once more before the output. Most deep language models do so today.",
        "Without normalisation, let each branch start near zero. Multiply it by one over the root of twice the number of blocks, or by a "
        "learned number that starts at zero.",
        "Use gradient clipping and warm-up in addition to normalisation, and not in its place. Compute in bfloat16, but keep the weights "
        "in float32.",
    ),
    sources=(
        Source("Ba et al. 2016, Layer Normalization", "https://arxiv.org/abs/1607.06450"),
        Source(
            "Xiong et al. 2020, On Layer Normalization in the Transformer Architecture, theorem 1",
            "https://arxiv.org/abs/2002.04745",
        ),
        Source("Zhang et al. 2019, Fixup Initialization, section 2", "https://arxiv.org/abs/1901.09321"),
        Source("Bachlechner et al. 2021, ReZero is All You Need", "https://arxiv.org/abs/2003.04887"),
        Source("Micikevicius et al. 2018, Mixed Precision Training, section 3", "https://arxiv.org/abs/1710.03740"),
    ),
    notes=(
        "A run ends at the first number that is not finite. The lab names the step, the layer and the tensor in which it appeared.",
        "The model with pre-LN also has one layer normalisation before the output. The model without normalisation lacks this one too.",
        "Each remedy changes one thing against SGD without normalisation.",
        "Guessing means giving each of the ten symbols the same probability; its loss is ln 10 = 2.30 nats.",
    ),
    curves=("grad.0.v", "grad.7.v"),
)
