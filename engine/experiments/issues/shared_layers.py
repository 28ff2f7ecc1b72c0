"""shared-layers: are the MLPs different in each block, and what does it cost to use one block at every depth?"""

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue, Source
from engine.experiments.key_figure import KeyFigure, Row

OWN, SHARED, WIDE, ONCE = (
    "own block at each depth",
    "one block at 4 depths",
    "one wide block at 4 depths",
    "one block, once",
)
BACK_OWN, BACK_SHARED = "3 back, own blocks", "3 back, one block"
FEW_OWN, FEW_SHARED = "128 sequences, own blocks", "128 sequences, one block"
LONG_OWN, LONG_SHARED = "three times as long, own blocks", "three times as long, one block"
SOURCE = {"vocab_size": 6, "dirichlet_alpha": 0.2}
SHARE = {"share_layers": True}
TWICE_AS_WIDE = {"d_model": 32, "n_heads": 4}
BACK = {"task": "k_back", "k": 3, "vocab_size": 10, "learning_rate": 0.01}
DIFFERENCE = ("dense_difference",)

ISSUE = Issue(
    slug="shared-layers",
    group="depth",
    title="Does every block need its own weights?",
    summary=(
        "In a usual transformer every block has attention and an MLP with weights of its own. Here one block is used at every depth, "
        "which needs fewer parameters, and we measure what this costs and whether the MLPs of different blocks do different things."
    ),
    mechanism=r"""
A stack of $L$ blocks computes $x_{l+1} = x_l + f_{\theta_l}(x_l)$, where $x_l$ is the input of block $l$ and $\theta_l$ are its weights.
Usually each block has its own $\theta_l$: the MLP is the same at each *position* but different in each *block*. Sharing sets
$\theta_1 = \dots = \theta_L = \theta$, as in the Universal Transformer and in ALBERT. The stack then repeats one function, like a
recurrent network whose steps are the depths and not the positions.

Sharing changes the number of parameters from about $L \cdot 8 d^2$ to $8 d^2$, where $d$ is the width of the model. The computation
stays the same. With as many parameters as the $L$ blocks together, the shared block can be $\sqrt{L}$ times as wide, and then it takes
$L$ times the computation.

To see whether the MLPs $f_i$ and $f_j$ of two blocks do the same, we give both the same input $x$ and compute
$$\frac{\lVert f_i(x) - f_j(x) \rVert}{\sqrt{\lVert f_i(x) \rVert^2 + \lVert f_j(x) \rVert^2}}.$$
This relative difference is 0 for equal outputs and 1 for outputs at right angles, as unrelated functions have them.
""",
    base={
        "task": "markov",
        "seq_len": 16,
        "n_layers": 4,
        "n_heads": 2,
        "d_model": 16,
        "learning_rate": 0.02,
        "batch_size": 64,
        "steps": 120,
    },
    arms=(
        Arm(OWN, "comparison", SOURCE, "loss", DIFFERENCE),
        Arm(SHARED, "comparison", {**SOURCE, **SHARE}, "loss", DIFFERENCE),
        Arm(WIDE, "comparison", {**SOURCE, **SHARE, **TWICE_AS_WIDE}, "loss"),
        Arm(ONCE, "comparison", {**SOURCE, "n_layers": 1}, "loss"),
        Arm(BACK_OWN, "comparison", BACK),
        Arm(BACK_SHARED, "comparison", {**BACK, **SHARE}),
        Arm(FEW_OWN, "comparison", {**SOURCE, "dataset_size": 128}, "gap", extended=True),
        Arm(FEW_SHARED, "comparison", {**SOURCE, **SHARE, "dataset_size": 128}, "gap", extended=True),
        Arm(LONG_OWN, "comparison", {**SOURCE, "steps": 360}, "loss", DIFFERENCE, extended=True),
        Arm(LONG_SHARED, "comparison", {**SOURCE, **SHARE, "steps": 360}, "loss", extended=True),
    ),
    claims=(
        Claim(
            "After training, the MLPs of different blocks give different outputs for the same input.",
            above(OWN, "dense_difference"),
            "relative difference (0: the same, 1: unrelated)",
            0.5,
            condition="4 blocks, Markov source",
        ),
        Claim(
            "One block used at all four depths ends with a higher loss on new sequences than four blocks with weights of their own.",
            difference(SHARED, OWN, "loss"),
            "nats, validation loss",
            0.05,
            condition="Markov source; the shared block has 29 % of the parameters",
        ),
        Claim(
            "One wide block used at all four depths ends with a higher loss on new sequences than four blocks with as many parameters.",
            difference(WIDE, OWN, "loss"),
            "nats, validation loss",
            0.05,
            condition="Markov source; the shared block is twice as wide and takes four times the computation",
            about="condition",
        ),
        Claim(
            "One block used four times in a row ends with a lower loss on new sequences than one block used once.",
            difference(SHARED, ONCE, "loss"),
            "nats, validation loss",
            0.05,
            "less",
            condition="Markov source, the same number of parameters",
            about="condition",
        ),
        Claim(
            "On the task 3 back, one block used at all four depths is less accurate than four blocks with weights of their own.",
            difference(BACK_SHARED, BACK_OWN, "accuracy"),
            "accuracy",
            0.05,
            "less",
            about="condition",
        ),
        Claim(
            "One block used at all four depths saves more than half of the parameters of four blocks.",
            lambda values: 1 - values(SHARED, "parameters") / values(OWN, "parameters"),
            "share of the parameters",
            0.5,
            about="condition",
        ),
        Claim(
            "With 128 training sequences, one shared block has a smaller gap between validation and training loss than four own blocks.",
            difference(FEW_SHARED, FEW_OWN, "gap"),
            "nats",
            0.1,
            "less",
            condition="Markov source",
            about="condition",
            extended=True,
        ),
        Claim(
            "After three times as many steps, one block used at all four depths still ends with a higher loss than four own blocks.",
            difference(LONG_SHARED, LONG_OWN, "loss"),
            "nats, validation loss",
            0.05,
            condition="Markov source, 360 steps",
            about="condition",
            extended=True,
        ),
    ),
    key_figure=KeyFigure(
        claim=1,
        sample="reads 5 5 2 4, must write · 2 4 5: the next symbol",
        question="Use one block at all four depths in place of four own blocks: what happens to the loss on new sequences?",
        answers=("It falls", "It stays", "It rises"),
        quantity="Loss on new sequences (nats)",
        subject="the loss on new sequences",
        change="With one block at all four depths",
        before=Row("four own blocks", OWN, "loss"),
        after=Row("one block at four depths", SHARED, "loss"),
        others=(Row("one wide block at four depths", WIDE, "loss"), Row("one block, used once", ONCE, "loss")),
        remedy="Give each block its own weights, or make the shared block wider.",
        unit="nats",
        also=(1, 3),
    ),
    remedies=(
        "Give each block its own weights. Share weights only where the memory for them is scarce.",
        "If you share a block, make it wider with the parameters that you saved, and expect to pay for this in computation.",
        "Between the two, you can share only the attention or only the MLP, or share among neighbouring blocks (Lan et al. 2020).",
    ),
    sources=(
        Source("Vaswani et al. 2017, Attention Is All You Need, section 3.3", "https://arxiv.org/abs/1706.03762"),
        Source("Dehghani et al. 2019, Universal Transformers, section 2", "https://arxiv.org/abs/1807.03819"),
        Source("Lan et al. 2020, ALBERT, section 3.1 and table 4", "https://arxiv.org/abs/1909.11942"),
    ),
    notes=(
        "All models of one task train with the same learning rate and on the same sequences, drawn afresh at every step. On the Markov "
        "source the learning rates 0.003, 0.005, 0.01 and 0.02 were tried on three seeds; 0.02 was the best for every model.",
        "The four own blocks have 9,382 parameters with embedding and head. The wide shared block has 9,510; the shared block and the "
        "single block have 2,710.",
        "The MLPs of own blocks differ before training too, because each starts with random weights of its own. With one shared block "
        "the difference is always 0.",
    ),
)
