"""overlapping-windows: windows that share text, within the training text and across the split."""

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.written import worded, written
from engine.experiments.key_figure import KeyFigure, Row

SIDE, SAME_TEXT, AS_MANY = "side by side", "overlapping", "overlapping, as many windows"
LEAK, CLEAN = "overlapping, split at random", "side by side, split at random"
OVER = {"windows": "overlapping", "stride": 8}
APART = {"windows": "non_overlapping"}

ISSUE = Issue(
    slug="overlapping-windows",
    group="attention",
    **written(__file__),
    base={
        "task": "shakespeare_chars",
        "text_tokens": 4096,
        "seq_len": 32,
        "n_layers": 1,
        "n_heads": 4,
        "d_model": 32,
        "learning_rate": 0.005,
        "steps": 250,
    },
    arms=(
        Arm(SAME_TEXT, "fault", OVER, "gap", ("other_text",), line="same text", x=8),
        Arm(SIDE, "control", APART, "gap", line="same text", x=32),
        Arm(AS_MANY, "fault", {**OVER, "dataset_size": 127}, "gap", line="same number of windows", x=8),
        Arm(LEAK, "fault", {**OVER, "split": "windows"}, "other_text.flattery", ("other_text",)),
        Arm(CLEAN, "remedy", {**APART, "split": "windows"}, "other_text.flattery", ("other_text",)),
        Arm("every start", "comparison", {**OVER, "stride": 1}, "gap", line="same text", x=1, extended=True),
        Arm("half overlapping", "comparison", {**OVER, "stride": 16}, "gap", line="same text", x=16, extended=True),
        Arm(
            "half overlapping, as many windows", "comparison", {**OVER, "stride": 16, "dataset_size": 127}, "gap",
            line="same number of windows", x=16, extended=True,
        ),
        Arm(
            "validated on the trained windows", "fault", {**APART, "split": "none"}, "other_text.flattery", ("other_text",),
            extended=True,
        ),
    ),
    claims=worded(
        __file__,
        Claim("gap", difference(SAME_TEXT, SIDE, "gap"), "nats, validation loss minus training loss", 0.1),
        Claim(
            "best-loss",
            difference(SAME_TEXT, SIDE, "best_loss"),
            "nats, lowest validation loss",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "equal-number",
            difference(AS_MANY, SIDE, "gap"),
            "nats, validation loss minus training loss",
            0.1,
            about="condition",
        ),
        Claim(
            "dealt-at-random",
            above(LEAK, "other_text.flattery"),
            "nats, loss on other plays minus validation loss",
            0.1,
        ),
        Claim(
            "leak",
            difference(LEAK, CLEAN, "other_text.flattery"),
            "nats, loss on other plays minus validation loss",
            0.1,
            about="remedy",
        ),
        Claim(
            "quarter-of-text",
            difference(AS_MANY, SAME_TEXT, "gap"),
            "nats, validation loss minus training loss",
            0.1,
            about="remedy",
        ),
    ),
    key_figure=KeyFigure(
        claim="gap",
        sample="reads “To be, or not to b”, must write the next character: “e”",
        question=(
            "Windows of 32 characters start every 8 instead of every 32: what happens to the gap between validation and training loss?"
        ),
        answers=("It shrinks", "It stays", "It grows"),
        quantity="Validation loss minus training loss (nats)",
        subject="the gap between validation and training loss",
        change="With overlapping windows",
        before=Row("Side by side, 127 windows", SIDE, "gap"),
        after=Row("Overlapping, 508 windows", SAME_TEXT, "gap"),
        others=(Row("Overlapping, 127 windows", AS_MANY, "gap"),),
        remedy="Let windows overlap within the training text, but split the text before you cut it.",
        unit="nats",
        also=("equal-number", "dealt-at-random"),
    ),
    x_label="characters from the start of one window to the next",
    evaluations=12,
)  # fmt: skip
