"""overfitting-depth: more layers than the data needs learn the training sequences by heart."""

from engine.experiments.experiment import Arm, Claim, difference
from engine.experiments.issues.issue import Issue

FEW, MANY = 128, 1024
DEEP, SHALLOW = f"6 layers, {FEW} sequences", f"1 layer, {FEW} sequences"
DEEP_MANY, SHALLOW_MANY = f"6 layers, {MANY} sequences", f"1 layer, {MANY} sequences"
DROPOUT, DECAY, NOISE = "dropout 0.2", "weight decay 1", "a fifth of the answers wrong"
WIDE = {"d_model": 32, "n_heads": 4, "dataset_size": 32}
WIDE_DEEP, WIDE_SHALLOW = "6 layers, width 32, 32 sequences", "1 layer, width 32, 32 sequences"


def _deep(**settings: object) -> dict[str, object]:
    return {"n_layers": 6, "dataset_size": FEW, **settings}


def _line(n: int, depth: int, role: str = "comparison", extended: bool = False) -> Arm:
    name = f"{depth} layer{'s' if depth > 1 else ''}, {n} sequences"
    settings = {"n_layers": depth, "dataset_size": n}
    return Arm(name, role, settings, "gap", extended=extended, line=f"{n} sequences", x=depth)  # type: ignore[arg-type]


ISSUE = Issue(
    slug="overfitting-depth",
    group="depth",
    title="More layers than the data needs",
    summary=(
        "With few training sequences a deeper model fits them better and new sequences worse: the gap between training and "
        "validation loss grows with depth. More data, or holding the model back, closes it."
    ),
    mechanism=r"""
The sequences come from a source in which the next symbol depends on the last two only, $p(x_t \mid x_{t-2}, x_{t-1})$. Its entropy
rate $H = -\sum_{a,b} \pi_{ab} \sum_c p(c \mid a, b) \ln p(c \mid a, b)$ is the lowest loss any model can reach on new sequences.
A training loss below $H$ is therefore memory, not knowledge. Each block adds about $8 d^2$ parameters (attention $4 d^2$, MLP
$2 d\, d_{ff}$ with $d_{ff} = 2d$), and with them more ways to tell one training sequence from another; the gap
$$L_\text{validation} - L_\text{training}$$
measures what was only memorised. It grows along training, so *when* one stops matters as much as how deep one builds.
""",
    base={
        "task": "markov",
        "vocab_size": 6,
        "dirichlet_alpha": 0.2,
        "seq_len": 16,
        "d_model": 16,
        "n_heads": 2,
        "learning_rate": 0.01,
        "batch_size": 64,
        "steps": 100,
    },
    arms=(
        _line(FEW, 6, "fault"),
        _line(FEW, 1, "control"),
        _line(FEW, 3),
        _line(MANY, 1),
        _line(MANY, 6, "remedy"),
        Arm(DROPOUT, "remedy", _deep(dropout=0.2), "loss"),
        Arm(DECAY, "remedy", _deep(weight_decay=1.0), "loss"),
        _line(MANY, 3, extended=True),
        *(_line(512, depth, extended=True) for depth in (1, 3, 6)),
        *(_line(32, depth, extended=True) for depth in (1, 3, 6)),
        Arm(NOISE, "comparison", _deep(label_noise=0.2), "loss", extended=True),
        Arm(f"{NOISE}, 1 layer", "comparison", _deep(label_noise=0.2, n_layers=1), "loss", extended=True),
        Arm(
            WIDE_SHALLOW,
            "comparison",
            {**WIDE, "n_layers": 1},
            "gap",
            extended=True,
            line="32 sequences, width 32",
            x=1,
        ),
        Arm(WIDE_DEEP, "comparison", {**WIDE, "n_layers": 6}, "gap", extended=True, line="32 sequences, width 32", x=6),
    ),
    claims=(
        Claim(
            "The gap between validation and training loss is larger with six layers than with one.",
            difference(DEEP, SHALLOW, "gap"),
            "nats",
            0.2,
            condition=f"at {FEW} sequences",
        ),
        Claim(
            "On new sequences the deeper model ends up worse.",
            difference(DEEP, SHALLOW, "loss"),
            "nats, validation loss",
            0.1,
            condition=f"at {FEW} sequences",
        ),
        Claim(
            "With eight times the data depth still widens the gap.",
            difference(DEEP_MANY, SHALLOW_MANY, "gap"),
            "nats",
            0.2,
            condition=f"at {MANY} sequences",
            about="condition",
        ),
        Claim(
            "Even stopped at its best moment, the deeper model is worse.",
            difference(DEEP, SHALLOW, "best_loss"),
            "nats, best validation loss",
            0.1,
            condition=f"at {FEW} sequences, early stopping",
            about="condition",
        ),
        Claim(
            "More data lowers the deep model's validation loss.",
            difference(DEEP_MANY, DEEP, "loss"),
            "nats, validation loss",
            0.1,
            "less",
            about="remedy",
        ),
        Claim(
            "Stopping early lowers the deep model's validation loss.",
            lambda values: values(DEEP, "best_loss") - values(DEEP, "loss"),
            "nats, validation loss",
            0.1,
            "less",
            about="remedy",
        ),
        Claim(
            "Dropout lowers the deep model's validation loss.",
            difference(DROPOUT, DEEP, "loss"),
            "nats, validation loss",
            0.1,
            "less",
            about="remedy",
        ),
        Claim(
            "Weight decay lowers the deep model's validation loss.",
            difference(DECAY, DEEP, "loss"),
            "nats, validation loss",
            0.1,
            "less",
            about="remedy",
        ),
        Claim(
            "Wrong answers in the training data make depth hurt more.",
            lambda values: (
                (values(NOISE, "loss") - values(f"{NOISE}, 1 layer", "loss"))
                - (values(DEEP, "loss") - values(SHALLOW, "loss"))
            ),
            "nats, validation loss",
            0.1,
            condition="a fifth of the answers random",
            about="condition",
            extended=True,
        ),
        Claim(
            "A wider model on very little data also gains gap with depth.",
            difference(WIDE_DEEP, WIDE_SHALLOW, "gap"),
            "nats",
            0.2,
            condition="width 32, 32 sequences: one layer can memorise them already",
            about="condition",
            extended=True,
        ),
    ),
    remedies=(
        "Get more data first: it can lower the best loss one can reach, and not only the gap.",
        "Watch the validation loss and keep the weights of its best moment.",
        "Dropout and decoupled weight decay hold a deep model back; tune them on validation data, not by taste.",
    ),
    sources=(
        "Zhang et al. 2017, Understanding Deep Learning Requires Rethinking Generalization, section 2",
        "Hestness et al. 2017, Deep Learning Scaling Is Predictable, Empirically",
        "Loshchilov and Hutter 2019, Decoupled Weight Decay Regularization",
    ),
    x_label="Layers",
    notes=(
        "All seeds share one source; a seed draws its own training and validation sequences and first weights.",
        "The training loss is measured on the training batches, with dropout on and with the answers as given, so remedies are "
        "weighed by the validation loss and not by the gap.",
        "Early stopping looks at the validation sequences themselves and is a little flattered by that.",
    ),
    evaluations=20,
)
