"""data-hunger: does self-attention need more data than a recurrent network; on which task, and up to where?"""

from functools import cache
from typing import Any

from engine.config.run_config import parse
from engine.estimate.matching import matched_width, n_parameters
from engine.experiments.experiment import Arm, Claim, Role, difference
from engine.experiments.issues.issue import Issue, Source
from engine.experiments.key_figure import KeyFigure, Row

BASE: dict[str, Any] = {
    "task": "dyck",
    "seq_len": 16,
    "d_model": 24,
    "n_heads": 2,
    "n_layers": 2,
    "d_ff": 96,
    "pos_encoding": "learned",
    "learning_rate": 0.005,
    "steps": 180,
    "device": "cpu",
}
DEPTHS = {"gru": 1, "lstm": 1, "cnn": 4}
"""The layers of each baseline; the CNN needs four to read 16 positions."""
LABELS = {"decoder": "transformer", "gru": "GRU", "lstm": "LSTM", "cnn": "dilated CNN"}
TASKS: dict[str, dict[str, Any]] = {
    "brackets": {"task": "dyck", "steps": 120},
    "recall": {"task": "recall", "vocab_size": 8},
    "parity": {"task": "parity", "seq_len": 8, "steps": 240},
}
SISTER_STEPS = 450


@cache
def _model(task: str, family: str) -> dict[str, Any]:
    """The settings of a model whose width gives it as many parameters as the transformer, to within 3 %."""
    if family == "decoder":
        return {}
    there, own = {**BASE, **TASKS[task]}, {"family": family, "n_layers": DEPTHS[family]}
    return {**own, "d_model": matched_width(parse({**there, **own}), n_parameters(parse(there)))}


def _name(task: str, family: str, size: int) -> str:
    return f"{task}, {LABELS[family]}, {size}"


def _arm(task: str, family: str, size: int, role: Role, *, extended: bool = False, **settings: Any) -> Arm:
    chosen = {**TASKS[task], **_model(task, family), "dataset_size": size, **settings}
    line = f"{task}, {LABELS[family]}"
    return Arm(_name(task, family, size), role, chosen, extended=extended, line=line, x=float(size))


def _pretrained(task: str, family: str, what: str, role: Role = "remedy", *, extended: bool = False) -> Arm:
    own = TASKS[task].get("steps", BASE["steps"])
    settings = {"dataset_size": 128, "pretrain_steps": SISTER_STEPS, "pretrain_on": what, "steps": SISTER_STEPS + own}
    name = f"{task}, {LABELS[family]}, 128, after {'a sister task' if what == 'sister' else 'next tokens'}"
    return Arm(name, role, {**TASKS[task], **_model(task, family), **settings}, extended=extended)


LIVE: dict[tuple[str, str, int], Role] = {
    ("brackets", "decoder", 32): "fault",
    ("brackets", "gru", 32): "control",
    ("recall", "decoder", 128): "fault",
    ("recall", "decoder", 512): "remedy",
    ("recall", "gru", 512): "control",
    ("parity", "decoder", 128): "fault",
    ("parity", "gru", 128): "control",
}
SIZES = (32, 128, 512, 2048)
CURVES = [
    (task, family, size)
    for task in TASKS
    for family in LABELS
    for size in SIZES
    if (task, family, size) not in LIVE and (family in ("decoder", "gru") or size in (32, 512))
]
LONG = SISTER_STEPS + BASE["steps"]

