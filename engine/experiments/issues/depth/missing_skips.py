"""missing-skips: does a deep stack train without skip connections; which gradients vanish, and why?"""

from collections.abc import Callable

import numpy as np

from engine.experiments.experiment import Arm, Claim, Values, above, difference
from engine.experiments.issues.issue import read_issue
from engine.foundation.formatting import counted

CHANCE = 1 / 10
WITHOUT, WITH = "8 layers, no skips", "8 layers, skips"
LONGER = "8 layers, no skips, 108 steps"
BARE, BARE_SKIPS = "24 layers, no skips", "24 layers, skips"
TEXTBOOK = "24 layers, no skips, no LayerNorm"
NO_SKIPS = {"skips": False}
AT_START = {"n_layers": 24, "steps": 1}
LOOKS = ("token_collapse", "first_gradients")
A_TENTH_IS_LEFT, THREE_TIMES = 0.9, 2.0
"""The smallest changes that count: a number vanishes where at most a tenth of it is left, and grows where it is three times as large."""


def change(arm: str, metric: str, other: str) -> Callable[[Values], np.ndarray]:
    """The effect "the change from the other arm to this one, as a share of the other's number" by seed."""
    return lambda values: values(arm, metric) / values(other, metric) - 1


def _along_training(values: Values) -> np.ndarray:
    """The change of the ratio of query to value gradients in the last block, without skips, as a share of the ratio with skips."""
    without, with_skips = (values(arm, "grad.7.q") / values(arm, "grad.7.v") for arm in (WITHOUT, WITH))
    return without / with_skips - 1


# With 150 steps the model with skips is always right; after 36 it has room to be better or worse.
BASE = {
    "task": "k_back", "k": 1, "seq_len": 12, "n_layers": 8, "n_heads": 2, "d_model": 16, "activation": "relu",
    "learning_rate": 0.003, "steps": 36,
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
        Arm(LONGER, "fault", {**NO_SKIPS, "steps": 108}),
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
        Claim("accuracy", difference(WITHOUT, WITH, "accuracy"), 0.05, "less"),
        Claim("longer", difference(LONGER, WITH, "accuracy"), 0.05, "less"),
        Claim("first-block-gradient", change(BARE, "first_grad.first", BARE_SKIPS), A_TENTH_IS_LEFT, "less"),
        Claim("last-query-gradient", change(BARE, "first_grad.last.q", BARE_SKIPS), A_TENTH_IS_LEFT, "less"),
        # Until the seen seeds these two asked whether the gradients vanish, too. They grow, by about ten times, the size that counted.
        Claim("larger-value-gradient", change(BARE, "first_grad.last.v", BARE_SKIPS), THREE_TIMES),
        Claim("larger-whole-gradient", change(BARE, "first_grad", BARE_SKIPS), THREE_TIMES),
        Claim("queries-in-training", _along_training, A_TENTH_IS_LEFT, "less"),
        Claim("same-direction", difference(BARE, BARE_SKIPS, "init_token_cosine"), 0.1),
        Claim("tokens-alike", change(BARE, "init_token_residual", BARE_SKIPS), A_TENTH_IS_LEFT, "less"),
        Claim(
            "mlp-against-collapse",
            change(
                "8 layers, no skips, before training",
                "init_token_residual",
                "8 layers, no skips, no MLP, before training",
            ),
            THREE_TIMES,
        ),
        Claim("layer-norm-keeps-gradient", change(TEXTBOOK, "first_grad.first", BARE), A_TENTH_IS_LEFT, "less"),
        Claim("one-layer", above("1 layer, no skips", "accuracy", CHANCE), 0.5),
        Claim("skips-learn", above(WITH, "accuracy", CHANCE), 0.5),
    ),
    x_label="Layers",
)
