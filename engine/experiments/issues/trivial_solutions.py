"""trivial-solutions: every token in direct reach, also the one that gives the answer away."""

from engine.experiments.experiment import Arm, Claim, difference
from engine.experiments.issues.issue import Issue

BALANCED = "decorrelated_accuracy"
MEASURED = ("decorrelated",)

ISSUE = Issue(
    slug="trivial-solutions",
    group="attention",
    title="The trivial solution",
    summary=(
        "Self-attention connects everything with everything, so if one token gives the answer away, a model attends to that token and "
        "never learns the rule. Validation data with the same giveaway do not show it."
    ),
    mechanism=r"""
The rule: are most of eleven symbols high? The last position answers. In front stands a cue that agrees with the answer with probability
$\rho$. Counting needs weight on all symbols,
$$z_n = \sum_j \alpha_{nj} v_j \quad\text{with } \alpha_{nj} \approx \tfrac{1}{11},$$
and leaves an uncertain answer wherever the count is close. The cue needs one large weight, $\alpha_{n0} \to 1$: it is one step away, like
every token, and explains $\rho$ of all answers at once. As the loss falls so does the gradient
that would have taught counting; at $\rho = 1$ nothing of it is left. At $\rho = \tfrac12$ the cue says nothing.
""",
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
    claims=(
        Claim(
            "A model that may look at the cue goes by it: where the cue says nothing, its accuracy falls.",
            difference("cue says nothing", "cue right 9 of 10", BALANCED),
            "accuracy lost, cue balanced",
            0.1,
            condition="a cue that is right 9 times of 10",
        ),
        Claim(
            "With a cue that is always right the rule is not learned at all.",
            difference("cue says nothing", "cue always right", BALANCED),
            "accuracy lost, cue balanced",
            0.3,
            condition="a cue without exceptions",
        ),
        Claim(
            "Validation data with the same cue make the worst model look best.",
            difference("cue always right", "cue says nothing", "accuracy"),
            "accuracy gained, drawn as in training",
            0.03,
            about="condition",
        ),
        Claim(
            "Randomising the cue in the training sequences brings the rule back.",
            difference("cue randomised", "cue right 9 of 10", BALANCED),
            "accuracy gained, cue balanced",
            0.1,
            about="remedy",
        ),
        Claim(
            "Blanking the cue in half of the training sequences helps.",
            difference("cue blanked half the time", "cue right 9 of 10", BALANCED),
            "accuracy gained, cue balanced",
            0.05,
            about="remedy",
        ),
        Claim(
            "But blanking helps only partly: where a cue stands, it is still followed.",
            difference("cue randomised", "cue blanked half the time", BALANCED),
            "accuracy missing against a randomised cue",
            0.03,
            about="condition",
        ),
        Claim(
            "Blanking leaves a cue that is always right in command.",
            difference("cue says nothing", "cue always right, blanked half the time", BALANCED),
            "accuracy lost, cue balanced",
            0.3,
            about="condition",
            extended=True,
        ),
        Claim(
            "More sequences of the same kind do not help: the shortcut is in all of them.",
            difference("cue says nothing", "cue always right, fresh sequences", BALANCED),
            "accuracy lost, cue balanced",
            0.3,
            condition="6,400 sequences instead of 1,024",
            about="condition",
            extended=True,
        ),
    ),
    remedies=(
        "Randomise what may give the answer away, or balance the data so that it agrees with no answer.",
        "Keep a test set that was collected otherwise, and believe that one.",
        "Take away the suspected token and look: if accuracy collapses, the model has learned the token.",
    ),
    sources=(
        "Geirhos et al. 2020, Shortcut Learning in Deep Neural Networks",
        "McCoy et al. 2019, Right for the Wrong Reasons: Diagnosing Syntactic Heuristics in Natural Language Inference",
    ),
    x_label="How often the cue is right in training (ρ)",
    notes=(
        "Cue balanced: held-out sequences whose cue is drawn without regard to the answer, half right and half wrong.",
        "Attention sinks vary so much from seed to seed that nothing is claimed about them here.",
    ),
)
