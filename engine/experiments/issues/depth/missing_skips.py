"""missing-skips: does a deep stack train without skip connections; which gradients vanish, and why?"""

from collections.abc import Callable

import numpy as np

from engine.experiments.experiment import Arm, Claim, Values, above, difference
from engine.experiments.issues.issue import read_issue
from engine.foundation.formatting import counted

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


BASE = {
    "task": "k_back", "k": 1, "seq_len": 12, "n_layers": 8, "n_heads": 2, "d_model": 16, "activation": "relu",
    "learning_rate": 0.003, "steps": 150,
}  # fmt: skip


def _trained(layers: int) -> Arm:
    settings = {**NO_SKIPS, "n_layers": layers}
    return Arm(f"{counted(layers, 'layer')}, no skips", "comparison", settings, line="no skips", x=layers)


def _untrained(layers: int, *, mlp: bool = True, extended: bool = False) -> Arm:
    name = f"{layers} layers, no skips{'' if mlp else ', no MLP'}, before training"
    line = "residual before training" if mlp else ""
    settings = {**NO_SKIPS, "n_layers": layers, "steps": 1, "mlp": mlp}
    return Arm(name, "comparison", settings, "init_token_residual", LOOKS, extended, line=line, x=layers, tuned=False)


ISSUE = read_issue(
    __file__,
    base=BASE,
    curves=("grad.0.q", "grad.7.q", "grad.7.v"),
    arms=(
        Arm(WITHOUT, "fault", NO_SKIPS, line="no skips", x=8),
        Arm(WITH, "control", {}, line="skips", x=8),
        *(_trained(layers) for layers in (1, 2, 4)),
        Arm("1 layer, skips", "comparison", {"n_layers": 1}, line="skips", x=1),
        Arm(BARE, "fault", {**NO_SKIPS, **AT_START}, "init_token_residual", LOOKS, tuned=False),
        Arm(BARE_SKIPS, "control", AT_START, "init_token_residual", LOOKS, tuned=False),
        Arm(TEXTBOOK, "fault", {**NO_SKIPS, **AT_START, "norm": "none"}, "first_grad.first", LOOKS, tuned=False),
        Arm("4 layers, skips", "comparison", {"n_layers": 4}, line="skips", x=4, extended=True),
        _untrained(8),
        _untrained(8, mlp=False),
        *(_untrained(layers, extended=True) for layers in (2, 4, 16)),
    ),
    claims=(
        Claim("accuracy", difference(WITHOUT, WITH, "accuracy"), 0.3, "less"),
        Claim("first-block-gradient", decades(BARE, "first_grad.first", BARE_SKIPS), 1.0, "less"),
        Claim("whole-gradient", decades(BARE, "first_grad", BARE_SKIPS), 1.0, "less"),
        Claim("last-query-gradient", decades(BARE, "first_grad.last.q", BARE_SKIPS), 1.0, "less"),
        Claim("last-value-gradient", decades(BARE, "first_grad.last.v", BARE_SKIPS), 1.0, "less"),
        Claim("queries-in-training", _along_training, 0.5, "less"),
        Claim("same-direction", difference(BARE, BARE_SKIPS, "init_token_cosine"), 0.1),
        Claim("tokens-alike", decades(BARE, "init_token_residual", BARE_SKIPS), 1.0, "less"),
        Claim(
            "mlp-against-collapse",
            decades(
                "8 layers, no skips, before training",
                "init_token_residual",
                "8 layers, no skips, no MLP, before training",
            ),
            0.5,
        ),
        Claim("layer-norm-keeps-gradient", decades(TEXTBOOK, "first_grad.first", BARE), 1.0, "less"),
        Claim("one-layer", above("1 layer, no skips", "accuracy", CHANCE), 0.8),
        Claim("skips-learn", above(WITH, "accuracy", CHANCE), 0.8),
    ),
    x_label="Layers",
)
