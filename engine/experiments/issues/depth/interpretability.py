"""interpretability: with depth, which explanations still point at the token that the answer came from?"""

from typing import Literal

from engine.experiments.experiment import Arm, Claim, Role, difference, rise
from engine.experiments.issues.issue import read_issue
from engine.foundation.formatting import counted

SHALLOW, DEEP = "1 layer", "6 layers"
MEASURED = ("pointing", "head_pruning")


def _arm(layers: int, role: Role, *, extended: bool = False) -> Arm:
    settings, line = {"n_layers": layers}, "last layer's attention"
    return Arm(counted(layers, "layer"), role, settings, "pointing.last", MEASURED, extended, line=line, x=layers)


# An explanation can only be right about answers that are right, so both models must answer nearly all of them: there is no comparison of
# their accuracies. After 150 steps instead of 300 most explanations have room below 1 all the same.
LEARNED = ((SHALLOW, "accuracy", 0.9), (DEEP, "accuracy", 0.9))


def _deeper(claim: str, method: str, smallest: float, direction: Literal["more", "less"] = "less") -> Claim:
    """A claim on the difference of a method between six layers and one, once both answer correctly."""
    return Claim(claim, difference(DEEP, SHALLOW, f"pointing.{method}"), smallest, direction, learned=LEARNED)


BASE = {
    "task": "lookup", "family": "encoder", "pos_encoding": "nope", "n_keys": 8, "vocab_size": 8, "seq_len": 9,
    "d_model": 32, "n_heads": 4, "learning_rate": 0.003, "steps": 150,
}  # fmt: skip

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        _arm(6, "fault"),
        _arm(1, "control"),
        *(_arm(layers, "comparison", extended=True) for layers in (2, 3, 4)),
    ),
    claims=(
        _deeper("last-layer", "last", 0.2),
        _deeper("roll-out", "rollout", 0.05),
        _deeper("gradient-times-input", "gradient_x_input", 0.05),
        _deeper("gradient-norm", "gradient_norm", 0.05),
        _deeper("mean-of-layers", "average", 0.05),
        _deeper("leave-one-out", "leave_one_out", 0.05),
        Claim("best-layer", rise(DEEP, "pointing.best_layer", "pointing.last"), 0.2, learned=LEARNED),
        _deeper("other-attention", "same_answer_permuted", 0.2, "more"),
        Claim("mean-over-last", rise(DEEP, "pointing.average", "pointing.last"), 0.2, learned=LEARNED),
        Claim("head-removal", rise(DEEP, "heads.half_accuracy", "heads.random_half_accuracy"), 0.1, learned=LEARNED),
    ),
    x_label="Layers",
    evaluations=6,
)
