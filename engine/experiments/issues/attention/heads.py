from engine.experiments.experiment import Arm, Claim, Role, difference
from engine.experiments.issues.issue import read_issue
from engine.foundation.formatting import counted

# So few steps that the controls, 8 heads and 4 heads, are right about 9 times out of 10: with more, several arms are always right.
ONE = {"lookups": 1, "n_keys": 16, "seq_len": 17, "vocab_size": 8, "learning_rate": 0.02, "steps": 95}
FOUR = {"lookups": 4, "n_keys": 8, "seq_len": 9, "vocab_size": 2, "learning_rate": 0.01, "steps": 150}
LINES = {"one look-up": (ONE, "one look-up of 16 keys"), "four look-ups": (FOUR, "four look-ups at once of 8 keys")}


def _arm(task: str, heads: int, role: Role = "comparison", *, extended: bool = False) -> Arm:
    settings, line = LINES[task]
    name = f"{task}, {counted(heads, 'head')}"
    return Arm(name, role, {**settings, "n_heads": heads}, line=line, x=heads, extended=extended)


ISSUE = read_issue(
    __file__,
    base={"task": "lookup", "family": "encoder", "pos_encoding": "nope", "n_layers": 1, "d_model": 32},
    arms=(
        _arm("one look-up", 8, "control"),
        _arm("one look-up", 32, "fault"),
        Arm("one look-up, 32 heads of 4", "remedy", {**ONE, "n_heads": 32, "d_head": 4}),
        _arm("one look-up", 1),
        _arm("four look-ups", 1, "fault"),
        _arm("four look-ups", 4, "control"),
        *(_arm("one look-up", heads, extended=True) for heads in (2, 4, 16)),
        *(_arm("four look-ups", heads, extended=True) for heads in (2, 8, 16, 32)),
    ),
    # One smallest effect for all, since all are accuracies.
    claims=(
        Claim("narrow-heads", difference("one look-up, 32 heads", "one look-up, 8 heads", "accuracy"), 0.05, "less"),
        Claim(
            "one-head-four-lookups",
            difference("four look-ups, 1 head", "four look-ups, 4 heads", "accuracy"),
            0.05,
            "less",
        ),
        Claim("one-wide-head", difference("one look-up, 1 head", "one look-up, 8 heads", "accuracy"), 0.05, "less"),
        Claim("wider-heads", difference("one look-up, 32 heads of 4", "one look-up, 32 heads", "accuracy"), 0.05),
    ),
    x_label="heads",
    evaluations=8,
)
