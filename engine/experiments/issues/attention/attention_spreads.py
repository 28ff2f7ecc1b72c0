from typing import Literal

from engine.experiments.experiment import Arm, Change, Claim, difference, once_learned, rise
from engine.experiments.issues.issue import read_issue

LENGTHS = {8: 9, 16: 17, 32: 33, 64: 65}  # by number of pairs, the number of symbols: the query is one more
NEAR, FAR = 9, 65
ONE, TWO, COSINE = "one layer", "two layers", "one layer, cosine scores"
QK_NORM, LONGER, MORE_STEPS = (
    "one layer, QK-norm",
    "one layer, trained on 8 to 32 pairs",
    "one layer, three times as many steps",
)
LEARNED_ACCURACY = 0.9  # the accuracy at the trained length from which a model is tested on longer sequences


def _arm(name: str, *, extended: bool = False, **settings: object) -> Arm:
    points = tuple((pairs, f"accuracy@{length}") for pairs, length in LENGTHS.items())
    return Arm(name, "comparison", settings, f"accuracy@{FAR}", ("answer_weight",), extended, points=points)


def _claim(name: str, effect: Change, smallest: float = 0.05, direction: Literal["more", "less"] = "more") -> Claim:
    return once_learned(f"accuracy@{NEAR}", LEARNED_ACCURACY, Claim(name, effect, smallest, direction))


BASE = {
    "task": "lookup", "family": "encoder", "pos_encoding": "nope", "n_keys": 64, "vocab_size": 8, "seq_len": NEAR,
    "test_lengths": tuple(LENGTHS.values()), "d_model": 32, "n_heads": 4, "learning_rate": 0.004, "steps": 400,
}  # fmt: skip

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        _arm(ONE),
        _arm(TWO, n_layers=2),
        _arm(COSINE, attention_score="cosine"),
        _arm(QK_NORM, qk_norm=True),
        _arm(LONGER, seq_len=33, min_seq_len=NEAR, extended=True),
        _arm(MORE_STEPS, steps=1200, extended=True),
    ),
    claims=(
        _claim("accuracy", rise(ONE, f"accuracy@{FAR}", f"accuracy@{NEAR}"), direction="less"),
        # The weight is a share, too, and falls farther than the accuracy before an answer turns wrong.
        _claim("weight", rise(ONE, f"answer_weight@{FAR}", f"answer_weight@{NEAR}"), 0.1, "less"),
        _claim("two-layers", difference(TWO, ONE, f"accuracy@{FAR}")),
        _claim("bounded-scores", difference(COSINE, ONE, f"accuracy@{FAR}"), direction="less"),
        _claim("sharper-scores", rise(ONE, f"sharpened_accuracy@{FAR}", f"accuracy@{FAR}")),
        _claim("sharper-bounded-scores", rise(COSINE, f"sharpened_accuracy@{FAR}", f"accuracy@{FAR}")),
        _claim("qk-norm", difference(QK_NORM, ONE, f"accuracy@{FAR}")),
        _claim("longer-training-sequences", difference(LONGER, ONE, f"accuracy@{FAR}")),
        _claim("more-steps", difference(MORE_STEPS, ONE, f"answer_weight@{FAR}"), 0.1),
    ),
    x_label="Pairs",
)
