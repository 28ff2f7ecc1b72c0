from typing import Any, Literal

from engine.experiments.experiment import Arm, Change, Claim, difference, once_learned, rise
from engine.experiments.issues.issue import read_issue

FIRST, EVEN, FIRST_ASKED = "first_token_weight", "even_first_weight", "first_token_weight_asked"
RIGHT = "right_when_asked"
# The smallest difference of weights on the first token that counts. Shares of right answers count from .05 on.
A_TENTH = 0.1
LEARNED_SHARE = 0.75  # the share of right answers at triggers from which a model has learned the task
NOPE, PLUS_ONE, GATE = "no encoding", ", plus one", ", gate"
ENCODINGS = {NOPE: "nope", "RoPE": "rope", "ALiBi": "alibi"}
KINDS: dict[str, dict[str, Any]] = {"": {}, PLUS_ONE: {"softmax_plus_one": True}, GATE: {"attention_gate": True}}


def _claim(name: str, effect: Change, smallest: float, direction: Literal["more", "less"] = "more") -> Claim:
    return once_learned(RIGHT, LEARNED_SHARE, Claim(name, effect, smallest, direction))


ISSUE = read_issue(
    __file__,
    base={
        "task": "trigger", "seq_len": 16, "d_model": 32, "n_layers": 1, "n_heads": 1, "learning_rate": 0.01, "steps": 300,
    },
    arms=tuple(
        Arm(f"{label}{kind}", "comparison", {"pos_encoding": name, **settings}, FIRST, ("attention_sinks",))
        for label, name in ENCODINGS.items()
        for kind, settings in KINDS.items()
    ),
    claims=(
        *(_claim(f"sink-{name}", rise(label, FIRST, EVEN), A_TENTH) for label, name in ENCODINGS.items()),
        _claim("where-silent", rise(NOPE, FIRST_ASKED, FIRST), A_TENTH, "less"),
        *(
            _claim(f"{word}-{name}", difference(f"{label}{kind}", label, FIRST), A_TENTH, "less")
            for word, kind in (("plus-one", PLUS_ONE), ("gate", GATE))
            for label, name in ENCODINGS.items()
        ),
        _claim("plus-one-right", difference(f"{NOPE}{PLUS_ONE}", NOPE, RIGHT), 0.05),
        _claim("gate-right", difference(f"{NOPE}{GATE}", NOPE, RIGHT), 0.05),
    ),
)  # fmt: skip
