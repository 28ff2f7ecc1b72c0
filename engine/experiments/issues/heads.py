"""heads: d_k = d_model / h. What splitting the width costs, and what it buys."""

from engine.experiments.experiment import Arm, Claim, difference
from engine.experiments.issues.issue import Issue, Source
from engine.experiments.key_figure import KeyFigure, Row

ONE = {"lookups": 1, "n_keys": 16, "seq_len": 17, "vocab_size": 8, "learning_rate": 0.005, "steps": 250}
FOUR = {"lookups": 4, "n_keys": 8, "seq_len": 9, "vocab_size": 2, "learning_rate": 0.01, "steps": 400}

ISSUE = Issue(
    slug="heads",
    group="attention",
    title="How many attention heads?",
    summary=(
        "The heads of an attention layer share the width of the model: more heads can look in more places at once, but each head gets "
        "fewer numbers for a query or a key. Here we measure what too many and too few heads cost."
    ),
    mechanism=r"""
With $h$ heads, the width $d_{\text{model}}$ of the model is divided among them. Each query and each key has
$d_k = d_{\text{model}} / h$ numbers, and the number of parameters is the same for every $h$. In head $m$, position $i$ gives
position $j$ the weight
$$A^{(m)}_{ij} = \mathrm{softmax}_j\big(q^{(m)}_i \cdot k^{(m)}_j / \sqrt{d_k}\big), \qquad m = 1 \dots h,$$
where $q^{(m)}_i$ is the query of position $i$ and $k^{(m)}_j$ the key of position $j$.

**What many heads cost.** One head has only $d_k$ numbers to tell keys apart: its matrix of scores has a rank of at most $d_k$. With
$d_k = 1$ the query and each key are single numbers, and the score is their product. The largest score then always belongs to the
largest key or to the smallest one. Of sixteen keys on a line, such a head can pick the two at the ends, but none in between.

**What many heads give.** One head gives position $i$ one weighted mean $\sum_j A_{ij} v_j$, where $v_j$ is the value vector of position
$j$. When one head fetches four pairs at once with equal weights, the mean holds all four values, but not which key each value
belonged to. Four heads give four means, one for each pair.
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
            "With 32 heads of one number each, a model finds the right one of 16 keys less often than with 8 heads of four numbers.",
            difference("one look-up, 32 heads", "one look-up, 8 heads", "accuracy"),
            "accuracy",
            0.2,
            "less",
            "one look-up, 16 keys, model width 32",
        ),
        Claim(
            "With one head, a model is less accurate on four look-ups at once than with four heads.",
            difference("four look-ups, 1 head", "four look-ups, 4 heads", "accuracy"),
            "accuracy, all four values right",
            0.2,
            "less",
            "four look-ups at once, 8 keys, model width 32",
            about="condition",
        ),
        Claim(
            "On a single look-up, one head of 32 numbers is less accurate than 8 heads of four numbers each.",
            difference("one look-up, 1 head", "one look-up, 8 heads", "accuracy"),
            "accuracy",
            0.05,
            "less",
            "one look-up, 16 keys, model width 32",
            about="condition",
        ),
        Claim(
            "With 32 heads of four numbers each, a model finds the right one of 16 keys more often than with 32 heads of one number.",
            difference("one look-up, 32 heads of 4", "one look-up, 32 heads", "accuracy"),
            "accuracy",
            0.2,
            about="remedy",
        ),
    ),
    key_figure=KeyFigure(
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
        also=(1, 2),
    ),
    remedies=(
        "Keep the width of a head near 64 numbers (8 to 32 in a small model), and let the number of heads grow with the model's width.",
        "If a narrow model needs many heads, choose the head width by itself (the setting “Head width”) and not as a share of the width.",
        "To save memory, let several heads share their keys and values (grouped-query attention) instead of making the heads narrower.",
    ),
    sources=(
        Source(
            "Vaswani et al. 2017, Attention Is All You Need, section 3.2.2 and table 3 (A)", "https://arxiv.org/abs/1706.03762"
        ),
        Source(
            "Bhojanapalli et al. 2020, Low-Rank Bottleneck in Multi-head Attention Models", "https://arxiv.org/abs/2002.07028"
        ),
        Source("Michel et al. 2019, Are Sixteen Heads Really Better than One?", "https://arxiv.org/abs/1905.10650"),
        Source(
            "Ainslie et al. 2023, GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints",
            "https://arxiv.org/abs/2305.13245",
        ),
    ),
    x_label="heads",
    notes=(
        "A pair such as c1 is one token with the key c and the value 1. Its embedding is the sum of a row for the key and a row for the "
        "value.",
        "For one look-up there are eight values, so chance is 1/8. In four look-ups at once each value is 0 or 1, and one answer out of "
        "sixteen names all four of them, so chance is 1/16.",
        "Models with different numbers of heads have the same number of parameters. Only the 32 heads of four numbers have more.",
    ),
    evaluations=8,
)  # fmt: skip
