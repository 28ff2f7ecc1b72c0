"""overfitting-depth: do more layers learn the training sequences by heart?"""

from engine.experiments.experiment import Arm, Claim, difference
from engine.experiments.issues.issue import Issue, Source
from engine.experiments.key_figure import KeyFigure, Row

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
    title="Do more layers overfit more?",
    summary=(
        "A model overfits when it learns its training sequences by heart and does worse on new sequences. Here models of one to six "
        "layers train on few sequences and on many, and we measure how far the two losses lie apart."
    ),
    mechanism=r"""
The sequences come from a random source with a fixed table. The table says how probable each next symbol $x_t$ is after the two
symbols before it, $p(x_t \mid x_{t-2}, x_{t-1})$. Because the next symbol is random, no model can be sure of it. The lowest loss
that any model can reach on new sequences is the entropy rate of the source,
$$H = -\sum_{a,b} \pi_{ab} \sum_c p(c \mid a, b) \ln p(c \mid a, b).$$
Here $a$, $b$ and $c$ are symbols, and $\pi_{ab}$ is how often $b$ follows $a$. A training loss well below $H$ shows that
training sequences were learned by heart.

Each block adds about $8 d^2$ parameters, where $d$ is the width of the model: $4 d^2$ in the attention, and $2 d\, d_{ff} = 4 d^2$
in an MLP with $d_{ff} = 2d$ hidden units. More parameters give the model more ways to tell one training sequence from another. The gap
$$L_\text{validation} - L_\text{training}$$
measures how much of what was learned helps on the training sequences only. This gap grows while training goes on. The moment at
which training stops therefore matters as well as the number of layers.
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
            "With 128 training sequences, the gap between validation loss and training loss is larger with six layers than with one.",
            difference(DEEP, SHALLOW, "gap"),
            "nats",
            0.2,
            condition=f"{FEW} training sequences",
        ),
        Claim(
            "With 128 training sequences, a model of six layers ends with a higher loss on new sequences than a model of one layer.",
            difference(DEEP, SHALLOW, "loss"),
            "nats, validation loss",
            0.1,
            condition=f"{FEW} training sequences",
        ),
        Claim(
            "With 1,024 training sequences too, the gap between validation and training loss is larger with six layers than with one.",
            difference(DEEP_MANY, SHALLOW_MANY, "gap"),
            "nats",
            0.2,
            condition=f"{MANY:,} training sequences",
            about="condition",
        ),
        Claim(
            "Where each model is stopped at its lowest validation loss, six layers are still worse on new sequences than one layer.",
            difference(DEEP, SHALLOW, "best_loss"),
            "nats, lowest validation loss",
            0.1,
            condition=f"{FEW} training sequences, early stopping",
            about="condition",
        ),
        Claim(
            "A model of six layers ends with a lower validation loss after training on 1,024 sequences than on 128.",
            difference(DEEP_MANY, DEEP, "loss"),
            "nats, validation loss",
            0.1,
            "less",
            about="remedy",
        ),
        Claim(
            "A model of six layers has a lower validation loss at its best moment (early stopping) than at the end of training.",
            lambda values: values(DEEP, "best_loss") - values(DEEP, "loss"),
            "nats, validation loss",
            0.1,
            "less",
            condition=f"{FEW} training sequences",
            about="remedy",
        ),
        Claim(
            "Dropout of 0.2 lowers the validation loss of a model of six layers.",
            difference(DROPOUT, DEEP, "loss"),
            "nats, validation loss",
            0.1,
            "less",
            condition=f"{FEW} training sequences",
            about="remedy",
        ),
        Claim(
            "Weight decay of 1 lowers the validation loss of a model of six layers.",
            difference(DECAY, DEEP, "loss"),
            "nats, validation loss",
            0.1,
            "less",
            condition=f"{FEW} training sequences",
            about="remedy",
        ),
        Claim(
            "Going from one layer to six raises the validation loss more where some training answers are wrong than where all are right.",
            lambda values: (
                (values(NOISE, "loss") - values(f"{NOISE}, 1 layer", "loss"))
                - (values(DEEP, "loss") - values(SHALLOW, "loss"))
            ),
            "nats, validation loss",
            0.1,
            condition=f"{FEW} training sequences; a fifth of their answers replaced by random ones",
            about="condition",
            extended=True,
        ),
        Claim(
            "In a wider model with 32 training sequences, the gap between the losses is also larger with six layers than with one.",
            difference(WIDE_DEEP, WIDE_SHALLOW, "gap"),
            "nats",
            0.2,
            condition="width 32; one layer can already learn the 32 sequences by heart",
            about="condition",
            extended=True,
        ),
    ),
    key_figure=KeyFigure(
        sample="reads 5 5 2 4, must write · 2 4 5: the next symbol",
        question=(
            "With 128 training sequences, go from one layer to six: what happens to the gap between validation loss and training loss?"
        ),
        answers=("It shrinks", "It stays", "It grows"),
        quantity="Validation loss minus training loss (nats)",
        subject="the gap between validation loss and training loss",
        change="With six layers instead of one",
        before=Row("1 layer, 128 sequences", SHALLOW, "gap"),
        after=Row("6 layers, 128 sequences", DEEP, "gap"),
        others=(
            Row("3 layers, 128 sequences", f"3 layers, {FEW} sequences", "gap"),
            Row("1 layer, 1,024 sequences", SHALLOW_MANY, "gap"),
            Row("6 layers, 1,024 sequences", DEEP_MANY, "gap"),
        ),
        remedy="Train on more sequences, or keep the weights from the moment of the lowest validation loss.",
        unit="nats",
        also=(2, 3),
    ),
    remedies=(
        "Get more data first. More data can lower the best loss that a model reaches, and not only the gap.",
        "Watch the validation loss during training, and keep the weights from the moment at which it is lowest (early stopping).",
        "Hold a deep model back with dropout or with decoupled weight decay. Choose their strength on validation data.",
    ),
    sources=(
        Source(
            "Zhang et al. 2017, Understanding Deep Learning Requires Rethinking Generalization, section 2",
            "https://arxiv.org/abs/1611.03530",
        ),
        Source(
            "Hestness et al. 2017, Deep Learning Scaling Is Predictable, Empirically",
            "https://arxiv.org/abs/1712.00409",
        ),
        Source(
            "Srivastava et al. 2014, Dropout: A Simple Way to Prevent Neural Networks from Overfitting",
            "https://jmlr.org/papers/v15/srivastava14a.html",
        ),
        Source("Loshchilov and Hutter 2019, Decoupled Weight Decay Regularization", "https://arxiv.org/abs/1711.05101"),
    ),
    x_label="Layers",
    notes=(
        "All seeds share one source. Each seed draws its own training sequences, validation sequences and first weights.",
        "The training loss is measured on the training batches, with dropout switched on and with the answers as the model was given "
        "them. Remedies are therefore compared by the validation loss and not by the gap.",
        "Early stopping picks its moment on the same validation sequences that measure the loss, so it looks a little too good.",
    ),
    evaluations=20,
)
