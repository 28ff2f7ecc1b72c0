"""position-shortcut: a model that can answer by position need not read the data."""

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.written import worded, written
from engine.experiments.key_figure import KeyFigure, Row

LACKING = "decorrelated_accuracy"
MEASURED = ("decorrelated", "shuffle_meters")


def _arm(name: str, role: str, encoding: str, rho: float, extended: bool = False, **more: object) -> Arm:
    settings = {"pos_encoding": encoding, "shortcut": rho, **more}
    line = name.rpartition(", ρ")[0]
    return Arm(name, role, settings, LACKING, MEASURED, extended=extended, line=line, x=rho)  # type: ignore[arg-type]


ISSUE = Issue(
    slug="position-shortcut",
    group="encoding",
    **written(__file__),
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
    claims=worded(
        __file__,
        Claim(
            "accuracy",
            difference("learned, ρ .25", "learned, ρ .9", LACKING),
            "accuracy lost on data without the shortcut",
            0.3,
        ),
        Claim(
            "shuffled",
            difference("learned, ρ .25", "learned, ρ .9", "unchanged_by_positions"),
            "share of predictions that stay, ρ .25 minus ρ .9",
            0.3,
        ),
        Claim(
            "redrawn",
            difference("learned, ρ 1", "learned, ρ .25", "unchanged_by_content"),
            "share of predictions that stay, ρ 1 minus ρ .25",
            0.3,
            about="condition",
        ),
        Claim(
            "exceptions",
            difference("learned, ρ 1", "learned, ρ .9", "unchanged_by_content"),
            "share of predictions that stay, ρ 1 minus ρ .9",
            0.3,
            about="condition",
        ),
        Claim(
            "with-shortcut",
            above("learned, ρ .9", "accuracy", 0.25),
            "accuracy above chance, on data with the shortcut",
            0.7,
            about="condition",
        ),
        Claim(
            "sinusoidal",
            difference("sinusoidal, ρ .9", "learned, ρ .9", LACKING),
            "accuracy gained on data without the shortcut",
            0.2,
            about="condition",
        ),
        Claim(
            "rope",
            difference("RoPE, ρ .9", "learned, ρ .9", LACKING),
            "accuracy gained on data without the shortcut",
            0.3,
            about="remedy",
        ),
        Claim(
            "randomized-positions",
            difference("learned, randomized positions, ρ .9", "learned, ρ .9", LACKING),
            "accuracy gained on data without the shortcut",
            0.2,
            about="remedy",
        ),
        Claim(
            "position-dropout",
            difference("learned, position dropout, ρ .9", "learned, ρ .9", LACKING),
            "accuracy gained on data without the shortcut",
            0.2,
            about="remedy",
        ),
        Claim(
            "rope-always-right",
            difference("RoPE, ρ .25", "RoPE, ρ 1", LACKING),
            "accuracy lost on data without the shortcut",
            0.2,
            about="condition",
            extended=True,
        ),
        Claim(
            "t5-bias",
            difference("T5 bias, ρ .9", "learned, ρ .9", LACKING),
            "accuracy gained on data without the shortcut",
            0.3,
            about="remedy",
            extended=True,
        ),
    ),
    key_figure=KeyFigure(
        claim="accuracy",
        sample="reads 3 1 K2, must write 1 3: each symbol plus 2, modulo 4",
        question=(
            "In training, the position alone now gives the answer 9 times out of 10: what happens to the accuracy without this shortcut?"
        ),
        answers=("It falls", "It stays", "It rises"),
        quantity="Accuracy on data without the shortcut",
        subject="the accuracy on data without it",
        change="With a shortcut in training",
        before=Row("Learned table, no shortcut", "learned, ρ .25", LACKING),
        after=Row("Learned table, shortcut", "learned, ρ .9", LACKING),
        others=(
            Row("Sinusoids, shortcut", "sinusoidal, ρ .9", LACKING),
            Row("RoPE, shortcut", "RoPE, ρ .9", LACKING),
            Row("Randomized positions, shortcut", "learned, randomized positions, ρ .9", LACKING),
            Row("Position dropout, shortcut", "learned, position dropout, ρ .9", LACKING),
        ),
        remedy="Break the shortcut in the data, or use a relative encoding, and always test without the shortcut.",
        also=("shuffled", "with-shortcut"),
    ),
    x_label="How often the shortcut is right in training (ρ)",
)
