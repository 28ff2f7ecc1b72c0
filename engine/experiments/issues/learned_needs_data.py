"""learned-needs-data: a learned encoding needs vast data. Which: sequences, or visits to each position?"""

from engine.experiments.experiment import Arm, Claim, difference
from engine.experiments.issues.issue import Issue

OFTEN, RARELY = "accuracy_seen_3000_to_10000", "accuracy_seen_30_to_100"
BANDS = ("accuracy_by_position",)
MOSTLY_SHORT = {"min_seq_len": 4, "length_decay": 0.8, "batch_size": 16, "steps": 300, "learning_rate": 0.01}
EVEN = {**MOSTLY_SHORT, "length_decay": 1.0}
FEW = {"seq_len": 12, "n_layers": 2, "steps": 200, "learning_rate": 0.005}
SIZES = {32: "32", 128: "128", 512: "512", 4096: "4,096"}
IN_CORE = 128


def _lengths(name: str, role: str, encoding: str, extended: bool = False) -> Arm:
    return Arm(name, role, {"pos_encoding": encoding, **MOSTLY_SHORT}, "accuracy", BANDS, extended=extended)  # type: ignore[arg-type]


def _few(label: str, encoding: str, size: int) -> Arm:
    return Arm(
        f"{label}, {SIZES[size]} sequences",
        "comparison",
        {"pos_encoding": encoding, **FEW, "dataset_size": size},
        extended=size != IN_CORE,
        line=f"{label}, so many sequences",
        x=size,
    )


ISSUE = Issue(
    slug="learned-needs-data",
    group="encoding",
    title="A learned table and its data",
    summary=(
        "A learned encoding, it is said, needs vast data. Two readings: many different sequences, or many visits to each position. "
        "Where most sequences are short, late positions are hardly visited, and no formula fills their rows."
    ),
    mechanism=r"""
A learned table has one row a position, and the row gets a gradient only from sequences that are long enough to reach it:
$$\frac{\partial L}{\partial P_i} = \sum_{s\,:\,n_s > i} \frac{\partial L_s}{\partial h^{(0)}_{s,i}}.$$
With lengths that follow a geometric law, $P(n + 1) = q\,P(n)$ from 4 symbols on, position $i$ is visited
$B \cdot \text{steps} \cdot P(n > i)$ times, for batches of $B$ sequences: thousands of times at the front, dozens of times at the end. What
was learned of row $3$ says nothing about row $23$. A rule that depends on the offset alone ("the symbol two back") is one rule for every
position with a relative encoding: what is learned at the front holds at the end. Sinusoids are in between: their rows need no learning,
the model's reading of them does.
""",
    base={
        "task": "k_back",
        "k": 2,
        "seq_len": 24,
        "d_model": 32,
        "n_layers": 1,
        "n_heads": 2,
        "schedule": "cosine",
    },
    arms=(
        _lengths("learned, mostly short", "fault", "learned"),
        Arm("learned, all lengths alike", "control", {"pos_encoding": "learned", **EVEN}, "accuracy", BANDS),
        _lengths("sinusoidal, mostly short", "comparison", "sinusoidal"),
        _lengths("RoPE, mostly short", "remedy", "rope"),
        _lengths("Shaw, mostly short", "remedy", "shaw"),
        _lengths("T5 bias, mostly short", "remedy", "t5_bias", extended=True),
        *(
            _few(label, name, n)
            for n in SIZES
            for label, name in (("learned", "learned"), ("sinusoidal", "sinusoidal"))
        ),
    ),
    claims=(
        Claim(
            "A learned table fails where positions were seldom met in training.",
            difference("learned, all lengths alike", "learned, mostly short", "accuracy"),
            "accuracy lost at full length",
            0.1,
            condition="as many sequences, most of them short, against all lengths alike",
        ),
        Claim(
            "It is the visits that count: within one model, often visited positions are right and seldom visited ones wrong.",
            lambda values: values("learned, mostly short", OFTEN) - values("learned, mostly short", RARELY),
            "accuracy, 3,000 to 10,000 visits minus 30 to 100",
            0.3,
            condition="a learned table, mostly short sequences",
        ),
        Claim(
            "A learned table needs more different sequences than sinusoids.",
            difference("sinusoidal, 128 sequences", "learned, 128 sequences", "accuracy"),
            "accuracy behind sinusoids",
            0.05,
            condition="128 sequences of full length",
            about="condition",
        ),
        Claim(
            "Sinusoids, which learn no rows, suffer less at seldom visited positions.",
            difference("sinusoidal, mostly short", "learned, mostly short", RARELY),
            "accuracy gained at 30 to 100 visits",
            0.1,
            about="condition",
        ),
        Claim(
            "A relative encoding (Shaw) carries what it learned at the front to the end.",
            difference("Shaw, mostly short", "learned, mostly short", "accuracy"),
            "accuracy gained at full length",
            0.1,
            about="remedy",
        ),
        Claim(
            "RoPE carries what it learned at the front to the end.",
            difference("RoPE, mostly short", "learned, mostly short", "accuracy"),
            "accuracy gained at full length",
            0.1,
            about="remedy",
        ),
        Claim(
            "A learned bias on distances (T5) carries what it learned at the front to the end.",
            difference("T5 bias, mostly short", "learned, mostly short", "accuracy"),
            "accuracy gained at full length",
            0.1,
            about="remedy",
            extended=True,
        ),
        Claim(
            "With very few different sequences a learned table is behind sinusoids.",
            difference("sinusoidal, 32 sequences", "learned, 32 sequences", "accuracy"),
            "accuracy behind sinusoids",
            0.05,
            condition="32 sequences of full length",
            about="condition",
            extended=True,
        ),
    ),
    remedies=(
        "Use a relative encoding (RoPE, Shaw, T5 bias): one rule for all positions.",
        "Pack short texts to full length, or shift the positions of short ones, so that every row is visited.",
        "Report accuracy by position, not the mean over a test set that is as short as the training set.",
    ),
    sources=(
        "Gehring et al. 2017, Convolutional Sequence to Sequence Learning, section 3.1",
        "Kiyono et al. 2021, SHAPE: Shifted Absolute Position Embedding for Transformers",
        "Shaw et al. 2018, Self-Attention with Relative Position Representations",
    ),
    x_label="Different training sequences",
    notes=(
        "Visits are counted from the law of lengths, in expectation. All sequences of a batch have one length, so a position with 80 "
        "visits took part in about five updates.",
        "Accuracy at full length is over sequences of 24 symbols, none of them trained on.",
    ),
)
