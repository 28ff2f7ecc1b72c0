"""which-neighbour: a bias that falls with distance against no encoding, where the symbol before is asked for."""

from engine.experiments.experiment import Arm, Claim, difference
from engine.experiments.issues.issue import read_issue

ISSUE = read_issue(
    __file__,
    base={"task": "k_back", "k": 1, "seq_len": 12, "d_model": 32, "n_layers": 1, "n_heads": 4, "steps": 200},
    arms=(
        Arm("ALiBi", "comparison", {"pos_encoding": "alibi"}),
        Arm("no encoding", "comparison", {"pos_encoding": "nope"}),
    ),
    claims=(Claim("alibi", difference("ALiBi", "no encoding", "accuracy"), 0.1),),
)
