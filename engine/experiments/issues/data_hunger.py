"""data-hunger: self-attention needs more data than a recurrent network; on which task, and up to where."""

from functools import cache
from typing import Any

from engine.config.run_config import parse
from engine.estimate.matching import matched_width, n_parameters
from engine.experiments.experiment import Arm, Claim, Role, difference
from engine.experiments.issues.issue import Issue

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
    title="Attention needs more data than recurrence",
    summary=(
        "Self-attention starts with no notion of order or nearness and has to learn them from examples, so it needs more of them"
        " than a recurrent network, whose very form says: go through the sequence and keep a state."
    ),
    mechanism=r"""
A recurrent network computes $h_t = f(h_{t-1}, x_t)$: whatever can be done by a small state moving along the sequence it finds from few
examples, since the same $f$ serves every position. Attention computes $\sum_j \alpha_{ij} v_j$, a weighted mean over *all* positions whose
weights it must learn; a running count, clipped at each step, has no such form and is pieced together from position after position.
Where the answer is a *look-up*, it is the other way round: attention compares a query with every key at once, while the recurrent state
of $d$ numbers has to hold all pairs until it is asked.
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
            "From few sequences a GRU learns to count brackets better than a transformer of as many parameters.",
            difference(_name("brackets", "gru", 32), _name("brackets", "decoder", 32), "accuracy"),
            "accuracy (GRU less transformer)",
            0.05,
            condition="bracket depth, 32 sequences",
        ),
        Claim(
            "With more sequences the transformer overtakes the GRU where the answer is a look-up.",
            difference(_name("recall", "decoder", 512), _name("recall", "gru", 512), "accuracy"),
            "accuracy (transformer less GRU)",
            0.1,
            condition="associative recall, 512 sequences",
            about="condition",
        ),
        Claim(
            "More sequences mend it.",
            difference(_name("recall", "decoder", 512), _name("recall", "decoder", 128), "accuracy"),
            "accuracy (512 less 128 sequences)",
            0.1,
            condition="associative recall",
            about="remedy",
        ),
        Claim(
            "On parity the transformer fails where the GRU learns.",
            difference(_name("parity", "gru", 128), _name("parity", "decoder", 128), "accuracy"),
            "accuracy (GRU less transformer)",
            0.2,
            condition="8 bits, 128 sequences",
            about="condition",
        ),
        Claim(
            "There it is not only data: the transformer does not even fit the parity of its training sequences.",
            difference(_name("parity", "decoder", 128), _name("parity", "gru", 128), "train_loss"),
            "training loss in nats (transformer less GRU)",
            0.1,
            condition="8 bits, 128 sequences",
            about="condition",
        ),
        Claim(
            "Training on a sister task first (same rule, other symbols) makes up for few sequences.",
            difference(
                "recall, transformer, 128, after a sister task", _name("recall", "decoder", 128), "accuracy"
            ),
            "accuracy (pre-trained less from scratch)",
            0.1,
            condition="associative recall, 128 sequences",
            about="remedy",
        ),
        Claim(
            "Training as long from scratch does not.",
            difference(
                "recall, transformer, 128, after a sister task", f"recall, transformer, 128, {LONG} steps", "accuracy"
            ),
            "accuracy (pre-trained less as many steps from scratch)",
            0.1,
            condition="associative recall, 128 sequences",
            about="remedy",
            extended=True,
        ),
        Claim(
            "Pre-training on next tokens, without labels, helps less than the sister task.",
            difference(
                "recall, transformer, 128, after a sister task", "recall, transformer, 128, after next tokens", "accuracy"
            ),
            "accuracy (sister task less next tokens)",
            0.1,
            about="remedy",
            extended=True,
        ),
        Claim(
            "The GRU gains less from the sister task than the transformer.",
            lambda values: (
                values("recall, transformer, 128, after a sister task", "accuracy")
                - values(_name("recall", "decoder", 128), "accuracy")
                - values("recall, GRU, 128, after a sister task", "accuracy")
                + values(_name("recall", "gru", 128), "accuracy")
            ),
            "gain in accuracy (transformer less GRU)",
            0.1,
            about="remedy",
            extended=True,
        ),
        Claim(
            "On brackets the sister task helps no more than as much more training does.",
            difference(
                "brackets, transformer, 128, as many steps", "brackets, transformer, 128, after a sister task", "accuracy"
            ),
            "accuracy (longer training less pre-trained)",
            0.02,
            about="remedy",
            extended=True,
        ),
    ),
    remedies=(
        "Pre-train on plenty of related sequences, then fine-tune on the few that are labelled.",
        "Put the notion of nearness back: relative positions, local windows, a convolution or a recurrent layer among the blocks.",
        "With few sequences and a running state to follow, use a recurrent or convolutional network instead.",
    ),
    sources=(
        "Hahn 2020, Theoretical Limitations of Self-Attention in Neural Sequence Models",
        "Bhattamishra et al. 2020, On the Ability and Limitations of Transformers to Recognize Formal Languages",
        "Dosovitskiy et al. 2021, An Image is Worth 16x16 Words, section 4.3: attention overtakes convolution with more data",
        "Arora et al. 2024, Zoology: Measuring and Improving Recall in Efficient Language Models",
    ),
    x_label="Training sequences",
    notes=(
        "All models have the transformer's number of parameters to within 3 %, and see the same sequences for as many steps.",
        "Accuracy is on sequences that were never trained on, with fresh answers.",
        "The sister task has its own symbols, for question and answer, drawn afresh at each step.",
    ),
)  # fmt: skip
