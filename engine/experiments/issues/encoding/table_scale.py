"""table-scale: what a learned table shows depends on how it began, and so may what the model learns."""

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import read_issue

CHANCE = 1 / 10
STRUCTURE = "table_structure"
MEASURED = (STRUCTURE,)
COUNTS = 0.05
"""The smallest difference of accuracies that counts. It was .3 without a reason. A correlation counts from .3; "far above chance" is .8."""


def _previous(name: str, std: float) -> Arm:
    return Arm(name, "comparison", {"k": 1, "table_init_std": std}, STRUCTURE, MEASURED, line="previous token", x=std)


# With 90 steps a small table is between .75 and .97 at its best rate; with 250 each of these models solves the task, and nothing can
# differ. A table at the tokens' scale solves it before a small one has begun to, so claims that compare both are decided beside a number
# near 1.
def _three_back(name: str, tuned: bool = True, **settings: object) -> Arm:
    return Arm(name, "comparison", {"k": 3, "steps": 90, **settings}, "accuracy", MEASURED, tuned=tuned)


BASE = {
    "task": "k_back", "seq_len": 24, "d_model": 32, "n_layers": 1, "n_heads": 2, "pos_encoding": "learned",
    "token_init_std": 1.0, "learning_rate": 0.005, "schedule": "cosine", "batch_size": 16, "steps": 250,
}  # fmt: skip

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        _previous("previous token, table 0", 0.0),
        _previous("previous token, table .02", 0.02),
        _previous("previous token, table 1", 1.0),
        _three_back("3 back, table .02", table_init_std=0.02),
        _three_back("3 back, table 1", table_init_std=1.0),
        _three_back("3 back, table and tokens .02", table_init_std=0.02, token_init_std=0.02),
        _three_back("3 back, table .02, rate .005", tuned=False, table_init_std=0.02),
        _three_back("3 back, table 1, rate .005", tuned=False, table_init_std=1.0),
    ),
    claims=(
        Claim("small-start", difference("previous token, table .02", "previous token, table 1", STRUCTURE), 0.3),
        Claim("zero-start", difference("previous token, table 0", "previous token, table 1", STRUCTURE), 0.3),
        Claim("solves", above("previous token, table 1", "accuracy", CHANCE), 0.8),
        Claim("three-back-order", difference("3 back, table .02", "3 back, table 1", STRUCTURE), 0.3),
        Claim("three-back-accuracy", difference("3 back, table 1", "3 back, table .02", "accuracy"), COUNTS),
        Claim("small-tokens", difference("3 back, table and tokens .02", "3 back, table .02", "accuracy"), COUNTS),
        Claim("one-rate", difference("3 back, table 1, rate .005", "3 back, table .02, rate .005", "accuracy"), COUNTS),
        Claim("best-rate", difference("3 back, table .02", "3 back, table .02, rate .005", "accuracy"), COUNTS),
    ),
    x_label="Standard deviation at which the table starts",
)
