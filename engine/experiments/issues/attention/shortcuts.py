from typing import Any

from engine.estimate.matching import matched_width
from engine.experiments.experiment import Arm, Change, Claim, Role, above, difference
from engine.experiments.issues.issue import read_issue

DECORRELATED = "decorrelated_accuracy"  # the accuracy on data without the shortcut
# The smallest difference of accuracies, or of shares, that counts. A model that counts is right so often that “looks better” has
# room for little more than .04: there it is .03. “Far more than chance” is .7.
SMALLEST_EFFECT = 0.05
BASE: dict[str, Any] = {
    "task": "cue_majority", "family": "encoder", "seq_len": 12, "d_model": 32, "n_layers": 1, "n_heads": 2,
    "learning_rate": 0.003, "steps": 200,
}  # fmt: skip
CUE: dict[str, Any] = {"dataset_size": 1024}
GRU = {**CUE, "family": "gru", "d_model": matched_width(BASE | CUE, family="gru")}
# With 32 steps the model without a shortcut is between .75 and .97 on the data without it; with 150 it makes no errors.
POSITION: dict[str, Any] = {
    "task": "key_token", "seq_len": 16, "n_layers": 2, "n_heads": 4, "learning_rate": 0.03, "schedule": "cosine", "steps": 32,
}  # fmt: skip


# by the share of cases in which the shortcut is right, the words for it: in one of two cases, or of four, a random one is right
# by chance
RIGHT = {0.25: "says nothing", 0.5: "says nothing", 0.9: "right 9 of 10", 1.0: "always right"}


def _cue(line: str, role: Role, right: float, **more: Any) -> Arm:
    settings = {**CUE, "cue_agreement": right, **more}
    return Arm(f"{line} {RIGHT[right]}", role, settings, DECORRELATED, ("decorrelated",), line=line, x=right)


def _mended(name: str, **more: Any) -> Arm:
    return Arm(name, "remedy", {**CUE, "cue_agreement": 0.9, **more}, DECORRELATED, ("decorrelated",))


def _position(line: str, role: Role, right: float = 0.9, encoding: str = "learned", **more: Any) -> Arm:
    settings = {**POSITION, "pos_encoding": encoding, "shortcut": right, **more}
    measured = ("decorrelated", "shuffle_meters")
    return Arm(f"{line} {RIGHT[right]}", role, settings, DECORRELATED, measured, line=line, x=right)


READS, SAYS = "position says nothing", "position right 9 of 10"
COSTS_ATTENTION = difference("cue says nothing", "cue right 9 of 10", DECORRELATED)
COSTS_GRU = difference("GRU, cue says nothing", "GRU, cue right 9 of 10", DECORRELATED)


def _helps(line: str) -> Change:
    return difference(f"{line}, {SAYS}", SAYS, DECORRELATED)


ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        _cue("cue", "control", 0.5),
        _cue("cue", "fault", 0.9),
        _cue("cue", "fault", 1.0),
        _cue("GRU, cue", "comparison", 0.5, **GRU),
        _cue("GRU, cue", "comparison", 0.9, **GRU),
        _mended("cue randomised", cue_randomised=1.0),
        _mended("cue blanked half the time", cue_blanked=0.5),
        _position("position", "control", 0.25),
        _position("position", "fault"),
        _position("position", "fault", 1.0),
        _position("sinusoidal, position", "comparison", encoding="sinusoidal"),
        _position("RoPE, position", "remedy", encoding="rope"),
        _position("randomized positions, position", "remedy", randomized_positions=4),
        _position("position dropout, position", "remedy", position_dropout=0.5),
    ),
    claims=(
        Claim("nearly-always-right", COSTS_ATTENTION, SMALLEST_EFFECT),
        Claim("accuracy", difference(READS, SAYS, DECORRELATED), SMALLEST_EFFECT),
        Claim("always-right", difference("cue says nothing", "cue always right", DECORRELATED), SMALLEST_EFFECT),
        Claim("looks-better", difference("cue always right", "cue says nothing", "accuracy"), 0.03),
        Claim("with-shortcut", above(SAYS, "accuracy", 0.25), 0.7),
        Claim("more-than-gru", lambda values: COSTS_ATTENTION(values) - COSTS_GRU(values), SMALLEST_EFFECT),
        Claim("shuffled", difference(READS, SAYS, "unchanged_by_positions"), SMALLEST_EFFECT),
        Claim("redrawn", difference("position always right", READS, "unchanged_by_content"), SMALLEST_EFFECT),
        Claim("sinusoidal", _helps("sinusoidal"), SMALLEST_EFFECT),
        Claim("random-cue", difference("cue randomised", "cue right 9 of 10", DECORRELATED), SMALLEST_EFFECT),
        Claim(
            "blanked-cue", difference("cue blanked half the time", "cue right 9 of 10", DECORRELATED), SMALLEST_EFFECT
        ),
        Claim("rope", _helps("RoPE"), SMALLEST_EFFECT),
        Claim("randomized-positions", _helps("randomized positions"), SMALLEST_EFFECT),
        Claim("position-dropout", _helps("position dropout"), SMALLEST_EFFECT),
    ),
    x_label="How often the shortcut is right in training (ρ)",
)
