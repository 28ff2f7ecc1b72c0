"""overlapping-windows: windows that share text, within the training text and across the split."""

from functools import partial

from engine.experiments.experiment import Arm, Claim, above, difference, once_learned
from engine.experiments.issues.issue import read_issue

SIDE, SAME_TEXT, AS_MANY = "side by side", "overlapping", "overlapping, as many windows"
LEAK = "overlapping, split at random"
OVER = {"windows": "overlapping", "stride": 8}
APART = {"windows": "non_overlapping"}

BASE = {
    "task": "shakespeare_chars", "text_tokens": 4096, "seq_len": 32, "n_layers": 1, "n_heads": 4, "d_model": 32,
    "learning_rate": 0.005, "steps": 250,
}  # fmt: skip

_arm = partial(Arm, tuned=False)
"""An arm at the rate of the base: the question is how the windows change one and the same training."""


_learned = partial(once_learned, "train_loss", 2.5)
"""A gap says something only of models that have learned their own text: the commonest characters alone give 3.3 nats."""


ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        _arm(SAME_TEXT, "fault", OVER, "gap", ("other_text",), line="same text", x=8),
        _arm(SIDE, "control", APART, "gap", line="same text", x=32),
        _arm(AS_MANY, "fault", {**OVER, "dataset_size": 127}, "gap", line="same number of windows", x=8),
        _arm(LEAK, "fault", {**OVER, "split": "windows"}, "other_text.flattery", ("other_text",), extended=True),
        _arm("every start", "comparison", {**OVER, "stride": 1}, "gap", line="same text", x=1, extended=True),
        _arm("half overlapping", "comparison", {**OVER, "stride": 16}, "gap", line="same text", x=16, extended=True),
        _arm(
            "half overlapping, as many windows",
            "comparison",
            {**OVER, "stride": 16, "dataset_size": 127},
            "gap",
            line="same number of windows",
            x=16,
            extended=True,
        ),
        _arm(
            "validated on the trained windows",
            "fault",
            {**APART, "split": "none"},
            "other_text.flattery",
            ("other_text",),
            extended=True,
        ),
    ),
    claims=(
        _learned(Claim("gap", difference(SAME_TEXT, SIDE, "gap"), 0.1)),
        Claim("best-loss", difference(SAME_TEXT, SIDE, "best_loss"), 0.05, "less"),
        _learned(Claim("equal-number", difference(AS_MANY, SIDE, "gap"), 0.1)),
        _learned(Claim("dealt-at-random", above(LEAK, "other_text.flattery"), 0.1)),
        _learned(Claim("quarter-of-text", difference(AS_MANY, SAME_TEXT, "gap"), 0.1)),
    ),
    x_label="characters from the start of one window to the next",
    evaluations=12,
)
