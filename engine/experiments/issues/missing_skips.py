"""missing-skips: without skip connections a deep stack does not train; which gradients vanish, and why."""

from collections.abc import Callable

import numpy as np

from engine.experiments.experiment import Arm, Claim, Values, above, difference
from engine.experiments.issues.issue import Issue

CHANCE = 1 / 10
WITHOUT, WITH = "8 layers, no skips", "8 layers, skips"
BARE, BARE_SKIPS = "24 layers, no skips", "24 layers, skips"
TEXTBOOK = "24 layers, no skips, no LayerNorm"
NO_SKIPS = {"skips": False}
AT_START = {"n_layers": 24, "steps": 1}
LOOKS = ("token_collapse", "first_gradients")


def decades(arm: str, metric: str, other: str, other_metric: str = "") -> Callable[[Values], np.ndarray]:
    """The effect "the powers of ten between two numbers" by seed."""
    return lambda values: np.log10(values(arm, metric) / values(other, other_metric or metric))


def _along_training(values: Values) -> np.ndarray:
    """The ratio of query to value gradients in the last block, without skips over with skips, in powers of ten."""
    return np.log10(
        values(WITHOUT, "grad.7.q") / values(WITHOUT, "grad.7.v") * values(WITH, "grad.7.v") / values(WITH, "grad.7.q")
    )


ISSUE = Issue(
    slug="missing-skips",
    group="depth",
    title="Skip connections are missing",
    summary=(
        "Without skip connections a deep stack does not learn even to repeat the last token; the usual explanation is that "
        "gradients vanish before they reach the first layers."
    ),
    mechanism=r"""
With a skip a block computes $x + f(x)$ and its derivative is $I + f'(x)$: however many are stacked, one path back is the identity.
Without it the derivatives multiply, $\prod_l f_l'(x)$. Two different things can then go wrong:

- **The tokens become one.** Each attention pattern is a weighted mean over tokens. A stack of means approaches a matrix of rank one,
  $X \to \mathbf{1} x^\top$, doubly exponentially in depth (Dong et al. 2021). Once all tokens are alike it does not matter which
  one is read, so the gradients of $W_Q$ and $W_K$, which only decide that, go to zero; that of $W_V$ need not.
- **The signal shrinks.** Where each block scales its input by $c < 1$, gradients fall as $c^L$. LayerNorm divides by the size of what
  it reads and so multiplies gradients by its inverse, which hides this decay; it shows only without LayerNorm.
""",
    base={
        "task": "k_back",
        "k": 1,
        "seq_len": 12,
        "n_layers": 8,
        "n_heads": 2,
        "d_model": 16,
        "activation": "relu",
        "learning_rate": 0.003,
        "steps": 150,
    },
    curves=("grad.0.q", "grad.7.q", "grad.7.v"),
    arms=(
        Arm(WITHOUT, "fault", NO_SKIPS, line="no skips", x=8),
        Arm(WITH, "control", {}, line="skips", x=8),
        *(
            Arm(f"{n} layer{'s' if n > 1 else ''}, no skips", "comparison", {**NO_SKIPS, "n_layers": n}, line="no skips", x=n)
            for n in (1, 2, 4)
        ),
        Arm("1 layer, skips", "comparison", {"n_layers": 1}, line="skips", x=1),
        Arm(BARE, "fault", {**NO_SKIPS, **AT_START}, "init_token_residual", LOOKS),
        Arm(BARE_SKIPS, "control", AT_START, "init_token_residual", LOOKS),
        Arm(TEXTBOOK, "fault", {**NO_SKIPS, **AT_START, "norm": "none"}, "first_grad.first", LOOKS),
        Arm("4 layers, skips", "comparison", {"n_layers": 4}, line="skips", x=4, extended=True),
        *(
            Arm(f"{n} layers, no skips, before training", "comparison", {**NO_SKIPS, "n_layers": n, "steps": 1},
                "init_token_residual", LOOKS, extended=True, line="residual before training", x=n)
            for n in (2, 4, 8, 16)
        ),
    ),
    claims=(
        Claim(
            "Without skips eight layers do not learn what they learn with them.",
            difference(WITHOUT, WITH, "accuracy"),
            "accuracy",
            0.3,
            "less",
            condition="8 layers",
        ),
        Claim(
            "Without skips, with LayerNorm, the whole gradient of the first block vanishes.",
            decades(BARE, "first_grad.first", BARE_SKIPS),
            "powers of ten",
            1.0,
            "less",
            condition="24 layers, before training, against skips",
        ),
        Claim(
            "The total gradient norm, which most people watch, vanishes.",
            decades(BARE, "first_grad", BARE_SKIPS),
            "powers of ten",
            1.0,
            "less",
            condition="24 layers with LayerNorm, before training, against skips",
            about="condition",
        ),
        Claim(
            "The gradients of the queries vanish in the last block.",
            decades(BARE, "first_grad.last.q", BARE_SKIPS),
            "powers of ten",
            1.0,
            "less",
            condition="24 layers, before training, against skips",
        ),
        Claim(
            "The gradients of the values vanish in the last block.",
            decades(BARE, "first_grad.last.v", BARE_SKIPS),
            "powers of ten",
            1.0,
            "less",
            condition="24 layers, before training, against skips",
        ),
        Claim(
            "Along training too the queries' gradient is smaller beside the values' than with skips.",
            _along_training,
            "powers of ten",
            0.5,
            "less",
            condition="8 layers, last block, mean over the run",
        ),
        Claim(
            "Without skips all tokens of a sequence become one direction.",
            difference(BARE, BARE_SKIPS, "init_token_cosine"),
            "mean cosine of two tokens",
            0.1,
            condition="24 layers, before training",
        ),
        Claim(
            "Hardly anything is left of what tells the tokens apart.",
            decades(BARE, "init_token_residual", BARE_SKIPS),
            "powers of ten, residual of Dong et al. 2021",
            1.0,
            "less",
            condition="24 layers, before training, against skips",
        ),
        Claim(
            "Take away LayerNorm as well and the first block's gradient vanishes as textbooks have it.",
            decades(TEXTBOOK, "first_grad.first", BARE),
            "powers of ten",
            1.0,
            "less",
            condition="24 layers, ReLU, no skips, before training, against the same with LayerNorm",
            about="condition",
        ),
        Claim(
            "One layer learns the task without a skip.",
            above("1 layer, no skips", "accuracy", CHANCE),
            "accuracy above chance",
            0.8,
            condition="1 layer",
            about="condition",
        ),
        Claim(
            "With skips eight layers learn the task.",
            above(WITH, "accuracy", CHANCE),
            "accuracy above chance",
            0.8,
            about="remedy",
        ),
    ),
    remedies=(
        "Keep the skip around every branch; check it by setting the branches to zero: the stack must then be the identity.",
        "Log gradient norms by part, queries and keys apart from values: the total looks healthy while attention cannot learn.",
        "Where skips must go (inference speed), the attention has to start near the identity instead, as in He et al. 2023.",
    ),
    sources=(
        "He et al. 2016, Deep Residual Learning for Image Recognition, section 3",
        "Dong et al. 2021, Attention Is Not All You Need, theorem 2.2",
        "Noci et al. 2022, Signal Propagation in Transformers, section 3",
        "He et al. 2023, Deep Transformers without Shortcuts",
    ),
    x_label="Layers",
    notes=(
        "Arms called 24 layers are measured on their first weights and the first training batch; they are not trained.",
        "Gradient norms along training are taken before clipping, as a mean over ten looks at each run.",
        "An effect of -1 power of ten is a tenth.",
    ),
)  # fmt: skip
