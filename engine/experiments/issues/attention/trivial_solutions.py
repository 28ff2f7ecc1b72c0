"""trivial-solutions: does a model learn the rule if one token gives the answer away?"""

from typing import Any

from engine.config.run_config import parse
from engine.estimate.matching import matched_width, n_parameters
from engine.experiments.experiment import Arm, Claim, Role, difference
from engine.experiments.issues.issue import read_issue

BALANCED = "decorrelated_accuracy"
MEASURED = ("decorrelated",)


def _arm(name: str, agreement: float, role: Role = "comparison", *, extended: bool = False, **settings: Any) -> Arm:
    return Arm(name, role, {"cue_agreement": agreement, **settings}, BALANCED, MEASURED, extended)


BASE: dict[str, Any] = {
    "task": "cue_majority", "family": "encoder", "seq_len": 12, "d_model": 32, "n_layers": 1, "n_heads": 2,
    "learning_rate": 0.003, "steps": 200, "dataset_size": 1024,
}  # fmt: skip
GRU: dict[str, Any] = {
    "family": "gru",
    "d_model": matched_width(parse({**BASE, "family": "gru"}), n_parameters(parse(BASE))),
}
"""A model without attention, with as many parameters. It counts better than the transformer, so its control has little room."""
ATTENTION = difference("cue says nothing", "cue right 9 of 10", BALANCED)
RECURRENT = difference("GRU, cue says nothing", "GRU, cue right 9 of 10", BALANCED)

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        Arm("cue says nothing", "control", {"cue_agreement": 0.5}, BALANCED, MEASURED, line="cue as it is", x=0.5),
        Arm("cue right 9 of 10", "fault", {"cue_agreement": 0.9}, BALANCED, MEASURED, line="cue as it is", x=0.9),
        Arm("cue always right", "fault", {"cue_agreement": 1.0}, BALANCED, MEASURED, line="cue as it is", x=1.0),
        _arm("GRU, cue says nothing", 0.5, **GRU),
        _arm("GRU, cue right 9 of 10", 0.9, **GRU),
        _arm("cue randomised", 0.9, "remedy", cue_randomised=1.0),
        _arm("cue blanked half the time", 0.9, "remedy", cue_blanked=0.5),
        _arm("cue always right, blanked half the time", 1.0, extended=True, cue_blanked=0.5),
        _arm("cue always right, fresh sequences", 1.0, extended=True, dataset_size=None),
    ),
    # One smallest effect for all, since all are accuracies; but a model that counts is right so often that "looks better" has room
    # for little more than .04.
    claims=(
        Claim("nearly-always-right", ATTENTION, 0.05),
        Claim("always-right", difference("cue says nothing", "cue always right", BALANCED), 0.05),
        Claim("gru", RECURRENT, 0.05),
        Claim("more-than-gru", lambda values: ATTENTION(values) - RECURRENT(values), 0.05),
        Claim("looks-better", difference("cue always right", "cue says nothing", "accuracy"), 0.03),
        Claim("random-cue", difference("cue randomised", "cue right 9 of 10", BALANCED), 0.05),
        Claim("blanked-cue", difference("cue blanked half the time", "cue right 9 of 10", BALANCED), 0.05),
        Claim("blanked-below-random", difference("cue randomised", "cue blanked half the time", BALANCED), 0.05),
        Claim(
            "half-blanked", difference("cue says nothing", "cue always right, blanked half the time", BALANCED), 0.05
        ),
        Claim("more-sequences", difference("cue says nothing", "cue always right, fresh sequences", BALANCED), 0.05),
    ),
    x_label="How often the cue is right in training (ρ)",
)
