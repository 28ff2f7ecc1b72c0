"""position-shortcut: a model that can answer by position need not read the data."""

from engine.experiments.experiment import Arm, Claim, Role, above, difference
from engine.experiments.issues.issue import read_issue

LACKING = "decorrelated_accuracy"
MEASURED = ("decorrelated", "shuffle_meters")
COUNTS = 0.05
"""The smallest difference of accuracies, or of shares, that counts. It was .2 or .3 without a reason; “far more than chance” is .7."""


def _arm(name: str, role: Role, encoding: str, rho: float, extended: bool = False, **more: object) -> Arm:
    settings = {"pos_encoding": encoding, "shortcut": rho, **more}
    line = name.rpartition(", ρ")[0]
    return Arm(name, role, settings, LACKING, MEASURED, extended=extended, line=line, x=rho)


# With 32 steps the model without a shortcut is between .75 and .97 on the data without it; with 150 it makes no errors.
BASE = {
    "task": "key_token", "family": "encoder", "seq_len": 16, "d_model": 32, "n_layers": 2, "n_heads": 4,
    "learning_rate": 0.03, "schedule": "cosine", "steps": 32,
}  # fmt: skip

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        _arm("learned, ρ .25", "control", "learned", 0.25),
        _arm("learned, ρ .9", "fault", "learned", 0.9),
        _arm("learned, ρ 1", "fault", "learned", 1.0),
        _arm("sinusoidal, ρ .9", "comparison", "sinusoidal", 0.9),
        _arm("RoPE, ρ .9", "remedy", "rope", 0.9),
        _arm("learned, randomized positions, ρ .9", "remedy", "learned", 0.9, randomized_positions=4),
        _arm("learned, position dropout, ρ .9", "remedy", "learned", 0.9, position_dropout=0.5),
        _arm("sinusoidal, ρ .25", "comparison", "sinusoidal", 0.25, True),
        _arm("sinusoidal, ρ 1", "comparison", "sinusoidal", 1.0, True),
        _arm("RoPE, ρ .25", "comparison", "rope", 0.25, True),
        _arm("RoPE, ρ 1", "comparison", "rope", 1.0, True),
        _arm("T5 bias, ρ .9", "remedy", "t5_bias", 0.9, True),
        _arm("T5 bias, ρ 1", "comparison", "t5_bias", 1.0, True),
        _arm("learned, randomized positions, ρ 1", "comparison", "learned", 1.0, True, randomized_positions=4),
        _arm("learned, position dropout, ρ 1", "comparison", "learned", 1.0, True, position_dropout=0.5),
    ),
    claims=(
        Claim("accuracy", difference("learned, ρ .25", "learned, ρ .9", LACKING), COUNTS),
        Claim("shuffled", difference("learned, ρ .25", "learned, ρ .9", "unchanged_by_positions"), COUNTS),
        Claim("redrawn", difference("learned, ρ 1", "learned, ρ .25", "unchanged_by_content"), COUNTS),
        Claim("exceptions", difference("learned, ρ 1", "learned, ρ .9", "unchanged_by_content"), COUNTS),
        Claim("with-shortcut", above("learned, ρ .9", "accuracy", 0.25), 0.7),
        Claim("sinusoidal", difference("sinusoidal, ρ .9", "learned, ρ .9", LACKING), COUNTS),
        Claim("rope", difference("RoPE, ρ .9", "learned, ρ .9", LACKING), COUNTS),
        Claim(
            "randomized-positions", difference("learned, randomized positions, ρ .9", "learned, ρ .9", LACKING), COUNTS
        ),
        Claim("position-dropout", difference("learned, position dropout, ρ .9", "learned, ρ .9", LACKING), COUNTS),
        Claim("rope-always-right", difference("RoPE, ρ .25", "RoPE, ρ 1", LACKING), COUNTS),
        Claim("t5-bias", difference("T5 bias, ρ .9", "learned, ρ .9", LACKING), COUNTS),
    ),
    x_label="How often the shortcut is right in training (ρ)",
)
