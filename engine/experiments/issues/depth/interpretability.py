from functools import partial
from typing import Literal

from engine.experiments.experiment import Arm, Claim, Role, difference, once_learned, rise
from engine.experiments.issues.issue import read_issue
from engine.foundation.formatting import counted

SHALLOW, DEEP, TWO_HOPS = "2 layers", "6 layers", "6 layers, 2 hops"
MEASUREMENTS = ("pointing", "head_pruning")


def _arm(layers: int, role: Role, name: str = "", *, extended: bool = False, **settings: object) -> Arm:
    points = tuple((layer + 1, f"pointing.layer.{layer}") for layer in range(layers))
    config = {"n_layers": layers, **settings}
    return Arm(name or counted(layers, "layer"), role, config, "pointing.last", MEASUREMENTS, extended, points=points)


# an explanation can only be right about answers that are right, so each model must answer nearly all of them: there is no
# comparison of their accuracies
LEARNED_ACCURACY = 0.9
_learned = partial(once_learned, "accuracy", LEARNED_ACCURACY)


def _deeper(claim: str, method: str, smallest: float, direction: Literal["more", "less"] = "less") -> Claim:
    effect = difference(DEEP, SHALLOW, f"pointing.{method}")
    # the shallow one first: if neither has learned, the sentence is about it
    learned = ((SHALLOW, "accuracy", LEARNED_ACCURACY), (DEEP, "accuracy", LEARNED_ACCURACY))
    return Claim(claim, effect, smallest, direction, learned=learned)


def _within(claim: str, method: str, other: str) -> Claim:
    return _learned(Claim(claim, rise(DEEP, f"pointing.{method}", f"pointing.{other}"), 0.2))


BASE = {
    "task": "hops", "vocab_size": 8, "seq_len": 24, "pos_encoding": "rope", "d_model": 32, "n_heads": 4,
    "learning_rate": 0.006, "schedule": "cosine", "steps": 240,
}  # fmt: skip

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        _arm(6, "fault"),
        _arm(2, "control"),
        *(_arm(layers, "comparison", extended=True) for layers in (3, 4)),
        _arm(
            6, "comparison", TWO_HOPS, extended=True, n_hops=2, vocab_size=4, seq_len=32, learning_rate=0.004, steps=600
        ),
    ),
    claims=(
        _deeper("last-layer", "last", 0.2),
        _deeper("roll-out", "rollout", 0.05),
        _deeper("gradient-times-input", "gradient_x_input", 0.05),
        _deeper("gradient-norm", "gradient_norm", 0.05),
        _deeper("mean-of-layers", "average", 0.05),
        _deeper("leave-one-out", "leave_one_out", 0.05),
        _within("best-layer", "best_layer", "last"),
        _deeper("other-attention", "same_answer_permuted", 0.2, "more"),
        _within("other-attention-best-layer", "same_answer_permuted", "same_answer_permuted_best"),
        _within("mean-over-last", "average", "last"),
        _within("answer-path", "path", "last"),
        _learned(Claim("head-removal", rise(DEEP, "heads.half_accuracy", "heads.random_half_accuracy"), 0.1)),
        _learned(Claim("two-hops", difference(TWO_HOPS, DEEP, "pointing.best_layer"), 0.2, "less")),
    ),
    x_label="Layer whose attention is read",
    evaluations=6,
)
