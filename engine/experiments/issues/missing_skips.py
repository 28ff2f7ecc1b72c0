"""missing-skips: does a deep stack train without skip connections; which gradients vanish, and why?"""

from collections.abc import Callable

import numpy as np

from engine.experiments.experiment import Arm, Claim, Values, above, difference
from engine.experiments.issues.issue import Issue, Source
from engine.experiments.key_figure import KeyFigure, Row

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
    title="Do deep models need skip connections?",
    summary=(
        "A skip connection adds the input of a part of the model to its output, so that signal and gradient have a direct way through "
        "all layers. Here we take the skip connections away, and look at what a deep model still learns and which gradients vanish."
    ),
    mechanism=r"""
With a skip connection a block computes $x + f(x)$ from its input $x$. Its derivative is $I + f'(x)$, where $I$ is the identity.
However many blocks are stacked, one way back for the gradient leads through identities only. Without skip connections the gradient is
multiplied by $f_l'(x)$ in each block $l$, and only the product $\prod_l f_l'(x)$ is left. Two different things can then go wrong:

- **The tokens become alike.** Attention takes a weighted mean of the tokens. Many means, one after another, make all tokens of a
  sequence nearly equal to one vector $x$: the matrix of the tokens goes to $\mathbf{1} x^\top$, doubly exponentially in the number of
  layers (Dong et al. 2021). Queries and keys only choose which token is read. Where all tokens are alike, this choice makes no
  difference, so the gradients of the matrices $W_Q$ and $W_K$ go to zero. The gradient of the values' matrix $W_V$ need not.
- **The signal shrinks.** Where each of $L$ blocks multiplies the size of its input by $c < 1$, gradients fall as $c^L$. Layer
  normalisation divides by the size of what it reads, and so it multiplies the gradient by the inverse of that size. This undoes the
  decay, which therefore shows only in a model without layer normalisation.

"The gradients vanish before they reach the first layers" is the usual short explanation. It describes the second case. In a
transformer with layer normalisation the first case is the one to look for, and the norm of all gradients together can hide it.
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
            "A model of eight layers learns to repeat the previous symbol less well without skip connections than with them.",
            difference(WITHOUT, WITH, "accuracy"),
            "accuracy",
            0.3,
            "less",
            condition="8 layers, 150 training steps",
        ),
        Claim(
            "Without skip connections, the gradient of the whole first block vanishes: it is at least ten times smaller than with them.",
            decades(BARE, "first_grad.first", BARE_SKIPS),
            "powers of ten",
            1.0,
            "less",
            condition="24 layers with layer normalisation, before training",
        ),
        Claim(
            "Without skip connections, the gradient of the whole model vanishes: its norm is at least ten times smaller than with them.",
            decades(BARE, "first_grad", BARE_SKIPS),
            "powers of ten",
            1.0,
            "less",
            condition="24 layers with layer normalisation, before training",
            about="condition",
        ),
        Claim(
            "Without skip connections, the queries' gradient in the last block vanishes: it is at least ten times smaller than with them.",
            decades(BARE, "first_grad.last.q", BARE_SKIPS),
            "powers of ten",
            1.0,
            "less",
            condition="24 layers with layer normalisation, before training",
        ),
        Claim(
            "Without skip connections, the values' gradient in the last block vanishes: it is at least ten times smaller than with them.",
            decades(BARE, "first_grad.last.v", BARE_SKIPS),
            "powers of ten",
            1.0,
            "less",
            condition="24 layers with layer normalisation, before training",
        ),
        Claim(
            "In training without skip connections, the queries' gradient is smaller relative to the values' gradient than with them.",
            _along_training,
            "powers of ten",
            0.5,
            "less",
            condition="8 layers with layer normalisation, last block, mean over the training",
        ),
        Claim(
            "Without skip connections, the tokens of a sequence point more nearly in one direction after the last block than with them.",
            difference(BARE, BARE_SKIPS, "init_token_cosine"),
            "mean cosine of two tokens",
            0.1,
            condition="24 layers with layer normalisation, before training",
        ),
        Claim(
            "Without skip connections, the tokens of a sequence differ at least ten times less after the last block than with them.",
            decades(BARE, "init_token_residual", BARE_SKIPS),
            "powers of ten, of the share in which the tokens differ",
            1.0,
            "less",
            condition="24 layers with layer normalisation, before training",
        ),
        Claim(
            "Without skip connections, the first block's gradient is at least ten times smaller without layer normalisation than with it.",
            decades(TEXTBOOK, "first_grad.first", BARE),
            "powers of ten",
            1.0,
            "less",
            condition="24 layers with ReLU, before training",
            about="condition",
        ),
        Claim(
            "One layer learns to repeat the previous symbol without skip connections.",
            above("1 layer, no skips", "accuracy", CHANCE),
            "accuracy above chance",
            0.8,
            condition="1 layer",
            about="condition",
        ),
        Claim(
            "Eight layers with skip connections learn to repeat the previous symbol.",
            above(WITH, "accuracy", CHANCE),
            "accuracy above chance",
            0.8,
            about="remedy",
        ),
    ),
    key_figure=KeyFigure(
        sample="reads 7 2 9 4, must write · 7 2 9: the symbol before",
        question="Eight layers learn this task. Take their skip connections away: what happens to the accuracy?",
        answers=("It falls", "It stays", "It rises"),
        quantity="Accuracy on new sequences",
        subject="accuracy",
        change="Without skip connections",
        before=Row("8 layers with skip connections", WITH, "accuracy"),
        after=Row("8 layers without", WITHOUT, "accuracy"),
        others=(
            Row("4 layers without", "4 layers, no skips", "accuracy"),
            Row("2 layers without", "2 layers, no skips", "accuracy"),
            Row("1 layer without", "1 layer, no skips", "accuracy"),
        ),
        remedy="Keep the skip connection around every attention and every MLP.",
        also=(3, 4),
    ),
    remedies=(
        "Keep the skip connection around every attention and every MLP. To check it, set the output of both to zero: the stack must "
        "then pass its input on unchanged.",
        "Log the gradient norms part by part, and queries and keys apart from values. The norm of all gradients can look healthy while "
        "the attention cannot learn.",
        "Where skip connections must go, for example to make the model faster in use, let the attention start near the identity "
        "(He et al. 2023).",
    ),
    sources=(
        Source("He et al. 2016, Deep Residual Learning for Image Recognition, section 3", "https://arxiv.org/abs/1512.03385"),
        Source("Dong et al. 2021, Attention Is Not All You Need, theorem 2.2", "https://arxiv.org/abs/2103.03404"),
        Source("Noci et al. 2022, Signal Propagation in Transformers, section 3", "https://arxiv.org/abs/2206.03126"),
        Source("He et al. 2023, Deep Transformers without Shortcuts", "https://arxiv.org/abs/2302.10322"),
    ),
    x_label="Layers",
    notes=(
        "Models of 24 layers are not trained. They are measured with their first weights, on the first training batch.",
        "Gradient norms during training are taken before clipping. Each is a mean over ten moments of a run.",
        "An effect of -1 power of ten means a tenth, -2 means a hundredth, and +1 means ten times as much.",
        "The share in which the tokens differ is what is left of the tokens' matrix when their mean is taken away, as in Dong et al. "
        "2021, section 2.",
    ),
)  # fmt: skip
