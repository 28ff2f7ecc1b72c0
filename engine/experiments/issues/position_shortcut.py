"""position-shortcut: a model that can answer by position need not read the data."""

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue

LACKING = "decorrelated_accuracy"
MEASURED = ("decorrelated", "shuffle_meters")


def _arm(name: str, role: str, encoding: str, rho: float, extended: bool = False, **more: object) -> Arm:
    settings = {"pos_encoding": encoding, "shortcut": rho, **more}
    line = name.rpartition(", ρ")[0]
    return Arm(name, role, settings, LACKING, MEASURED, extended=extended, line=line, x=rho)  # type: ignore[arg-type]


ISSUE = Issue(
    slug="position-shortcut",
    group="encoding",
    title="Positions instead of data",
    summary=(
        "Where the answer usually goes with the position, a model learns the positions and ignores the data. Validation data with "
        "the same habit shows nothing; sequences without it do."
    ),
    mechanism=r"""
A key $K_j$ stands somewhere among symbols $x_i$, and the answer is $y_i = (x_i + j) \bmod 4$. In training $y_i = g(i)$ holds as well, with
probability $\rho$ at each position, for one fixed $g$. Two ways lead to a low loss: fetch $j$ from the key, or use the positions, either
outright ($y_i = g(i)$) or to vote for the key, since every position says $j = g(i') - x_{i'}$ and is right with probability $\rho$. With
an absolute encoding the second way is one look-up,
$$h_i = E[x_i] + P[i], \qquad P[i] \mapsto g(i),$$
and the gradient finds it first. At $\rho = 1/4$ the position says nothing. A relative encoding sees $i - j$ alone: $g(i)$ then has to be
worked out from the sequence's ends. The two meters: the share of predictions that stay when the symbols are drawn anew (a model that reads
the data keeps a quarter, by chance), and the share that stays when the positions are shuffled (a model that reads the data keeps all).
""",
    base={
        "task": "key_token",
        "family": "encoder",
        "seq_len": 16,
        "d_model": 32,
        "n_layers": 2,
        "n_heads": 4,
        "learning_rate": 0.005,
        "schedule": "cosine",
        "steps": 150,
    },
    arms=(
        _arm("learned, ρ .25", "control", "learned", 0.25),
        _arm("learned, ρ .9", "fault", "learned", 0.9),
        _arm("learned, ρ 1", "fault", "learned", 1.0),
        _arm("sinusoidal, ρ .9", "comparison", "sinusoidal", 0.9),
        _arm("RoPE, ρ .9", "remedy", "rope", 0.9),
        _arm("learned, randomized positions, ρ .9", "remedy", "learned", 0.9, randomized_positions=4),
        _arm("learned, position dropout, ρ .9", "remedy", "learned", 0.9, position_dropout=0.5),
        _arm("sinusoidal, ρ .25", "comparison", "sinusoidal", 0.25, True),
        _arm("sinusoidal, ρ 1", "comparison", "sinusoidal", 1.0, True),
        _arm("RoPE, ρ .25", "comparison", "rope", 0.25, True),
        _arm("RoPE, ρ 1", "comparison", "rope", 1.0, True),
        _arm("T5 bias, ρ .9", "remedy", "t5_bias", 0.9, True),
        _arm("T5 bias, ρ 1", "comparison", "t5_bias", 1.0, True),
        _arm("learned, randomized positions, ρ 1", "comparison", "learned", 1.0, True, randomized_positions=4),
        _arm("learned, position dropout, ρ 1", "comparison", "learned", 1.0, True, position_dropout=0.5),
    ),
    claims=(
        Claim(
            "A shortcut that is right nine times of ten costs a learned table its accuracy wherever the shortcut is missing.",
            difference("learned, ρ .25", "learned, ρ .9", LACKING),
            "accuracy lost, without the shortcut",
            0.3,
            condition="ρ .9 against ρ .25, a learned table",
        ),
        Claim(
            "The model then goes by positions: shuffling them changes its predictions.",
            difference("learned, ρ .25", "learned, ρ .9", "unchanged_by_positions"),
            "share of predictions that no longer stay",
            0.3,
            condition="ρ .9 against ρ .25, a learned table",
        ),
        Claim(
            "It ignores the data: drawing the symbols anew leaves its predictions as they were.",
            difference("learned, ρ 1", "learned, ρ .25", "unchanged_by_content"),
            "share of predictions more that stay",
            0.3,
            condition="only a shortcut without exceptions, ρ 1",
            about="condition",
        ),
        Claim(
            "With exceptions the data are still read: drawing the symbols anew changes the predictions, though positions mislead them.",
            difference("learned, ρ 1", "learned, ρ .9", "unchanged_by_content"),
            "share of predictions fewer that stay",
            0.3,
            condition="ρ .9 against ρ 1",
            about="condition",
        ),
        Claim(
            "Validation data drawn like the training data show nothing.",
            above("learned, ρ .9", "accuracy", 0.25),
            "accuracy above chance, with the shortcut",
            0.7,
            condition="the same model as in the first claim",
            about="condition",
        ),
        Claim(
            "Sinusoids, though absolute too, fall for it less than a learned table.",
            difference("sinusoidal, ρ .9", "learned, ρ .9", LACKING),
            "accuracy gained, without the shortcut",
            0.2,
            about="condition",
        ),
        Claim(
            "A relative encoding (RoPE) makes the shortcut hard to take.",
            difference("RoPE, ρ .9", "learned, ρ .9", LACKING),
            "accuracy gained, without the shortcut",
            0.3,
            about="remedy",
        ),
        Claim(
            "Randomized positions in training unlearn the shortcut.",
            difference("learned, randomized positions, ρ .9", "learned, ρ .9", LACKING),
            "accuracy gained, without the shortcut",
            0.2,
            about="remedy",
        ),
        Claim(
            "Leaving the positions out of half of the training sequences helps.",
            difference("learned, position dropout, ρ .9", "learned, ρ .9", LACKING),
            "accuracy gained, without the shortcut",
            0.2,
            about="remedy",
        ),
        Claim(
            "No encoding makes up for data without exceptions: RoPE falls for the shortcut too.",
            difference("RoPE, ρ .25", "RoPE, ρ 1", LACKING),
            "accuracy lost, without the shortcut",
            0.2,
            condition="ρ 1",
            about="condition",
            extended=True,
        ),
        Claim(
            "A learned bias on distances (T5) makes the shortcut hard to take.",
            difference("T5 bias, ρ .9", "learned, ρ .9", LACKING),
            "accuracy gained, without the shortcut",
            0.3,
            about="remedy",
            extended=True,
        ),
    ),
    remedies=(
        "Break the habit in the data: shuffle, shift or crop, so that no answer goes with a position.",
        "Choose a relative encoding (RoPE, T5 bias), or draw positions at random while training.",
        "Test on data without the habit, and shuffle positions and content: a model that minds only one of them has a shortcut.",
    ),
    sources=(
        "Geirhos et al. 2020, Shortcut Learning in Deep Neural Networks",
        "Sinha et al. 2022, The Curious Case of Absolute Position Embeddings",
        "Ruoss et al. 2023, Randomized Positional Encodings Boost Length Generalization of Transformers",
    ),
    x_label="How often the shortcut is right in training (ρ)",
    notes=(
        "g(i) is drawn once and is the same in every run. Held-out sequences of the validation follow the training distribution.",
        "Randomized positions: drawn from four times the length in training, spread out evenly over it in evaluation.",
    ),
)