ISSUE = Issue(
    slug="data-hunger",
    group="attention",
    title="Does attention need more data?",
    summary=(
        "A recurrent network reads a sequence step by step and keeps a state; attention may look at every place at once and has to learn "
        "where to look. Here both train on few sequences and on more, in three tasks, and we measure how well they answer new ones."
    ),
    mechanism=r"""
A recurrent network such as a GRU computes $h_t = f(h_{t-1}, x_t)$. Here $x_t$ is the token at position $t$ and $h_t$ is the state after
it. The same function $f$ works at every position, so every position of every sequence is an example for it. A rule that updates a small
state at each step has just this form. The number of open brackets is such a state.

Attention computes $z_i = \sum_j \alpha_{ij} v_j$ at position $i$. This is a weighted mean of the values $v_j$ of *all* positions that it
may read, and the model must learn the weights $\alpha_{ij}$. A count that may not fall below 0 or rise above 4 is no such mean. The model
has to put it together from several parts, for one position after another.

For a *look-up* the two change places. Attention compares a query with all keys at once. The recurrent network has to keep all pairs of
key and value in its state of $d$ numbers until the question comes. A form that suits a task can save examples (an *inductive bias*).
How many it saves, and on which task, has to be measured.
""",
    base=BASE,
    arms=(
        *(_arm(*key, role) for key, role in LIVE.items()),
        _pretrained("recall", "decoder", "sister"),
        *(_arm(*key, "comparison", extended=True) for key in CURVES),
        _pretrained("recall", "gru", "sister", "comparison", extended=True),
        _pretrained("recall", "decoder", "next_token", "comparison", extended=True),
        _pretrained("brackets", "decoder", "sister", "comparison", extended=True),
        _pretrained("brackets", "decoder", "next_token", "comparison", extended=True),
        Arm(
            f"recall, transformer, 128, {LONG} steps", "comparison",
            {**TASKS["recall"], "dataset_size": 128, "steps": LONG}, extended=True,
        ),
        Arm(
            "brackets, transformer, 128, as many steps", "comparison",
            {**TASKS["brackets"], "dataset_size": 128, "steps": SISTER_STEPS + 120}, extended=True,
        ),
    ),
    claims=(
        Claim(
            "From 32 training sequences, a GRU learns to count open brackets better than a transformer with as many parameters.",
            difference(_name("brackets", "gru", 32), _name("brackets", "decoder", 32), "accuracy"),
            "accuracy (GRU minus transformer)",
            0.05,
            condition="bracket depth, 32 training sequences",
        ),
        Claim(
            "From 512 training sequences, a transformer learns associative recall, a look-up, better than a GRU with as many parameters.",
            difference(_name("recall", "decoder", 512), _name("recall", "gru", 512), "accuracy"),
            "accuracy (transformer minus GRU)",
            0.1,
            condition="associative recall, 512 training sequences",
            about="condition",
        ),
        Claim(
            "A transformer learns associative recall better from 512 training sequences than from 128.",
            difference(_name("recall", "decoder", 512), _name("recall", "decoder", 128), "accuracy"),
            "accuracy (512 minus 128 sequences)",
            0.1,
            condition="associative recall",
            about="remedy",
        ),
        Claim(
            "From 128 training sequences, a GRU learns the parity of eight bits better than a transformer with as many parameters.",
            difference(_name("parity", "gru", 128), _name("parity", "decoder", 128), "accuracy"),
            "accuracy (GRU minus transformer)",
            0.2,
            condition="parity of 8 bits, 128 training sequences",
            about="condition",
        ),
        Claim(
            "On parity, a transformer ends with a higher loss on its own 128 training sequences than a GRU with as many parameters.",
            difference(_name("parity", "decoder", 128), _name("parity", "gru", 128), "train_loss"),
            "nats, training loss (transformer minus GRU)",
            0.1,
            condition="parity of 8 bits, 128 training sequences",
            about="condition",
        ),
        Claim(
            "On associative recall, a transformer is more accurate after a sister task (same rule, other symbols) than without it.",
            difference(
                "recall, transformer, 128, after a sister task", _name("recall", "decoder", 128), "accuracy"
            ),
            "accuracy (after the sister task minus without it)",
            0.1,
            condition="associative recall, 128 sequences",
            about="remedy",
        ),
        Claim(
            "On associative recall, a transformer is more accurate after a sister task than after as many steps on its own task alone.",
            difference(
                "recall, transformer, 128, after a sister task", f"recall, transformer, 128, {LONG} steps", "accuracy"
            ),
            "accuracy (after the sister task minus as many steps without it)",
            0.1,
            condition="associative recall, 128 sequences",
            about="remedy",
            extended=True,
        ),
        Claim(
            "On associative recall, a transformer is more accurate after a sister task than after learning to name next tokens.",
            difference(
                "recall, transformer, 128, after a sister task", "recall, transformer, 128, after next tokens", "accuracy"
            ),
            "accuracy (sister task minus next tokens)",
            0.1,
            condition="associative recall, 128 training sequences",
            about="remedy",
            extended=True,
        ),
        Claim(
            "On associative recall, the sister task raises the accuracy of the transformer more than the accuracy of the GRU.",
            lambda values: (
                values("recall, transformer, 128, after a sister task", "accuracy")
                - values(_name("recall", "decoder", 128), "accuracy")
                - values("recall, GRU, 128, after a sister task", "accuracy")
                + values(_name("recall", "gru", 128), "accuracy")
            ),
            "accuracy gained (transformer minus GRU)",
            0.1,
            condition="associative recall, 128 training sequences",
            about="remedy",
            extended=True,
        ),
        Claim(
            "On brackets, a transformer is more accurate after as many steps on its own task alone than after a sister task.",
            difference(
                "brackets, transformer, 128, as many steps", "brackets, transformer, 128, after a sister task", "accuracy"
            ),
            "accuracy (as many steps minus after the sister task)",
            0.02,
            condition="bracket depth, 128 training sequences",
            about="remedy",
            extended=True,
        ),
    ),
    key_figure=KeyFigure(
        sample="( ( ) ( → 1 2 1 2: how many brackets are open",
        question=(
            "With 32 training sequences and as many parameters, use a GRU in place of the transformer: what happens to the accuracy?"
        ),
        answers=("It falls", "It stays", "It rises"),
        quantity="Accuracy on new sequences",
        subject="accuracy",
        change="With a GRU in place of the transformer",
        before=Row("brackets, transformer, 32 sequences", _name("brackets", "decoder", 32), "accuracy"),
        after=Row("brackets, GRU, 32 sequences", _name("brackets", "gru", 32), "accuracy"),
        others=(
            Row("recall, transformer, 128 sequences", _name("recall", "decoder", 128), "accuracy"),
            Row("recall, transformer, 128 and a sister task", "recall, transformer, 128, after a sister task", "accuracy"),
            Row("recall, transformer, 512 sequences", _name("recall", "decoder", 512), "accuracy"),
            Row("recall, GRU, 512 sequences", _name("recall", "gru", 512), "accuracy"),
        ),
        remedy="With few sequences and a running count, take a recurrent network.",
        also=(1, 3),
    ),
    remedies=(
        "Train first on plenty of related sequences, then on the few sequences of the task itself (fine-tuning).",
        "Build nearness into the model: relative positions, local windows, or a convolution or a recurrent layer among the blocks.",
        "Where sequences are few and the answer follows a running state, use a recurrent or a convolutional network instead.",
    ),
    sources=(
        Source(
            "Ezen-Can 2020, A Comparison of LSTM and BERT for Small Corpus: recurrence ahead on a small data set",
            "https://arxiv.org/abs/2009.05451",
        ),
        Source(
            "Tran et al. 2018, The Importance of Being Recurrent for Modeling Hierarchical Structure",
            "https://arxiv.org/abs/1803.03585",
        ),
        Source(
            "Bhattamishra et al. 2020, On the Ability and Limitations of Transformers to Recognize Formal Languages",
            "https://arxiv.org/abs/2009.11264",
        ),
        Source(
            "Hahn 2020, Theoretical Limitations of Self-Attention in Neural Sequence Models: parity",
            "https://arxiv.org/abs/1906.06755",
        ),
        Source(
            "Dosovitskiy et al. 2021, An Image is Worth 16x16 Words, section 4.3: attention overtakes convolution with more data",
            "https://arxiv.org/abs/2010.11929",
        ),
        Source(
            "Arora et al. 2024, Zoology: Measuring and Improving Recall in Efficient Language Models",
            "https://arxiv.org/abs/2312.04927",
        ),
    ),
    x_label="Training sequences",
    notes=(
        "In each task all models have the transformer's number of parameters to within 3 %. They see the same sequences for as many steps.",
        "Accuracy is measured on sequences that were never trained on.",
        "Bracket depth is counted from 0 to 4: a closing bracket at 0 and an opening bracket at 4 change nothing.",
        "Associative recall shows pairs of a key and a value and then asks for the value of one key. Parity asks whether the number of "
        "ones is odd.",
        "On parity, learning by heart can give an accuracy below one half: the trained sequences most like a new one differ from it in "
        "one bit and so have the other answer.",
        "The sister task has symbols of its own for questions and answers. Its sequences are drawn afresh at each step.",
    ),
)  # fmt: skip
