"""shared-layers: are the dense layers different in each block, and what does it cost to use one block at every depth?"""

from engine.experiments.experiment import Arm, Claim, above, difference
from engine.experiments.issues.issue import Issue

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
    title="Are the dense layers different in each block?",
    summary=(
        "In an ordinary stack each block has dense layers and attention of its own. They can also be shared, one block used at "
        "every depth, for a fraction of the parameters; what that costs depends on whether depth or parameters were needed."
    ),
    mechanism=r"""
A stack computes $x_{l+1} = x_l + f_{\theta_l}(x_l)$. Ordinarily each $\theta_l$ is its own: the dense layers are the same at each
*position* but different in each *block*. Sharing sets $\theta_1 = \dots = \theta_L = \theta$, as in the Universal Transformer and
ALBERT: the stack becomes one map iterated, a recurrence over depth instead of time. Parameters fall from $L \cdot 8 d^2$ to
$8 d^2$, the computation stays. At the same number of parameters the shared block may be $\sqrt{L}$ times as wide, and then costs
$L$ times the computation. To see whether two blocks do the same, give both dense layers the same input $x$ and compare
$$\frac{\lVert f_i(x) - f_j(x) \rVert}{\sqrt{\lVert f_i(x) \rVert^2 + \lVert f_j(x) \rVert^2}},$$
which is 0 for equal functions and 1 for ones that have nothing in common.
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
            "After training, the dense layers of different blocks compute different things.",
            above(OWN, "dense_difference"),
            "relative difference (0 same, 1 nothing in common)",
            0.5,
            condition="4 layers, Markov source",
        ),
        Claim(
            "At the same depth, one shared block ends at a higher loss than own blocks.",
            difference(SHARED, OWN, "loss"),
            "nats, validation loss",
            0.05,
            condition="Markov source, 29 % of the parameters",
        ),
        Claim(
            "At the same number of parameters too, the shared block ends at a higher loss.",
            difference(WIDE, OWN, "loss"),
            "nats, validation loss",
            0.05,
            condition="Markov source, shared block twice as wide and four times the computation",
            about="condition",
        ),
        Claim(
            "Using the one block four times is better than using it once.",
            difference(SHARED, ONCE, "loss"),
            "nats, validation loss",
            0.05,
            "less",
            condition="Markov source, same parameters",
            about="condition",
        ),
        Claim(
            "On a task that one block can do, sharing costs accuracy.",
            difference(BACK_SHARED, BACK_OWN, "accuracy"),
            "accuracy",
            0.05,
            "less",
            condition="3 back",
            about="condition",
        ),
        Claim(
            "Sharing saves more than half of the parameters.",
            lambda values: 1 - values(SHARED, "parameters") / values(OWN, "parameters"),
            "share of the parameters",
            0.5,
            condition="4 layers",
            about="condition",
        ),
        Claim(
            "With few sequences the shared block has the smaller gap between validation and training loss.",
            difference(FEW_SHARED, FEW_OWN, "gap"),
            "nats",
            0.1,
            "less",
            condition="128 sequences",
            about="condition",
            extended=True,
        ),
        Claim(
            "Trained three times as long, the shared block still ends at a higher loss.",
            difference(LONG_SHARED, LONG_OWN, "loss"),
            "nats, validation loss",
            0.05,
            condition="Markov source, 360 steps",
            about="condition",
            extended=True,
        ),
    ),
    remedies=(
        "Own weights in each block are the default; share where memory for weights is what is scarce.",
        "When sharing, widen the block with the parameters saved, and expect to pay in computation.",
        "In between: share the attention or the dense layers only, or share among neighbouring blocks (Lan et al. 2020).",
    ),
    sources=(
        "Vaswani et al. 2017, Attention Is All You Need, section 3.3",
        "Dehghani et al. 2019, Universal Transformers, section 2",
        "Lan et al. 2020, ALBERT, section 3.1 and table 4",
    ),
    notes=(
        "Arms of one task train with the same learning rate and the same sequences, drawn fresh at every step. On the Markov source "
        "0.003, 0.005, 0.01 and 0.02 were tried on three seeds; the last is the best of them for every arm.",
        "Own blocks have 9,382 parameters, the wide shared one 9,510, the shared one and the single layer 2,710.",
        "Blocks with their own first weights differ before training as well; sharing makes the difference 0 by construction.",
    ),
)
