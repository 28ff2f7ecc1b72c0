"""interpretability: with depth, which explanations still point at the token that the answer came from?"""

from engine.experiments.experiment import Arm, Claim, Role, difference, rise
from engine.experiments.issues.issue import read_issue
from engine.foundation.formatting import counted

SHALLOW, DEEP = "1 layer", "6 layers"
MEASURED = ("pointing", "head_pruning")


def _arm(layers: int, role: Role, *, extended: bool = False) -> Arm:
    settings, line = {"n_layers": layers}, "last layer's attention"
    return Arm(counted(layers, "layer"), role, settings, "pointing.last", MEASURED, extended, line=line, x=layers)


BASE = {
    "task": "lookup", "family": "encoder", "pos_encoding": "nope", "n_keys": 8, "vocab_size": 8, "seq_len": 9,
    "d_model": 32, "n_heads": 4, "learning_rate": 0.003, "steps": 300,
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
        Claim("last-layer", difference(DEEP, SHALLOW, "pointing.last"), 0.2, "less"),
        Claim("roll-out", difference(DEEP, SHALLOW, "pointing.rollout"), 0.05, "less"),
        Claim("gradient-times-input", difference(DEEP, SHALLOW, "pointing.gradient_x_input"), 0.05, "less"),
        Claim("gradient-norm", difference(DEEP, SHALLOW, "pointing.gradient_norm"), 0.05, "less"),
        Claim("mean-of-layers", difference(DEEP, SHALLOW, "pointing.average"), 0.05, "less"),
        Claim("leave-one-out", difference(DEEP, SHALLOW, "pointing.leave_one_out"), 0.05, "less"),
        Claim("accuracy", difference(DEEP, SHALLOW, "accuracy"), 0.02, "less"),
        Claim("best-layer", rise(DEEP, "pointing.best_layer", "pointing.last"), 0.2),
        Claim("other-attention", difference(DEEP, SHALLOW, "pointing.same_answer_permuted"), 0.2),
        Claim("mean-over-last", rise(DEEP, "pointing.average", "pointing.last"), 0.2),
        Claim("head-removal", rise(DEEP, "heads.half_accuracy", "heads.random_half_accuracy"), 0.1),
    ),
    x_label="Layers",
    evaluations=6,
)
