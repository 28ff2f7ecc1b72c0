"""missing-mask: check the mask on a toy task. The second half can be known, the first half cannot."""

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue, Source
from engine.experiments.key_figure import KeyFigure, Row

CHANCE = 1 / 10
FIRST, SECOND, WRITTEN = "first_half_accuracy", "second_half_accuracy", "written_accuracy"

ISSUE = Issue(
    slug="missing-mask",
    group="attention",
    title="The mask is missing",
    summary=(
        "A decoder learns to predict each next symbol, and the causal mask keeps it from seeing that symbol beforehand. A wrong mask "
        "gives no error message, so one needs a test that shows it."
    ),
    mechanism=r"""
The decoder reads $x_1 \dots x_n\, x_n \dots x_1$ and predicts each next symbol. The symbols of the first half are drawn independently
from $V$ different ones. Nothing before a symbol tells which one it is, so a model that sees only the past is right with probability
$1/V$ at best. The second half is known: it is the first half backwards.

In attention, a *query* $q_i$ at position $i$ is compared with a *key* $k_j$ at each position $j$; both are vectors of $d_h$ numbers.
The causal mask $M$ adds $-\infty$ to the score of every key $j$ that comes after query $i$:
$$A_{ij} = \mathrm{softmax}_j\big(q_i \cdot k_j / \sqrt{d_h} + M_{ij}\big), \qquad M_{ij} = -\infty \text{ for } j > i, \text{ else } 0.$$
The attention weight $A_{ij}$ of such a key is 0. The query sees only itself and the keys before it. Three things can go wrong:

- **The mask is missing.** The query sees all keys.
- **The mask is transposed** (its rows and columns are exchanged). It blocks $j < i$: the query sees itself and the keys after it.
- **The mask is off by one.** It blocks only $j > i + 1$: the query sees one key too many, the next symbol.

In all three cases the symbol that position $i$ has to predict stands at position $i + 1$, where the query can see it, and one head can
copy it. Loss and accuracy then look *better* than with the right mask. The first half shows the fault, because nobody can know it.
Another test is to let the model write its own answer: then there is no next symbol that it could copy.
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
            "Without the mask, the model predicts the random first half of the sequence more accurately than with the causal mask.",
            difference("no mask", "causal mask", FIRST),
            "accuracy, first half",
            0.2,
        ),
        Claim(
            "With a transposed mask, the model predicts the random first half of the sequence more accurately than with the causal mask.",
            difference("transposed mask", "causal mask", FIRST),
            "accuracy, first half",
            0.2,
        ),
        Claim(
            "With a mask that is off by one, the model predicts the random first half more accurately than with the causal mask.",
            difference("mask off by one", "causal mask", FIRST),
            "accuracy, first half",
            0.2,
        ),
        Claim(
            "When the model writes the second half itself, it is less accurate without the mask than with the causal mask.",
            difference("causal mask", "no mask", WRITTEN),
            "accuracy lost, second half written by the model",
            0.1,
            about="condition",
        ),
        Claim(
            "When the model writes the second half itself, it is less accurate with a transposed mask than with the causal mask.",
            difference("causal mask", "transposed mask", WRITTEN),
            "accuracy lost, second half written by the model",
            0.1,
            about="condition",
        ),
        Claim(
            "When the model writes the second half itself, it is less accurate with a mask that is off by one than with the causal mask.",
            difference("causal mask", "mask off by one", WRITTEN),
            "accuracy lost, second half written by the model",
            0.1,
            about="condition",
        ),
        Claim(
            "With the causal mask, the model learns the second half: its accuracy there is far above chance.",
            above("causal mask", SECOND, CHANCE),
            "accuracy above chance, second half",
            0.8,
            about="remedy",
        ),
        Claim(
            "With the causal mask, the accuracy on the random first half stays within .05 of chance.",
            lambda values: 0.05 - abs(values("causal mask", FIRST) - CHANCE),
            "accuracy, distance to the limit of chance ± .05, first half",
            0.01,
            about="remedy",
        ),
        *(
            Claim(
                f"Under the causal mask, one layer with {label} is less accurate on the second half than one layer with a learned table.",
                difference("causal mask", f"causal mask, {label}", SECOND),
                "accuracy lost, second half",
                0.3,
                condition="one layer, causal mask",
                about="condition",
                extended=True,
            )
            for label in ("RoPE", "ALiBi", "no encoding")
        ),
    ),
    key_figure=KeyFigure(
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
        also=(3, 6),
    ),
    remedies=(
        "Before the real training, train on a task with a part that nobody can know, and look at the accuracy on that part.",
        "Use your library's own switch for causal attention instead of building the mask by hand.",
        "Write a test that changes a later token and checks that no earlier output changes.",
    ),
    notes=(
        "The accuracy on the second half is measured in two ways: the model reads the right symbols so far, or what it wrote itself.",
        "A model that copies the next symbol may have learned to reverse as well. When it writes its own answer, it then makes no "
        "mistakes. Seeds differ in this.",
    ),
    sources=(
        Source("Vaswani et al. 2017, Attention Is All You Need, section 3.2.3", "https://arxiv.org/abs/1706.03762"),
    ),
)
