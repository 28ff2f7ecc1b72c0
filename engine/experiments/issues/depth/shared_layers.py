import numpy as np

from engine.experiments.experiment import Arm, Claim, Values, difference, rise
from engine.experiments.issues.issue import read_issue

OWN, SHARED = "own block at each depth", "one block at 4 depths"
WIDE = "one wide block at 4 depths"
HOP_OWN, HOP_SHARED = "one hop, own blocks", "one hop, one block at 4 depths"
HOP_WIDE, HOP_ONCE = "one hop, one wide block at 4 depths", "one hop, one block, once"
BACK_OWN, BACK_SHARED = "3 back, own blocks", "3 back, one block"
FEW_OWN, FEW_SHARED = "128 sequences, own blocks", "128 sequences, one block"
LONG_OWN, LONG_SHARED = "three times as long, own blocks", "three times as long, one block"
SOURCE = {"vocab_size": 6, "dirichlet_alpha": 0.2}
SHARE = {"share_layers": True}
TWICE_AS_WIDE = {"d_model": 32, "n_heads": 4}
# After 120 steps both are always right on 3 back; after 32 there is room to be better or worse.
# One hop needs two layers that do different things, one after the other. After more steps own blocks are always right.
HOP = {
    "task": "hops", "vocab_size": 6, "pos_encoding": "rope", "seq_len": 24, "learning_rate": 0.025, "schedule": "cosine",
    "batch_size": 32, "steps": 110,
}  # fmt: skip
BACK = {"task": "k_back", "k": 3, "vocab_size": 10, "learning_rate": 0.03, "steps": 32}
DIFFERENCE = ("dense_difference",)

# the highest training losses, half way from the best that one symbol back can give, 1.51 nats, to the floor, .97
MUST_REACH = ((FEW_OWN, "train_loss", 1.25), (FEW_SHARED, "train_loss", 1.25))


def _parameters_saved(values: Values) -> np.ndarray:
    saved: np.ndarray = 1 - values(SHARED, "parameters") / values(OWN, "parameters")
    return saved


BASE = {
    "task": "markov", "seq_len": 16, "n_layers": 4, "n_heads": 2, "d_model": 16, "learning_rate": 0.02,
    "batch_size": 64, "steps": 120,
}  # fmt: skip

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        Arm(HOP_OWN, "comparison", HOP),
        Arm(HOP_SHARED, "comparison", {**HOP, **SHARE}),
        Arm(HOP_WIDE, "comparison", {**HOP, **SHARE, **TWICE_AS_WIDE}),
        Arm(HOP_ONCE, "comparison", {**HOP, "n_layers": 1}),
        Arm(OWN, "comparison", SOURCE, "loss", DIFFERENCE),
        Arm(SHARED, "comparison", {**SOURCE, **SHARE}, "loss", DIFFERENCE),
        Arm(WIDE, "comparison", {**SOURCE, **SHARE, **TWICE_AS_WIDE}, "loss", extended=True),
        Arm(BACK_OWN, "comparison", BACK),
        Arm(BACK_SHARED, "comparison", {**BACK, **SHARE}),
        Arm(FEW_OWN, "comparison", {**SOURCE, "dataset_size": 128}, "gap", extended=True),
        Arm(FEW_SHARED, "comparison", {**SOURCE, **SHARE, "dataset_size": 128}, "gap", extended=True),
        Arm(LONG_OWN, "comparison", {**SOURCE, "steps": 360}, "loss", DIFFERENCE, extended=True),
        Arm(LONG_SHARED, "comparison", {**SOURCE, **SHARE, "steps": 360}, "loss", extended=True),
    ),
    claims=(
        Claim("hop-over-one-use", difference(HOP_SHARED, HOP_ONCE, "accuracy"), 0.05),
        Claim("hop", difference(HOP_SHARED, HOP_OWN, "accuracy"), 0.05, "less"),
        Claim("hop-equal-parameters", difference(HOP_WIDE, HOP_OWN, "accuracy"), 0.05, "less"),
        Claim("hop-wider", difference(HOP_WIDE, HOP_SHARED, "accuracy"), 0.05),
        Claim("loss", difference(SHARED, OWN, "loss"), 0.05),
        Claim("loss-equal-parameters", difference(WIDE, OWN, "loss"), 0.05),
        Claim("three-back", difference(BACK_SHARED, BACK_OWN, "accuracy"), 0.05, "less"),
        # Two random MLPs differ by about 1, so trained ones are compared with the same blocks before training.
        Claim("more-alike", rise(OWN, "dense_difference", "init_dense_difference"), 0.05, "less"),
        Claim("fewer-parameters", _parameters_saved, 0.5, computed=True),
        Claim("smaller-gap", difference(FEW_SHARED, FEW_OWN, "gap"), 0.1, "less", learned=MUST_REACH),
        Claim("more-steps", difference(LONG_SHARED, LONG_OWN, "loss"), 0.05),
    ),
)
