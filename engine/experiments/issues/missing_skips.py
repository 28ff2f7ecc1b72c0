"""missing-skips: does a deep stack train without skip connections; which gradients vanish, and why?"""

from collections.abc import Callable

import numpy as np

from engine.experiments.experiment import Arm, Claim, Values, above, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.written import written
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
    **written(__file__),
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
            "accuracy",
            "A model of eight layers learns to repeat the previous symbol less well without skip connections than with them.",
            difference(WITHOUT, WITH, "accuracy"),
            "accuracy",
            0.3,
            "less",
            condition="8 layers, 150 training steps",
        ),
        Claim(
            "first-block-gradient",
            "Without skip connections, the gradient of the whole first block vanishes: it is at least ten times smaller than with them.",
            decades(BARE, "first_grad.first", BARE_SKIPS),
            "powers of ten",
            1.0,
            "less",
            condition="24 layers with layer normalisation, before training",
        ),
        Claim(
            "whole-gradient",
            "Without skip connections, the gradient of the whole model vanishes: its norm is at least ten times smaller than with them.",
            decades(BARE, "first_grad", BARE_SKIPS),
            "powers of ten",
            1.0,
            "less",
            condition="24 layers with layer normalisation, before training",
            about="condition",
        ),
        Claim(
            "last-query-gradient",
            "Without skip connections, the queries' gradient in the last block vanishes: it is at least ten times smaller than with them.",
            decades(BARE, "first_grad.last.q", BARE_SKIPS),
            "powers of ten",
            1.0,
            "less",
            condition="24 layers with layer normalisation, before training",
        ),
        Claim(
            "last-value-gradient",
            "Without skip connections, the values' gradient in the last block vanishes: it is at least ten times smaller than with them.",
            decades(BARE, "first_grad.last.v", BARE_SKIPS),
            "powers of ten",
            1.0,
            "less",
            condition="24 layers with layer normalisation, before training",
        ),
        Claim(
            "queries-in-training",
            "In training without skip connections, the queries' gradient is smaller relative to the values' gradient than with them.",
            _along_training,
            "powers of ten",
            0.5,
            "less",
            condition="8 layers with layer normalisation, last block, mean over the training",
        ),
        Claim(
            "same-direction",
            "Without skip connections, the tokens of a sequence point more nearly in one direction after the last block than with them.",
            difference(BARE, BARE_SKIPS, "init_token_cosine"),
            "mean cosine of two tokens",
            0.1,
            condition="24 layers with layer normalisation, before training",
        ),
        Claim(
            "tokens-alike",
            "Without skip connections, the tokens of a sequence differ at least ten times less after the last block than with them.",
            decades(BARE, "init_token_residual", BARE_SKIPS),
            "powers of ten, of the share in which the tokens differ",
            1.0,
            "less",
            condition="24 layers with layer normalisation, before training",
        ),
        Claim(
            "layer-norm-keeps-gradient",
            "Without skip connections, the first block's gradient is at least ten times smaller without layer normalisation than with it.",
            decades(TEXTBOOK, "first_grad.first", BARE),
            "powers of ten",
            1.0,
            "less",
            condition="24 layers with ReLU, before training",
            about="condition",
        ),
        Claim(
            "one-layer",
            "One layer learns to repeat the previous symbol without skip connections.",
            above("1 layer, no skips", "accuracy", CHANCE),
            "accuracy above chance",
            0.8,
            condition="1 layer",
            about="condition",
        ),
        Claim(
            "skips-learn",
            "Eight layers with skip connections learn to repeat the previous symbol.",
            above(WITH, "accuracy", CHANCE),
            "accuracy above chance",
            0.8,
            about="remedy",
        ),
    ),
    key_figure=KeyFigure(
        claim="accuracy",
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
        also=("last-query-gradient", "last-value-gradient"),
    ),
    x_label="Layers",
)  # fmt: skip
