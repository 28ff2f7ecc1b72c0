from engine.experiments.experiment import Arm, Claim, above, difference, within
from engine.experiments.issues.issue import read_issue

CHANCE = 1 / 10
FIRST, SECOND, WRITTEN = "first_half_accuracy", "second_half_accuracy", "written_accuracy"

BASE = {
    "task": "reverse", "seq_len": 6, "n_layers": 1, "n_heads": 1, "d_model": 32, "learning_rate": 0.01, "steps": 150,
}  # fmt: skip

# A model that has learned nothing is at chance on the first half with any mask
MUST_REACH = (("causal mask", SECOND, 0.9),)

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        Arm("no mask", "fault", {"mask_fault": "missing"}, FIRST),
        Arm("transposed mask", "fault", {"mask_fault": "transposed"}, FIRST),
        Arm("mask off by one", "fault", {"mask_fault": "off_by_one"}, FIRST),
        Arm("causal mask", "control", {}, FIRST),
        Arm("causal mask, RoPE", "comparison", {"pos_encoding": "rope"}, SECOND, extended=True),
        Arm("causal mask, ALiBi", "comparison", {"pos_encoding": "alibi"}, SECOND, extended=True),
        Arm("causal mask, no encoding", "comparison", {"pos_encoding": "nope"}, SECOND, extended=True),
    ),
    # The task is a check, so it leaves no room on purpose: a right mask must get all of the second half right, and a wrong one all of
    # the first half. Accuracies count from .05 on, apart from "far above chance".
    claims=(
        Claim("missing", difference("no mask", "causal mask", FIRST), 0.05, learned=MUST_REACH),
        Claim("transposed", difference("transposed mask", "causal mask", FIRST), 0.05, learned=MUST_REACH),
        Claim("off-by-one", difference("mask off by one", "causal mask", FIRST), 0.05, learned=MUST_REACH),
        Claim("missing-writing", difference("causal mask", "no mask", WRITTEN), 0.05),
        Claim("transposed-writing", difference("causal mask", "transposed mask", WRITTEN), 0.05),
        Claim("off-by-one-writing", difference("causal mask", "mask off by one", WRITTEN), 0.05),
        Claim("learns", above("causal mask", SECOND, CHANCE), 0.8),
        Claim("at-chance", within("causal mask", FIRST, CHANCE, 0.05), 0.01, learned=MUST_REACH),
        *(
            Claim(name, difference("causal mask", f"causal mask, {label}", SECOND), 0.05)
            for name, label in (("rope", "RoPE"), ("alibi", "ALiBi"), ("no-encoding", "no encoding"))
        ),
    ),
)
