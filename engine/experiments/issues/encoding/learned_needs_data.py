"""learned-needs-data: a learned encoding needs vast data. Which: sequences, or visits to each position?"""

from engine.experiments.experiment import Arm, Claim, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.written import worded, written
from engine.experiments.key_figure import KeyFigure, Row

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
    **written(__file__),
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
    claims=worded(
        __file__,
        Claim(
            "mostly-short",
            difference("learned, all lengths alike", "learned, mostly short", "accuracy"),
            "accuracy lost at full length",
            0.1,
        ),
        Claim(
            "visits",
            lambda values: values("learned, mostly short", OFTEN) - values("learned, mostly short", RARELY),
            "accuracy at 3,000 to 10,000 visits minus at 30 to 100 visits",
            0.3,
        ),
        Claim(
            "few-sequences",
            difference("sinusoidal, 128 sequences", "learned, 128 sequences", "accuracy"),
            "accuracy, sinusoids minus learned table",
            0.05,
            about="condition",
        ),
        Claim(
            "seldom-visited",
            difference("sinusoidal, mostly short", "learned, mostly short", RARELY),
            "accuracy gained at 30 to 100 visits",
            0.1,
            about="condition",
        ),
        Claim(
            "shaw",
            difference("Shaw, mostly short", "learned, mostly short", "accuracy"),
            "accuracy gained at full length",
            0.1,
            about="remedy",
        ),
        Claim(
            "rope",
            difference("RoPE, mostly short", "learned, mostly short", "accuracy"),
            "accuracy gained at full length",
            0.1,
            about="remedy",
        ),
        Claim(
            "t5-bias",
            difference("T5 bias, mostly short", "learned, mostly short", "accuracy"),
            "accuracy gained at full length",
            0.1,
            about="remedy",
            extended=True,
        ),
        Claim(
            "fewest-sequences",
            difference("sinusoidal, 32 sequences", "learned, 32 sequences", "accuracy"),
            "accuracy, sinusoids minus learned table",
            0.05,
            about="condition",
            extended=True,
        ),
    ),
    key_figure=KeyFigure(
        claim="mostly-short",
        sample="reads 5 8 1 6 3, must write · · 5 8 1",
        question=(
            "There are as many training sequences as before, but most are short: what happens to a learned table's accuracy at full length?"
        ),
        answers=("It falls", "It stays", "It rises"),
        quantity="Accuracy on sequences of full length, 24 symbols",
        subject="the accuracy at full length",
        change="With mostly short sequences in training",
        before=Row("Learned table, all lengths alike", "learned, all lengths alike", "accuracy"),
        after=Row("Learned table, mostly short", "learned, mostly short", "accuracy"),
        others=(
            Row("Sinusoids, mostly short", "sinusoidal, mostly short", "accuracy"),
            Row("RoPE, mostly short", "RoPE, mostly short", "accuracy"),
            Row("Shaw's vectors, mostly short", "Shaw, mostly short", "accuracy"),
        ),
        remedy="Use a relative encoding, or make sure that training visits every position often.",
        also=("visits", "few-sequences"),
    ),
    x_label="Different training sequences",
)
