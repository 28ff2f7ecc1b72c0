"""missing-mask: check the mask on a toy task. The second half can be known, the first half cannot."""

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.written import worded, written
from engine.experiments.key_figure import KeyFigure, Row

CHANCE = 1 / 10
FIRST, SECOND, WRITTEN = "first_half_accuracy", "second_half_accuracy", "written_accuracy"

ISSUE = Issue(
    slug="missing-mask",
    group="attention",
    **written(__file__),
    base={
        "task": "reverse",
        "seq_len": 6,
        "n_layers": 1,
        "n_heads": 1,
        "d_model": 32,
        "learning_rate": 0.01,
        "steps": 150,
    },
    arms=(
        Arm("no mask", "fault", {"mask_fault": "missing"}, FIRST),
        Arm("transposed mask", "fault", {"mask_fault": "transposed"}, FIRST),
        Arm("mask off by one", "fault", {"mask_fault": "off_by_one"}, FIRST),
        Arm("causal mask", "control", {}, FIRST),
        Arm("causal mask, RoPE", "comparison", {"pos_encoding": "rope"}, SECOND, extended=True),
        Arm("causal mask, ALiBi", "comparison", {"pos_encoding": "alibi"}, SECOND, extended=True),
        Arm("causal mask, no encoding", "comparison", {"pos_encoding": "nope"}, SECOND, extended=True),
    ),
    claims=worded(
        __file__,
        Claim("missing", difference("no mask", "causal mask", FIRST), "accuracy, first half", 0.2),
        Claim("transposed", difference("transposed mask", "causal mask", FIRST), "accuracy, first half", 0.2),
        Claim("off-by-one", difference("mask off by one", "causal mask", FIRST), "accuracy, first half", 0.2),
        Claim(
            "missing-writing",
            difference("causal mask", "no mask", WRITTEN),
            "accuracy lost, second half written by the model",
            0.1,
            about="condition",
        ),
        Claim(
            "transposed-writing",
            difference("causal mask", "transposed mask", WRITTEN),
            "accuracy lost, second half written by the model",
            0.1,
            about="condition",
        ),
        Claim(
            "off-by-one-writing",
            difference("causal mask", "mask off by one", WRITTEN),
            "accuracy lost, second half written by the model",
            0.1,
            about="condition",
        ),
        Claim(
            "learns", above("causal mask", SECOND, CHANCE), "accuracy above chance, second half", 0.8, about="remedy"
        ),
        Claim(
            "at-chance",
            lambda values: 0.05 - abs(values("causal mask", FIRST) - CHANCE),
            "accuracy, distance to the limit of chance ± .05, first half",
            0.01,
            about="remedy",
        ),
        *(
            Claim(
                name,
                difference("causal mask", f"causal mask, {label}", SECOND),
                "accuracy lost, second half",
                0.3,
                about="condition",
                extended=True,
            )
            for name, label in (("rope", "RoPE"), ("alibi", "ALiBi"), ("no-encoding", "no encoding"))
        ),
    ),
    key_figure=KeyFigure(
        claim="missing",
        sample="reads 2 9 1 8 8 3, then writes 3 8 8 1 9 2",
        question=(
            "Nobody can know the first six symbols in advance. Take the causal mask away: what happens to the accuracy on them?"
        ),
        answers=("It falls", "It stays", "It rises"),
        quantity="Accuracy on the random first half",
        subject="the accuracy on the random first half",
        change="Without the causal mask",
        before=Row("With the causal mask", "causal mask", FIRST),
        after=Row("Without a mask", "no mask", FIRST),
        others=(
            Row("Mask transposed", "transposed mask", FIRST),
            Row("Mask off by one", "mask off by one", FIRST),
        ),
        remedy="Train once on a task with a part that nobody can know: if the model knows that part, the mask is wrong.",
        also=("missing-writing", "learns"),
    ),
)
