"""table-scale: what a learned table shows depends on how it began, and so may what the model learns."""

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.written import written
from engine.experiments.key_figure import KeyFigure, Row

CHANCE = 1 / 10
STRUCTURE = "table_structure"
MEASURED = (STRUCTURE,)


def _previous(name: str, std: float) -> Arm:
    return Arm(name, "comparison", {"k": 1, "table_init_std": std}, STRUCTURE, MEASURED, line="previous token", x=std)


def _three_back(name: str, **settings: object) -> Arm:
    return Arm(name, "comparison", {"k": 3, **settings}, "accuracy", MEASURED)


ISSUE = Issue(
    slug="table-scale",
    group="encoding",
    **written(__file__),
    base={
        "task": "k_back",
        "seq_len": 24,
        "d_model": 32,
        "n_layers": 1,
        "n_heads": 2,
        "pos_encoding": "learned",
        "token_init_std": 1.0,
        "learning_rate": 0.005,
        "schedule": "cosine",
        "batch_size": 16,
        "steps": 250,
    },
    arms=(
        _previous("previous token, table 0", 0.0),
        _previous("previous token, table .02", 0.02),
        _previous("previous token, table 1", 1.0),
        _three_back("3 back, table .02", table_init_std=0.02),
        _three_back("3 back, table 1", table_init_std=1.0),
        _three_back("3 back, table and tokens .02", table_init_std=0.02, token_init_std=0.02),
        _three_back("3 back, table .02, twice the learning rate", table_init_std=0.02, learning_rate=0.01),
    ),
    claims=(
        Claim(
            "small-start",
            "A learned table started small ends with more order (near positions, similar rows) than one started at the tokens' scale.",
            difference("previous token, table .02", "previous token, table 1", STRUCTURE),
            "order in the table (correlation of nearness and likeness of rows)",
            0.3,
            condition="previous token; table starts at .02 or at 1, tokens at 1",
        ),
        Claim(
            "zero-start",
            "A learned table started at zero ends with more order (near positions, similar rows) than one started at the tokens' scale.",
            difference("previous token, table 0", "previous token, table 1", STRUCTURE),
            "order in the table (correlation of nearness and likeness of rows)",
            0.3,
            condition="previous token; table starts at 0 or at 1, tokens at 1",
        ),
        Claim(
            "solves",
            "A model whose learned table started at the scale of the tokens solves its task: its accuracy is far above chance.",
            above("previous token, table 1", "accuracy", CHANCE),
            "accuracy above chance",
            0.8,
            condition="previous token; table starts at 1, tokens at 1",
            about="condition",
        ),
        Claim(
            "three-back-order",
            "On looking three places back too, a table that starts small ends with more order than one started at the tokens' scale.",
            difference("3 back, table .02", "3 back, table 1", STRUCTURE),
            "order in the table (correlation of nearness and likeness of rows)",
            0.3,
            condition="the same models as in the next claim",
            about="condition",
        ),
        Claim(
            "three-back-accuracy",
            "On looking three places back, a model is less accurate if its table starts far below the tokens' scale than at that scale.",
            difference("3 back, table 1", "3 back, table .02", "accuracy"),
            "accuracy lost",
            0.3,
            condition="three back; table starts at .02 or at 1, tokens at 1",
        ),
        Claim(
            "small-tokens",
            "On looking three places back, a model whose table starts small is more accurate if its tokens start equally small.",
            difference("3 back, table and tokens .02", "3 back, table .02", "accuracy"),
            "accuracy gained",
            0.3,
            about="remedy",
        ),
        Claim(
            "higher-rate",
            "On looking three places back, a model whose table starts small is more accurate with twice the learning rate.",
            difference("3 back, table .02, twice the learning rate", "3 back, table .02", "accuracy"),
            "accuracy gained",
            0.3,
            about="condition",
        ),
    ),
    key_figure=KeyFigure(
        claim="small-start",
        sample="reads 3 1 4 1, must write · 3 1 4",
        question="Near positions may get similar rows. Start the learned table 50 times smaller: what happens to this order?",
        answers=("Less order", "Equally much", "More order"),
        quantity="Order in the table: do near positions have similar rows? (0 no, 1 fully)",
        subject="the order in the learned table",
        change="With a start 50 times smaller",
        before=Row("Table starts at the tokens' scale", "previous token, table 1", STRUCTURE),
        after=Row("Table starts 50 times smaller", "previous token, table .02", STRUCTURE),
        others=(Row("Table starts at zero", "previous token, table 0", STRUCTURE),),
        remedy="Start the table at the scale of the tokens, and judge it by the accuracy, not by its looks.",
        also=("solves", "three-back-accuracy"),
    ),
    x_label="Standard deviation at which the table starts",
)
