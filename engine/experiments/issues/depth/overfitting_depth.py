from typing import Any

from engine.estimate.matching import matched_width
from engine.experiments.experiment import Arm, Claim, Role, above, difference, once_learned, rise
from engine.experiments.issues.issue import read_issue

FEW, MANY = 256, 1024
DEEP, SHALLOW = f"6 layers, {FEW} sequences", f"1 layer, {FEW} sequences"
DEEP_MANY, SHALLOW_MANY = f"6 layers, {MANY} sequences", f"1 layer, {MANY} sequences"
DROPOUT, DECAY, NOISE = "dropout 0.2", "weight decay 1", "a fifth of the answers wrong"
WIDE_DEEP, WIDE_SHALLOW = "6 layers, width 32, 32 sequences", "1 layer, width 32, 32 sequences"
EQUAL = f"1 wider layer, {FEW} sequences"
# The highest training loss of a model that has learned, in nats: half way from the best that one symbol back can give, 1.51, to
# the floor, .97. A model that has not learned has a small gap, too.
LEARNED_LOSS = 1.25
LEARNED_TEXT = 2.5  # the same on a text, whose commonest characters alone give 3.3 nats
DEEP_SLOW, SHALLOW_SLOW = f"{DEEP}, rate .01", f"{SHALLOW}, rate .01"
SIDE, OVERLAPPING, AS_MANY = "windows side by side", "windows overlap", "windows overlap, as many"
LEAK = "windows overlap, split at random"

# With 128 sequences, 100 steps and a warm-up of 20, six layers learned nothing at their best rate, so that their gap was small for no good
# reason. With 256 sequences and a longer warm-up they learn at it with every seed that was tried.
MARKOV: dict[str, Any] = {
    "task": "markov", "vocab_size": 6, "dirichlet_alpha": 0.2, "seq_len": 16, "d_model": 16, "n_heads": 2,
    "learning_rate": 0.01, "warmup_steps": 60, "batch_size": 64, "steps": 160,
}  # fmt: skip
# the width at which one layer has as many parameters as six
AS_MANY_PARAMETERS = matched_width(MARKOV | {"n_layers": 6}, n_layers=1)
TEXT: dict[str, Any] = {
    "task": "shakespeare_chars", "text_tokens": 4096, "seq_len": 32, "n_layers": 1, "n_heads": 4, "d_model": 32,
    "learning_rate": 0.005, "steps": 250,
}  # fmt: skip
APART: dict[str, Any] = {"windows": "non_overlapping"}
OVERLAP: dict[str, Any] = {"windows": "overlapping", "stride": 8}


def _windows(name: str, settings: dict[str, Any], metric: str = "gap", *measured: str) -> Arm:
    config = {**TEXT, **settings}
    # not tuned, since the question is how the windows change one and the same training
    return Arm(name, "comparison", config, metric, measured, extended=True, evaluations=12, tuned=False)


def _learned_text(claim: Claim) -> Claim:
    return once_learned("train_loss", LEARNED_TEXT, claim)


def _deep(**settings: object) -> dict[str, object]:
    return {**MARKOV, "n_layers": 6, "dataset_size": FEW, **settings}


def _line(n: int, depth: int, role: Role = "comparison", extended: bool = False) -> Arm:
    name = f"{depth} layer{'s' if depth > 1 else ''}, {n} sequences"
    settings = {**MARKOV, "n_layers": depth, "dataset_size": n}
    return Arm(name, role, settings, "gap", extended=extended, line=f"{n} sequences", x=depth)


def _wide(name: str, depth: int) -> Arm:
    settings = {**MARKOV, "d_model": 32, "n_heads": 4, "dataset_size": 32, "n_layers": depth}
    return Arm(name, "comparison", settings, "gap", extended=True, line="32 sequences, width 32", x=depth)


def _deeper(claim: str, deep: str, shallow: str, metric: str, smallest: float) -> Claim:
    return once_learned("train_loss", LEARNED_LOSS, Claim(claim, difference(deep, shallow, metric), smallest))


ISSUE = read_issue(
    __file__,
    base={},
    arms=(
        _line(FEW, 6, "fault"),
        _line(FEW, 1, "control"),
        Arm(EQUAL, "comparison", _deep(n_layers=1, d_model=AS_MANY_PARAMETERS), "gap"),
        Arm(DEEP_SLOW, "fault", _deep(), "gap", tuned=False),
        Arm(SHALLOW_SLOW, "control", _deep(n_layers=1), "gap", tuned=False),
        _line(MANY, 1, extended=True),
        _line(MANY, 6, "remedy", extended=True),
        Arm(DROPOUT, "remedy", _deep(dropout=0.2), "best_loss", extended=True),
        Arm(DECAY, "remedy", _deep(weight_decay=1.0), "best_loss", extended=True),
        Arm(NOISE, "comparison", _deep(label_noise=0.2), "loss", extended=True),
        Arm(f"{NOISE}, 1 layer", "comparison", _deep(label_noise=0.2, n_layers=1), "loss", extended=True),
        _wide(WIDE_SHALLOW, 1),
        _wide(WIDE_DEEP, 6),
        _windows(OVERLAPPING, OVERLAP, "gap", "other_text"),
        _windows(SIDE, APART),
        _windows(AS_MANY, {**OVERLAP, "dataset_size": 127}),
        _windows(LEAK, {**OVERLAP, "split": "windows"}, "other_text.flattery", "other_text"),
    ),
    claims=(
        _deeper("gap", DEEP, SHALLOW, "gap", 0.2),
        _deeper("best-loss", DEEP, SHALLOW, "best_loss", 0.1),
        _deeper("final-loss", DEEP, SHALLOW, "loss", 0.1),
        _deeper("one-rate", DEEP_SLOW, SHALLOW_SLOW, "gap", 0.2),
        _deeper("one-rate-final-loss", DEEP_SLOW, SHALLOW_SLOW, "loss", 0.1),
        Claim("best-rate", difference(DEEP, DEEP_SLOW, "best_loss"), 0.1, "less"),
        _deeper("gap-more-data", DEEP_MANY, SHALLOW_MANY, "gap", 0.2),
        _deeper("equal-parameters", DEEP, EQUAL, "gap", 0.2),
        Claim("more-data", difference(DEEP_MANY, DEEP, "best_loss"), 0.1, "less"),
        Claim("early-stopping", rise(DEEP_SLOW, "best_loss", "loss"), 0.1, "less"),
        Claim("dropout", difference(DROPOUT, DEEP, "best_loss"), 0.1, "less"),
        Claim("weight-decay", difference(DECAY, DEEP, "best_loss"), 0.1, "less"),
        Claim(
            "wrong-answers",
            lambda values: (
                (values(NOISE, "loss") - values(f"{NOISE}, 1 layer", "loss"))
                - (values(DEEP, "loss") - values(SHALLOW, "loss"))
            ),
            0.1,
        ),
        _deeper("wide-model", WIDE_DEEP, WIDE_SHALLOW, "gap", 0.2),
        _learned_text(Claim("windows-gap", difference(OVERLAPPING, SIDE, "gap"), 0.1)),
        Claim("windows-best-loss", difference(OVERLAPPING, SIDE, "best_loss"), 0.05, "less"),
        _learned_text(Claim("equal-number", difference(AS_MANY, SIDE, "gap"), 0.1)),
        _learned_text(Claim("dealt-at-random", above(LEAK, "other_text.flattery"), 0.1)),
        _learned_text(Claim("quarter-of-text", difference(AS_MANY, OVERLAPPING, "gap"), 0.1)),
    ),
    x_label="Layers",
    evaluations=20,
)
