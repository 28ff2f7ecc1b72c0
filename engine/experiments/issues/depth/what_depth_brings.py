from dataclasses import replace

from engine.experiments.experiment import Arm, Claim, difference
from engine.experiments.issues.issue import read_issue
from engine.foundation.formatting import counted

SMALLEST_EFFECT = 0.05  # the smallest difference of accuracies that counts: one for all claims here
DEPTHS = (1, 2, 3, 4, 6)  # layers with one hop
# the task by number of hops, with so many steps that the better depth still makes errors
HOPS: dict[int, dict[str, object]] = {
    1: {"n_hops": 1, "steps": 60},
    # the rate stays: under the cosine, three layers stop half-way up
    2: {"n_hops": 2, "steps": 1200, "learning_rate": 0.003, "warmup_steps": 50, "schedule": "constant"},
}
COMPARED = ((1, 1), (1, 2), (2, 2), (2, 3))  # (hops, layers)
LIVE = COMPARED[:2]  # the arms that run live: those of the key figure
WIDE, LONGER, SMALL_RATE = "1 hop, one wide layer", "1 hop, one layer, twice the steps", "1 hop, 2 layers, rate .001"
MIXED, CONVOLUTION = "1 hop, one layer, neighbours mixed in", "1 hop, one layer, convolution as encoding"


def _name(hops: int, layers: int) -> str:
    return f"{counted(hops, 'hop')}, {counted(layers, 'layer')}"


def _arm(hops: int, layers: int) -> Arm:
    settings, extended = {**HOPS[hops], "n_layers": layers}, (hops, layers) not in LIVE
    return Arm(_name(hops, layers), "comparison", settings, extended=extended, line=counted(hops, "hop"), x=layers)


def _one_hop(name: str, *, tuned: bool = True, **settings: object) -> Arm:
    return Arm(name, "comparison", {**HOPS[1], "n_layers": 1, **settings}, tuned=tuned)


def _over(claim: str, hops: int, more: int, fewer: int) -> Claim:
    return Claim(claim, difference(_name(hops, more), _name(hops, fewer), "accuracy"), SMALLEST_EFFECT)


BASE = {
    "task": "hops", "vocab_size": 8, "pos_encoding": "rope", "seq_len": 32, "d_model": 64, "n_heads": 2, "batch_size": 32,
    "learning_rate": 0.01, "schedule": "cosine",
}  # fmt: skip

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        *(_arm(*each) for each in COMPARED),
        _one_hop(WIDE, d_model=90, d_head=46),
        _one_hop(LONGER, steps=120),
        _one_hop(SMALL_RATE, tuned=False, n_layers=2, learning_rate=0.001),
        _one_hop(MIXED, local_mix=3),
        replace(_one_hop(CONVOLUTION, pos_encoding="conv", conv_reach=3), extended=True),
        *(_arm(1, layers) for layers in DEPTHS if (1, layers) not in COMPARED),
    ),
    claims=(
        _over("two-layers", 1, more=2, fewer=1),
        _over("second-hop", 2, more=3, fewer=2),
        Claim("equal-parameters", difference(_name(1, 2), WIDE, "accuracy"), SMALLEST_EFFECT),
        Claim("equal-compute", difference(_name(1, 2), LONGER, "accuracy"), SMALLEST_EFFECT),
        Claim("small-rate", difference(_name(1, 2), SMALL_RATE, "accuracy"), SMALLEST_EFFECT),
        Claim("rate-against-layers", difference(SMALL_RATE, _name(1, 1), "accuracy"), SMALLEST_EFFECT),
        Claim("neighbours-mixed", difference(MIXED, _name(1, 1), "accuracy"), SMALLEST_EFFECT),
        Claim("neighbours-against-layers", difference(MIXED, _name(1, 2), "accuracy"), SMALLEST_EFFECT),
        Claim("neighbours-and-encoding", difference(MIXED, CONVOLUTION, "accuracy"), SMALLEST_EFFECT),
        _over("spare-layer", 1, more=3, fewer=2),
    ),
    x_label="layers",
    evaluations=5,
)
