"""shared-layers: are the MLPs different in each block, and what does it cost to use one block at every depth?"""

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.written import written
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
    claims=(
        Claim(
            "blocks-differ",
            "After training, the MLPs of different blocks give different outputs for the same input.",
            above(OWN, "dense_difference"),
            "relative difference (0: the same, 1: unrelated)",
            0.5,
            condition="4 blocks, Markov source",
        ),
        Claim(
            "loss",
            "One block used at all four depths ends with a higher loss on new sequences than four blocks with weights of their own.",
            difference(SHARED, OWN, "loss"),
            "nats, validation loss",
            0.05,
            condition="Markov source; the shared block has 29 % of the parameters",
        ),
        Claim(
            "loss-equal-parameters",
            "One wide block used at all four depths ends with a higher loss on new sequences than four blocks with as many parameters.",
            difference(WIDE, OWN, "loss"),
            "nats, validation loss",
            0.05,
            condition="Markov source; the shared block is twice as wide and takes four times the computation",
            about="condition",
        ),
        Claim(
            "loss-over-one-use",
            "One block used four times in a row ends with a lower loss on new sequences than one block used once.",
            difference(SHARED, ONCE, "loss"),
            "nats, validation loss",
            0.05,
            "less",
            condition="Markov source, the same number of parameters",
            about="condition",
        ),
        Claim(
            "three-back",
            "On the task 3 back, one block used at all four depths is less accurate than four blocks with weights of their own.",
            difference(BACK_SHARED, BACK_OWN, "accuracy"),
            "accuracy",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "fewer-parameters",
            "One block used at all four depths saves more than half of the parameters of four blocks.",
            lambda values: 1 - values(SHARED, "parameters") / values(OWN, "parameters"),
            "share of the parameters",
            0.5,
            about="condition",
        ),
        Claim(
            "smaller-gap",
            "With 128 training sequences, one shared block has a smaller gap between validation and training loss than four own blocks.",
            difference(FEW_SHARED, FEW_OWN, "gap"),
            "nats",
            0.1,
            "less",
            condition="Markov source",
            about="condition",
            extended=True,
        ),
        Claim(
            "more-steps",
            "After three times as many steps, one block used at all four depths still ends with a higher loss than four own blocks.",
            difference(LONG_SHARED, LONG_OWN, "loss"),
            "nats, validation loss",
            0.05,
            condition="Markov source, 360 steps",
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
