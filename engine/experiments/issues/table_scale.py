"""table-scale: what a learned table shows depends on how it began, and so may what the model learns."""

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue, Source
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
    title="Do neighbouring positions become alike?",
    summary=(
        "Pictures of a learned table often show that near positions have similar rows, and this order is taken as a proof that the model "
        "learned the order of the tokens. Here we ask how far it depends on the scale of the numbers with which the table starts."
    ),
    mechanism=r"""
The row $P_i$ of position $i$ starts with random numbers of standard deviation $\sigma_P$. The embedding $E_x$ of symbol $x$ starts with
standard deviation $\sigma_E$, which is 1 here except in one model (.02).

**A table that starts at the scale of the tokens** ($\sigma_P = \sigma_E$). Random rows of many numbers are nearly at right angles to each
other, so the model can tell any two positions apart from the first step. Training has little reason to make the rows of neighbours
similar, and the random first values stay larger than what training adds.

**A table that starts small** ($\sigma_P$ far below $\sigma_E$, or 0). The rows are then almost entirely what training made of them. The
normalisation before attention divides by the size of $E_x + P_i$, so positions make up a share of
$$\frac{\sigma_P}{\sqrt{\sigma_E^2 + \sigma_P^2}}$$
of what attention reads. With $\sigma_P = .02$ and $\sigma_E = 1$ this is a fiftieth. The rows must grow first, and with AdamW each of
their numbers moves by at most about one learning rate a step.

**Order in the table** is a correlation over all pairs of positions $i$ and $j$: between how alike their rows are, $\cos(P_i, P_j)$, and
how near the positions are, $-|i - j|$. It is 1 if nearer positions always have more similar rows in proportion, and 0 without order.
""",
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
            "A learned table started small ends with more order (near positions, similar rows) than one started at the tokens' scale.",
            difference("previous token, table .02", "previous token, table 1", STRUCTURE),
            "order in the table (correlation of nearness and likeness of rows)",
            0.3,
            condition="previous token; table starts at .02 or at 1, tokens at 1",
        ),
        Claim(
            "A learned table started at zero ends with more order (near positions, similar rows) than one started at the tokens' scale.",
            difference("previous token, table 0", "previous token, table 1", STRUCTURE),
            "order in the table (correlation of nearness and likeness of rows)",
            0.3,
            condition="previous token; table starts at 0 or at 1, tokens at 1",
        ),
        Claim(
            "A model whose learned table started at the scale of the tokens solves its task: its accuracy is far above chance.",
            above("previous token, table 1", "accuracy", CHANCE),
            "accuracy above chance",
            0.8,
            condition="previous token; table starts at 1, tokens at 1",
            about="condition",
        ),
        Claim(
            "On looking three places back too, a table that starts small ends with more order than one started at the tokens' scale.",
            difference("3 back, table .02", "3 back, table 1", STRUCTURE),
            "order in the table (correlation of nearness and likeness of rows)",
            0.3,
            condition="the same models as in the next claim",
            about="condition",
        ),
        Claim(
            "On looking three places back, a model is less accurate if its table starts far below the tokens' scale than at that scale.",
            difference("3 back, table 1", "3 back, table .02", "accuracy"),
            "accuracy lost",
            0.3,
            condition="three back; table starts at .02 or at 1, tokens at 1",
        ),
        Claim(
            "On looking three places back, a model whose table starts small is more accurate if its tokens start equally small.",
            difference("3 back, table and tokens .02", "3 back, table .02", "accuracy"),
            "accuracy gained",
            0.3,
            about="remedy",
        ),
        Claim(
            "On looking three places back, a model whose table starts small is more accurate with twice the learning rate.",
            difference("3 back, table .02, twice the learning rate", "3 back, table .02", "accuracy"),
            "accuracy gained",
            0.3,
            about="condition",
        ),
    ),
    key_figure=KeyFigure(
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
        also=(2, 4),
    ),
    remedies=(
        "Start the table at the scale of the token embeddings, and report the ratio of the two scales.",
        "Before you say that a learned table is worse, rule out the scale: try several scales, and several learning rates with them.",
        "Judge a table by how accurate the model is without it (shuffle its rows), and not by how smooth it looks.",
    ),
    sources=(
        Source(
            "Gehring et al. 2017, Convolutional Sequence to Sequence Learning, section 3.1",
            "https://arxiv.org/abs/1705.03122",
        ),
        Source("Wang and Chen 2020, What Do Position Embeddings Learn?", "https://arxiv.org/abs/2010.04903"),
    ),
    x_label="Standard deviation at which the table starts",
    notes=(
        "Nothing here is a fault. The models are set side by side.",
        "The scale of a table is the standard deviation of its first random numbers. The tokens' scale is 1; .02 is 50 times smaller.",
    ),
)
