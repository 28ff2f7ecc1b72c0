"""visits-per-position: a learned encoding needs vast data. Which: sequences, or visits to each position?"""

from engine.experiments.experiment import Arm, Claim, Role, difference
from engine.experiments.issues.issue import read_issue

OFTEN, RARELY = "accuracy_seen_3000_to_10000", "accuracy_seen_30_to_100"
BANDS = ("accuracy_by_position",)
MOSTLY_SHORT = {"min_seq_len": 4, "length_decay": 0.8, "batch_size": 16, "steps": 300, "learning_rate": 0.01}
EVEN = {**MOSTLY_SHORT, "length_decay": 1.0}
FEW = {"seq_len": 12, "n_layers": 2, "steps": 200, "learning_rate": 0.005}
SIZES = {32: "32", 128: "128", 512: "512", 4096: "4,096"}
IN_CORE = 128


def _lengths(name: str, role: Role, encoding: str, extended: bool = False) -> Arm:
    return Arm(name, role, {"pos_encoding": encoding, **MOSTLY_SHORT}, "accuracy", BANDS, extended=extended)


def _few(label: str, encoding: str, size: int) -> Arm:
    settings = {"pos_encoding": encoding, **FEW, "dataset_size": size}
    name, line = f"{label}, {SIZES[size]} sequences", f"{label}, so many sequences"
    return Arm(name, "comparison", settings, extended=size != IN_CORE, line=line, x=size)


ISSUE = read_issue(
    __file__,
    base={"task": "k_back", "k": 2, "seq_len": 24, "d_model": 32, "n_layers": 1, "n_heads": 2, "schedule": "cosine"},
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
        Claim("mostly-short", difference("learned, all lengths alike", "learned, mostly short", "accuracy"), 0.1),
        Claim(
            "visits",
            lambda values: values("learned, mostly short", OFTEN) - values("learned, mostly short", RARELY),
            0.3,
        ),
        Claim("few-sequences", difference("sinusoidal, 128 sequences", "learned, 128 sequences", "accuracy"), 0.05),
        Claim("seldom-visited", difference("sinusoidal, mostly short", "learned, mostly short", RARELY), 0.1),
        Claim("shaw", difference("Shaw, mostly short", "learned, mostly short", "accuracy"), 0.1),
        Claim("rope", difference("RoPE, mostly short", "learned, mostly short", "accuracy"), 0.1),
        Claim("t5-bias", difference("T5 bias, mostly short", "learned, mostly short", "accuracy"), 0.1),
        Claim("fewest-sequences", difference("sinusoidal, 32 sequences", "learned, 32 sequences", "accuracy"), 0.05),
    ),
    x_label="Different training sequences",
)
