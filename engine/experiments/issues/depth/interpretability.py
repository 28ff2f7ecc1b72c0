"""interpretability: with depth, which explanations still point at the token that the answer came from?"""

from engine.experiments.experiment import Arm, Claim, difference, rise
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.written import worded, written
from engine.experiments.key_figure import KeyFigure, Row

SHALLOW, DEEP = "1 layer", "6 layers"


ISSUE = Issue(
    slug="interpretability",
    group="depth",
    **written(__file__),
    base={
        "task": "lookup",
        "family": "encoder",
        "pos_encoding": "nope",
        "n_keys": 8,
        "vocab_size": 8,
        "seq_len": 9,
        "d_model": 32,
        "n_heads": 4,
        "learning_rate": 0.003,
        "steps": 300,
    },
    arms=(
        Arm(DEEP, "fault", {"n_layers": 6}, "pointing.last", ("pointing", "head_pruning"), line="last layer's attention", x=6),
        Arm(SHALLOW, "control", {"n_layers": 1}, "pointing.last", ("pointing", "head_pruning"), line="last layer's attention", x=1),
        *(
            Arm(f"{n} layers", "comparison", {"n_layers": n}, "pointing.last", ("pointing", "head_pruning"),
                line="last layer's attention", x=n, extended=True)
            for n in (2, 3, 4)
        ),
    ),
    claims=worded(
        __file__,
        Claim("last-layer", difference(DEEP, SHALLOW, "pointing.last"), "share of samples", 0.2, "less"),
        Claim(
            "roll-out",
            difference(DEEP, SHALLOW, "pointing.rollout"),
            "share of samples",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "gradient-times-input",
            difference(DEEP, SHALLOW, "pointing.gradient_x_input"),
            "share of samples",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "gradient-norm",
            difference(DEEP, SHALLOW, "pointing.gradient_norm"),
            "share of samples",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "mean-of-layers",
            difference(DEEP, SHALLOW, "pointing.average"),
            "share of samples",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "leave-one-out",
            difference(DEEP, SHALLOW, "pointing.leave_one_out"),
            "share of samples",
            0.05,
            "less",
            about="condition",
        ),
        Claim("accuracy", difference(DEEP, SHALLOW, "accuracy"), "accuracy", 0.02, "less", about="condition"),
        Claim(
            "best-layer", rise(DEEP, "pointing.best_layer", "pointing.last"), "share of samples", 0.2, about="remedy"
        ),
        Claim(
            "mean-over-last", rise(DEEP, "pointing.average", "pointing.last"), "share of samples", 0.2, about="remedy"
        ),
        Claim(
            "head-removal",
            rise(DEEP, "heads.half_accuracy", "heads.random_half_accuracy"),
            "accuracy with 12 of 24 heads removed",
            0.1,
            about="condition",
        ),
    ),
    key_figure=KeyFigure(
        claim="last-layer",
        sample="c1 a0 b3 f5 d2 g7 e4 h6 b? → 3, the value of b",
        question="Go from one layer to six: how often does the attention of the last layer point at the right pair, b3?",
        answers=("Less often", "As often", "More often"),
        quantity="Share of samples in which the last layer points at the right pair",
        subject="the share of samples in which the last layer points at the right pair",
        change="With six layers instead of one",
        before=Row("1 layer, attention of the last layer", SHALLOW, "pointing.last"),
        after=Row("6 layers, attention of the last layer", DEEP, "pointing.last"),
        remedy="Look at the attention of every layer, and check it by taking a token away.",
        also=("roll-out", "best-layer"),
    ),
    x_label="Layers",
    evaluations=6,
)  # fmt: skip
