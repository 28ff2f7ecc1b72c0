"""table-scale: what a learned table shows depends on how it began, and so may what the model learns."""

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue

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
    title="What a learned table learns",
    summary=(
        "Plots of a learned table often show neighbours alike, and are read as proof that order was learned. Whether they do depends on "
        "the scale at which the table began. The same scale, beside that of the tokens, can decide whether the model learns at all."
    ),
    mechanism=r"""
The rows start as $P_i \sim \mathcal N(0, \sigma_P^2)$ beside tokens $E_x \sim \mathcal N(0, \sigma_E^2)$. In $d$ dimensions random
rows are nearly orthogonal, so any two positions can be told apart at once when $\sigma_P \approx \sigma_E$: nothing pushes the rows into
a smooth line, and their first values outweigh what is learned. From $\sigma_P \ll \sigma_E$ (or 0) the rows are what training made them.
The norm in front of attention divides by the size of $E_x + P_i$, so positions enter at the ratio
$$\frac{\sigma_P}{\sqrt{\sigma_E^2 + \sigma_P^2}},$$
and at $.02$ beside $1$ they are a fiftieth of what attention reads: the rows must first grow, at about one learning rate a step with AdamW.
Structure is the correlation of $\cos(P_i, P_j)$ with $-|i - j|$ over all pairs of rows.
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
            "A table that starts small ends with neighbours alike; one that starts at the tokens' scale does not.",
            difference("previous token, table .02", "previous token, table 1", STRUCTURE),
            "correlation of likeness with nearness",
            0.3,
            condition="started at .02 against 1; tokens at 1",
        ),
        Claim(
            "A table that starts at zero ends with neighbours alike, too.",
            difference("previous token, table 0", "previous token, table 1", STRUCTURE),
            "correlation of likeness with nearness",
            0.3,
            condition="started at 0 against 1; tokens at 1",
        ),
        Claim(
            "Structure is not needed: the model whose rows show no order solves the task.",
            above("previous token, table 1", "accuracy", CHANCE),
            "accuracy above chance",
            0.8,
            condition="previous token, table started at 1",
            about="condition",
        ),
        Claim(
            "Structure is no proof: a model shows it that has not learned the task.",
            difference("3 back, table .02", "3 back, table 1", STRUCTURE),
            "correlation of likeness with nearness",
            0.3,
            condition="3 back, in the model of the next claim",
            about="condition",
        ),
        Claim(
            "A table started far below the tokens' scale keeps the model from learning within the same budget.",
            difference("3 back, table 1", "3 back, table .02", "accuracy"),
            "accuracy lost",
            0.3,
            condition="3 back, started at .02 against 1; tokens at 1",
        ),
        Claim(
            "Starting table and tokens at one scale mends it, also if both are small.",
            difference("3 back, table and tokens .02", "3 back, table .02", "accuracy"),
            "accuracy gained",
            0.3,
            about="remedy",
        ),
        Claim(
            "A learning rate twice as high mends it too: it is speed, not incapacity.",
            difference("3 back, table .02, twice the learning rate", "3 back, table .02", "accuracy"),
            "accuracy gained",
            0.3,
            about="condition",
        ),
    ),
    remedies=(
        "Start the table at the scale of the token embeddings, and say the ratio of the two.",
        "Before 'learned is worse', rule out the scale: vary it, and the learning rate with it.",
        "Judge a table by what the model does without it (shuffle its rows), not by how smooth it looks.",
    ),
    sources=(
        "Gehring et al. 2017, Convolutional Sequence to Sequence Learning, section 3.1",
        "Wang and Chen 2020, What Do Position Embeddings Learn?",
    ),
    x_label="Standard deviation at which the table starts",
    notes=("Nothing here is a fault: the arms are set side by side.",),
)
