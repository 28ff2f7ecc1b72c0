"""trivial-solutions: does a model learn the rule if one token gives the answer away?"""

from engine.experiments.experiment import Arm, Claim, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.written import worded, written
from engine.experiments.key_figure import KeyFigure, Row

BALANCED = "decorrelated_accuracy"
MEASURED = ("decorrelated",)
LOST = "accuracy lost on sequences with a random cue"
GAINED = "accuracy gained on sequences with a random cue"

ISSUE = Issue(
    slug="trivial-solutions",
    group="attention",
    **written(__file__),
    base={
        "task": "cue_majority",
        "family": "encoder",
        "seq_len": 12,
        "d_model": 32,
        "n_layers": 1,
        "n_heads": 2,
        "learning_rate": 0.003,
        "steps": 200,
        "dataset_size": 1024,
    },
    arms=(
        Arm("cue says nothing", "control", {"cue_agreement": 0.5}, BALANCED, MEASURED, line="cue as it is", x=0.5),
        Arm("cue right 9 of 10", "fault", {"cue_agreement": 0.9}, BALANCED, MEASURED, line="cue as it is", x=0.9),
        Arm("cue always right", "fault", {"cue_agreement": 1.0}, BALANCED, MEASURED, line="cue as it is", x=1.0),
        Arm("cue randomised", "remedy", {"cue_agreement": 0.9, "cue_randomised": 1.0}, BALANCED, MEASURED),
        Arm("cue blanked half the time", "remedy", {"cue_agreement": 0.9, "cue_blanked": 0.5}, BALANCED, MEASURED),
        Arm(
            "cue always right, blanked half the time",
            "comparison",
            {"cue_agreement": 1.0, "cue_blanked": 0.5},
            BALANCED,
            MEASURED,
            extended=True,
        ),
        Arm(
            "cue always right, fresh sequences",
            "comparison",
            {"cue_agreement": 1.0, "dataset_size": None},
            BALANCED,
            MEASURED,
            extended=True,
        ),
    ),
    claims=worded(
        __file__,
        Claim("nearly-always-right", difference("cue says nothing", "cue right 9 of 10", BALANCED), LOST, 0.1),
        Claim("always-right", difference("cue says nothing", "cue always right", BALANCED), LOST, 0.3),
        Claim(
            "looks-better",
            difference("cue always right", "cue says nothing", "accuracy"),
            "accuracy gained on validation data like the training data",
            0.03,
            about="condition",
        ),
        Claim("random-cue", difference("cue randomised", "cue right 9 of 10", BALANCED), GAINED, 0.1, about="remedy"),
        Claim(
            "blanked-cue",
            difference("cue blanked half the time", "cue right 9 of 10", BALANCED),
            GAINED,
            0.05,
            about="remedy",
        ),
        Claim(
            "blanked-below-random",
            difference("cue randomised", "cue blanked half the time", BALANCED),
            LOST,
            0.03,
            about="condition",
        ),
        Claim(
            "half-blanked",
            difference("cue says nothing", "cue always right, blanked half the time", BALANCED),
            LOST,
            0.3,
            about="condition",
            extended=True,
        ),
        Claim(
            "more-sequences",
            difference("cue says nothing", "cue always right, fresh sequences", BALANCED),
            LOST,
            0.3,
            about="condition",
            extended=True,
        ),
    ),
    key_figure=KeyFigure(
        claim="nearly-always-right",
        sample="↑ 3 7 1 4 2 8 0 6 1 9 3: most are low",
        question="In training the cue (↑ or ↓) is right nine times of ten, not five: what happens to accuracy with a random cue?",
        answers=("It falls", "It stays", "It rises"),
        quantity="Accuracy on new sequences with a random cue",
        subject="accuracy on sequences with a random cue",
        change="With a cue that was right nine times of ten in training,",
        before=Row("cue right 5 of 10", "cue says nothing", BALANCED),
        after=Row("cue right 9 of 10", "cue right 9 of 10", BALANCED),
        others=(
            Row("cue right 9 of 10, then randomised", "cue randomised", BALANCED),
            Row("cue right 9 of 10, half of them blanked", "cue blanked half the time", BALANCED),
            Row("cue always right", "cue always right", BALANCED),
        ),
        remedy="Randomise the cue in the training data.",
        also=("looks-better", "random-cue"),
    ),
    x_label="How often the cue is right in training (ρ)",
)
