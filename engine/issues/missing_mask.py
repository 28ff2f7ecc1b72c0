"""missing-mask: check the mask on a toy task. The second half can be known, the first half cannot."""

from engine.issues.issue import Arm, Claim, Issue, above, difference

CHANCE = 1 / 10

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
independently: without a look ahead the best possible accuracy is $1/V$ for $V$ symbols. The causal mask adds $-\infty$ to every
score with key $j$ behind query $i$,
$$A_{ij} = \mathrm{softmax}_j\big(q_i \cdot k_j / \sqrt{d_h} + M_{ij}\big), \qquad M_{ij} = -\infty \text{ for } j > i.$$
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
        Arm("no mask", "fault", {"mask_fault": "missing"}, "first_half_accuracy"),
        Arm("transposed mask", "fault", {"mask_fault": "transposed"}, "first_half_accuracy"),
        Arm("mask off by one", "fault", {"mask_fault": "off_by_one"}, "first_half_accuracy"),
        Arm("causal mask", "control", {}, "first_half_accuracy"),
    ),
    claims=(
        Claim(
            "Without the mask the first half is predicted, which no honest model can do.",
            difference("no mask", "causal mask", "first_half_accuracy"),
            "accuracy, first half",
            0.2,
        ),
        Claim(
            "With the right mask the second half is learned.",
            above("causal mask", "second_half_accuracy", CHANCE),
            "accuracy above chance, second half",
            0.8,
            about="remedy",
        ),
    ),
    remedies=(
        "Before anything else, train on a task whose answer is partly unknowable and look at that part.",
        "Use the library's causal flag instead of building the matrix by hand.",
        "Test it: change a later token and assert that no earlier output changes.",
    ),
    sources=("Vaswani et al. 2017, Attention Is All You Need, section 3.2.3",),
)
