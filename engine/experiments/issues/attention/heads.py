"""heads: d_k = d_model / h. What splitting the width costs, and what it buys."""

from engine.experiments.experiment import Arm, Claim, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.written import worded, written
from engine.experiments.key_figure import KeyFigure, Row

ONE = {"lookups": 1, "n_keys": 16, "seq_len": 17, "vocab_size": 8, "learning_rate": 0.005, "steps": 250}
FOUR = {"lookups": 4, "n_keys": 8, "seq_len": 9, "vocab_size": 2, "learning_rate": 0.01, "steps": 400}

ISSUE = Issue(
    slug="heads",
    group="attention",
    **written(__file__),
    base={"task": "lookup", "family": "encoder", "pos_encoding": "nope", "n_layers": 1, "d_model": 32},
    arms=(
        Arm("one look-up, 8 heads", "control", {**ONE, "n_heads": 8}, line="one look-up of 16 keys", x=8),
        Arm("one look-up, 32 heads", "fault", {**ONE, "n_heads": 32}, line="one look-up of 16 keys", x=32),
        Arm("one look-up, 32 heads of 4", "remedy", {**ONE, "n_heads": 32, "d_head": 4}),
        Arm("one look-up, 1 head", "comparison", {**ONE, "n_heads": 1}, line="one look-up of 16 keys", x=1),
        Arm("four look-ups, 1 head", "fault", {**FOUR, "n_heads": 1}, line="four look-ups at once of 8 keys", x=1),
        Arm("four look-ups, 4 heads", "control", {**FOUR, "n_heads": 4}, line="four look-ups at once of 8 keys", x=4),
        *(
            Arm(f"one look-up, {h} heads", "comparison", {**ONE, "n_heads": h}, line="one look-up of 16 keys", x=h, extended=True)
            for h in (2, 4, 16)
        ),
        *(
            Arm(
                f"four look-ups, {h} heads", "comparison", {**FOUR, "n_heads": h},
                line="four look-ups at once of 8 keys", x=h, extended=True,
            )
            for h in (2, 8, 16, 32)
        ),
    ),
    claims=worded(
        __file__,
        Claim(
            "narrow-heads",
            difference("one look-up, 32 heads", "one look-up, 8 heads", "accuracy"),
            "accuracy",
            0.2,
            "less",
        ),
        Claim(
            "one-head-four-lookups",
            difference("four look-ups, 1 head", "four look-ups, 4 heads", "accuracy"),
            "accuracy, all four values right",
            0.2,
            "less",
            about="condition",
        ),
        Claim(
            "one-wide-head",
            difference("one look-up, 1 head", "one look-up, 8 heads", "accuracy"),
            "accuracy",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "wider-heads",
            difference("one look-up, 32 heads of 4", "one look-up, 32 heads", "accuracy"),
            "accuracy",
            0.2,
            about="remedy",
        ),
    ),
    key_figure=KeyFigure(
        claim="narrow-heads",
        sample="reads 16 pairs such as c1 a0 b3, then b?; must answer 3",
        question=(
            "The width is 32. Split it into 32 heads of one number instead of 8 heads of four: what happens to the accuracy?"
        ),
        answers=("It falls", "It stays", "It rises"),
        quantity="Accuracy on new sequences",
        subject="the accuracy",
        change="With 32 heads of one number instead of 8 heads of four,",
        before=Row("8 heads of 4 numbers", "one look-up, 8 heads", "accuracy"),
        after=Row("32 heads of 1 number", "one look-up, 32 heads", "accuracy"),
        others=(
            Row("32 heads of 4 numbers", "one look-up, 32 heads of 4", "accuracy"),
            Row("1 head of 32 numbers", "one look-up, 1 head", "accuracy"),
            Row("Four look-ups: 1 head", "four look-ups, 1 head", "accuracy"),
            Row("Four look-ups: 4 heads", "four look-ups, 4 heads", "accuracy"),
        ),
        remedy="Give each head enough numbers, and let the number of heads grow with the width of the model.",
        also=("one-head-four-lookups", "one-wide-head"),
    ),
    x_label="heads",
    evaluations=8,
)  # fmt: skip
