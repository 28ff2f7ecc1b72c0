"""heads: d_k = d_model / h. What splitting the width costs, and what it buys."""

from engine.experiments.experiment import Arm, Claim, difference
from engine.experiments.issues.issue import Issue

ONE = {"lookups": 1, "n_keys": 16, "seq_len": 17, "vocab_size": 8, "learning_rate": 0.005, "steps": 250}
FOUR = {"lookups": 4, "n_keys": 8, "seq_len": 9, "vocab_size": 2, "learning_rate": 0.01, "steps": 400}

ISSUE = Issue(
    slug="heads",
    group="attention",
    title="How many heads",
    summary=(
        "Heads share one width. Many heads can look in many places at once, but each is left with few numbers to tell places "
        "apart: with too few of either something cannot be looked up."
    ),
    mechanism=r"""
With $h$ heads each query and key has $d_k = d_{\text{model}} / h$ numbers, and the parameters are the same for every $h$:
$$A^{(m)}_{ij} = \mathrm{softmax}_j\big(q^{(m)}_i \cdot k^{(m)}_j / \sqrt{d_k}\big), \qquad m = 1 \dots h.$$
*What it costs.* The scores of one head have rank at most $d_k$. With $d_k = 1$ a query can only ask for "large" or "small": of sixteen
keys laid along a line a head singles out the two ends.
*What it buys.* One head gives position $i$ one weighted mean $\sum_j A_{ij} v_j$. Of four pairs fetched in one mean the values arrive, but
not which key each belonged to. Four heads bring four means, each its own.
""",
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
    claims=(
        Claim(
            "Too many heads hurt: with one number for each query and key, the right one of sixteen keys is not found.",
            difference("one look-up, 32 heads", "one look-up, 8 heads", "accuracy"),
            "accuracy",
            0.2,
            "less",
            "d_model 32: 32 heads of d_k 1 against 8 of d_k 4",
        ),
        Claim(
            "Too few heads hurt: one head cannot fetch the values of four keys for one position.",
            difference("four look-ups, 1 head", "four look-ups, 4 heads", "accuracy"),
            "accuracy, all four values right",
            0.2,
            "less",
            "four look-ups at once, 8 keys",
            about="condition",
        ),
        Claim(
            "One look-up needs more than one head.",
            difference("one look-up, 1 head", "one look-up, 8 heads", "accuracy"),
            "accuracy",
            0.05,
            "less",
            "one look-up: 1 head of d_k 32 against 8 of d_k 4",
            about="condition",
        ),
        Claim(
            "It is the narrow d_k that hurts, not the number of heads: 32 heads of d_k 4 find the key.",
            difference("one look-up, 32 heads of 4", "one look-up, 32 heads", "accuracy"),
            "accuracy",
            0.2,
            about="remedy",
        ),
    ),
    remedies=(
        "Keep d_k near 64 (small models: 8 to 32) and let the number of heads grow with the width.",
        "Where many heads are wanted in a narrow model, set d_head apart from d_model / heads.",
        "Share keys and values between heads (grouped-query attention) rather than making them narrower.",
    ),
    sources=(
        "Vaswani et al. 2017, Attention Is All You Need, section 3.2.2 and table 3 (A)",
        "Bhojanapalli et al. 2020, Low-Rank Bottleneck in Multi-head Attention Models",
        "Michel et al. 2019, Are Sixteen Heads Really Better than One?",
    ),
    x_label="heads",
    notes=(
        "A pair is one token: its embedding is the sum of a row for its key and a row for its value.",
        "The four values, two choices each, are named by one answer of sixteen: chance is 1/16, for one look-up 1/8.",
        "All arms of a line have the same number of parameters, except where d_head is set.",
    ),
    evaluations=8,
)  # fmt: skip
