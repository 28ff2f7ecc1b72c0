"""shared-layers: are the MLPs different in each block, and what does it cost to use one block at every depth?"""

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.written import worded, written
from engine.experiments.key_figure import KeyFigure, Row

OWN, SHARED, WIDE, ONCE = (
    "own block at each depth",
    "one block at 4 depths",
    "one wide block at 4 depths",
    "one block, once",
)
BACK_OWN, BACK_SHARED = "3 back, own blocks", "3 back, one block"
FEW_OWN, FEW_SHARED = "128 sequences, own blocks", "128 sequences, one block"
LONG_OWN, LONG_SHARED = "three times as long, own blocks", "three times as long, one block"
SOURCE = {"vocab_size": 6, "dirichlet_alpha": 0.2}
SHARE = {"share_layers": True}
TWICE_AS_WIDE = {"d_model": 32, "n_heads": 4}
BACK = {"task": "k_back", "k": 3, "vocab_size": 10, "learning_rate": 0.01}
DIFFERENCE = ("dense_difference",)

ISSUE = Issue(
    slug="shared-layers",
    group="depth",
    **written(__file__),
    base={
        "task": "markov",
        "seq_len": 16,
        "n_layers": 4,
        "n_heads": 2,
        "d_model": 16,
        "learning_rate": 0.02,
        "batch_size": 64,
        "steps": 120,
    },
    arms=(
        Arm(OWN, "comparison", SOURCE, "loss", DIFFERENCE),
        Arm(SHARED, "comparison", {**SOURCE, **SHARE}, "loss", DIFFERENCE),
        Arm(WIDE, "comparison", {**SOURCE, **SHARE, **TWICE_AS_WIDE}, "loss"),
        Arm(ONCE, "comparison", {**SOURCE, "n_layers": 1}, "loss"),
        Arm(BACK_OWN, "comparison", BACK),
        Arm(BACK_SHARED, "comparison", {**BACK, **SHARE}),
        Arm(FEW_OWN, "comparison", {**SOURCE, "dataset_size": 128}, "gap", extended=True),
        Arm(FEW_SHARED, "comparison", {**SOURCE, **SHARE, "dataset_size": 128}, "gap", extended=True),
        Arm(LONG_OWN, "comparison", {**SOURCE, "steps": 360}, "loss", DIFFERENCE, extended=True),
        Arm(LONG_SHARED, "comparison", {**SOURCE, **SHARE, "steps": 360}, "loss", extended=True),
    ),
    claims=worded(
        __file__,
        Claim("blocks-differ", above(OWN, "dense_difference"), "relative difference (0: the same, 1: unrelated)", 0.5),
        Claim("loss", difference(SHARED, OWN, "loss"), "nats, validation loss", 0.05),
        Claim("loss-equal-parameters", difference(WIDE, OWN, "loss"), "nats, validation loss", 0.05, about="condition"),
        Claim(
            "loss-over-one-use",
            difference(SHARED, ONCE, "loss"),
            "nats, validation loss",
            0.05,
            "less",
            about="condition",
        ),
        Claim("three-back", difference(BACK_SHARED, BACK_OWN, "accuracy"), "accuracy", 0.05, "less", about="condition"),
        Claim(
            "fewer-parameters",
            lambda values: 1 - values(SHARED, "parameters") / values(OWN, "parameters"),
            "share of the parameters",
            0.5,
            about="condition",
        ),
        Claim(
            "smaller-gap", difference(FEW_SHARED, FEW_OWN, "gap"), "nats", 0.1, "less", about="condition", extended=True
        ),
        Claim(
            "more-steps",
            difference(LONG_SHARED, LONG_OWN, "loss"),
            "nats, validation loss",
            0.05,
            about="condition",
            extended=True,
        ),
    ),
    key_figure=KeyFigure(
        claim="loss",
        sample="reads 5 5 2 4, must write · 2 4 5: the next symbol",
        question="Use one block at all four depths in place of four own blocks: what happens to the loss on new sequences?",
        answers=("It falls", "It stays", "It rises"),
        quantity="Loss on new sequences (nats)",
        subject="the loss on new sequences",
        change="With one block at all four depths",
        before=Row("four own blocks", OWN, "loss"),
        after=Row("one block at four depths", SHARED, "loss"),
        others=(Row("one wide block at four depths", WIDE, "loss"), Row("one block, used once", ONCE, "loss")),
        remedy="Give each block its own weights, or make the shared block wider.",
        unit="nats",
        also=("loss", "loss-over-one-use"),
    ),
)
