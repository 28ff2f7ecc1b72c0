"""missing-mask: check the mask on a toy task. The second half can be known, the first half cannot."""

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue

CHANCE = 1 / 10
FIRST, SECOND, WRITTEN = "first_half_accuracy", "second_half_accuracy", "written_accuracy"

ISSUE = Issue(
    slug="missing-mask",
    group="attention",
    title="The mask is missing",
    summary=(
        "Let a causal model continue a sequence with its mirror image. A right mask gives a perfect second half and a first "
        "half at chance; a wrong one gives itself away in the first half, which nobody can know."
    ),
    mechanism=r"""
The decoder reads $x_1 \dots x_n\, x_n \dots x_1$ and predicts each next token. The first $n - 1$ predictions are of symbols drawn
independently: without a look ahead the best possible accuracy is $1/V$ for $V$ symbols. The causal mask adds $-\infty$ to the
score of every key $j$ that comes after query $i$: the query sees itself and the keys before it,
$$A_{ij} = \mathrm{softmax}_j\big(q_i \cdot k_j / \sqrt{d_h} + M_{ij}\big), \qquad M_{ij} = -\infty \text{ for } j > i.$$
A transposed mask blocks $j < i$ instead: the query sees itself and the keys after it. A mask off by one blocks only $j > i + 1$.
Without $M$ the answer to position $i$ stands at position $i + 1$ and one head copies it. Training loss and accuracy then look *better*
than with the mask; only the first half, or letting the model write its own answer, shows that something is wrong.
""",
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
    claims=(
        Claim(
            "Without the mask the first half is predicted, which no honest model can do.",
            difference("no mask", "causal mask", FIRST),
            "accuracy, first half",
            0.2,
        ),
        Claim(
            "With the mask transposed the first half is predicted too.",
            difference("transposed mask", "causal mask", FIRST),
            "accuracy, first half",
            0.2,
        ),
        Claim(
            "With the mask off by one, where each position sees just the token it should predict, the first half is predicted too.",
            difference("mask off by one", "causal mask", FIRST),
            "accuracy, first half",
            0.2,
        ),
        Claim(
            "Letting the model write its own answer, with no future to look at, shows the missing mask too.",
            difference("causal mask", "no mask", WRITTEN),
            "accuracy lost, answer in its own hand",
            0.1,
            about="condition",
        ),
        Claim(
            "Writing its own answer shows the transposed mask.",
            difference("causal mask", "transposed mask", WRITTEN),
            "accuracy lost, answer in its own hand",
            0.1,
            about="condition",
        ),
        Claim(
            "Writing its own answer shows the mask off by one.",
            difference("causal mask", "mask off by one", WRITTEN),
            "accuracy lost, answer in its own hand",
            0.1,
            about="condition",
        ),
        Claim(
            "With the right mask the second half is learned.",
            above("causal mask", SECOND, CHANCE),
            "accuracy above chance, second half",
            0.8,
            about="remedy",
        ),
        Claim(
            "And the first half then stays near chance, as it must.",
            lambda values: 0.05 - abs(values("causal mask", FIRST) - CHANCE),
            "accuracy left of a tolerance of .05, first half",
            0.01,
            about="remedy",
        ),
        *(
            Claim(
                f"The check itself needs absolute positions: one layer with {label} cannot reverse under the right mask.",
                difference("causal mask", f"causal mask, {label}", SECOND),
                "accuracy lost, second half",
                0.3,
                condition="against a learned table",
                about="condition",
                extended=True,
            )
            for label in ("RoPE", "ALiBi", "no encoding")
        ),
    ),
    remedies=(
        "Before anything else, train on a task whose answer is partly unknowable and look at that part.",
        "Use the library's causal flag instead of building the matrix by hand.",
        "Test it: change a later token and assert that no earlier output changes.",
    ),
    notes=(
        "The second half is scored twice: given the right symbols so far, and with the model reading what it wrote itself.",
        "A model that copies the next symbol may have learned to reverse as well: writing then shows nothing. Seeds differ in this.",
    ),
    sources=("Vaswani et al. 2017, Attention Is All You Need, section 3.2.3",),
)
