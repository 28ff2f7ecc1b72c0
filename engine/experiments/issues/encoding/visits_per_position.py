"""visits-per-position: a learned encoding is said to need vast data. Does it need sequences, or visits to each position?"""

from engine.experiments.experiment import Arm, Claim, Role, difference
from engine.experiments.issues.issue import read_issue

OFTEN, RARELY = "accuracy_seen_1000_to_3000", "accuracy_seen_30_to_100"
BANDS = ("accuracy_by_position",)
MOSTLY_SHORT = {"min_seq_len": 4, "length_decay": 0.8, "batch_size": 16, "steps": 150, "learning_rate": 0.01}
EVEN = {**MOSTLY_SHORT, "length_decay": 1.0}
# With 150 steps a learned table is between .75 and .97 after training on all lengths alike. Relative encodings are near 1 even so: one rule
# holds at all positions. With 32 sequences or more a learned table is near 1, with 16 it is between .75 and .97.
FEW = {"seq_len": 12, "n_layers": 2, "steps": 200, "learning_rate": 0.005}
SIZES = {16: "16", 32: "32", 128: "128", 512: "512"}
IN_CORE = 16
COUNTS = 0.05
"""The smallest effect that counts, in accuracy: one for all claims here. It was .1 or .3 in most, and .05 in one."""


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
        Claim("mostly-short", difference("learned, all lengths alike", "learned, mostly short", "accuracy"), COUNTS),
        Claim(
            "visits",
            lambda values: values("learned, mostly short", OFTEN) - values("learned, mostly short", RARELY),
            COUNTS,
        ),
        Claim("few-sequences", difference("sinusoidal, 16 sequences", "learned, 16 sequences", "accuracy"), COUNTS),
        Claim("seldom-visited", difference("sinusoidal, mostly short", "learned, mostly short", RARELY), COUNTS),
        Claim("shaw", difference("Shaw, mostly short", "learned, mostly short", "accuracy"), COUNTS),
        Claim("rope", difference("RoPE, mostly short", "learned, mostly short", "accuracy"), COUNTS),
        Claim("t5-bias", difference("T5 bias, mostly short", "learned, mostly short", "accuracy"), COUNTS),
    ),
    x_label="Different training sequences",
)
