"""what-depth-brings: how many layers each hop takes, and whether width, time or another learning rate replaces a layer."""

import numpy as np

from engine.experiments.experiment import Arm, Claim, Values, difference
from engine.experiments.issues.issue import read_issue
from engine.foundation.formatting import counted

COUNTS = 0.05
"""The smallest difference of accuracies that counts: one for all claims here."""
ENOUGH = 0.75
"""The accuracy from which on so many layers are enough for so many hops: clearly above simple guesses, right in .52 at best."""
DEPTHS = (1, 2, 3, 4, 6)
HOPS: dict[int, dict[str, object]] = {
    1: {"n_hops": 1, "vocab_size": 8, "steps": 60},
    2: {"n_hops": 2, "vocab_size": 4, "steps": 400, "learning_rate": 0.006, "warmup_steps": 50},
}
"""The task by number of hops, and so many steps that the first depth that is enough has room to be better."""
COMPARED = ((1, 1), (1, 2), (2, 2), (2, 3))
"""The hops and layers between which so many layers become enough."""
LIVE = COMPARED[:2]
"""The hops and layers of the arms that run live: those of the key figure."""
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
    """The claim that more layers are more accurate than fewer ones on so many hops."""
    return Claim(claim, difference(_name(hops, more), _name(hops, fewer), "accuracy"), COUNTS)


def _layers_enough(values: Values, hops: int) -> np.ndarray:
    """The layers at which the curve of so many hops reaches what is enough, with a straight line between two depths that are
    compared; one more than the most of them where it does not."""
    depths = [layers for other, layers in COMPARED if other == hops]
    accuracies = np.array([values(_name(hops, layers), "accuracy") for layers in depths])  # [depth, seed]
    best = np.maximum.accumulate(accuracies, axis=0)
    reached = [np.interp(ENOUGH, curve, depths, right=depths[-1] + 1) for curve in best.T]
    return np.where(np.isfinite(accuracies).all(axis=0), reached, np.nan)


def _layers_for_a_hop(values: Values) -> np.ndarray:
    more: np.ndarray = _layers_enough(values, 2) - _layers_enough(values, 1)
    return more


BASE = {
    "task": "hops", "pos_encoding": "rope", "seq_len": 32, "d_model": 64, "n_heads": 2, "batch_size": 32,
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
        _one_hop(CONVOLUTION, pos_encoding="conv", conv_reach=3),
        *(_arm(hops, layers) for hops in HOPS for layers in DEPTHS if (hops, layers) not in COMPARED),
    ),
    claims=(
        _over("two-layers", 1, more=2, fewer=1),
        _over("second-hop", 2, more=3, fewer=2),
        Claim("layers-for-a-hop", _layers_for_a_hop, 0.5),  # nearer to a whole layer than to none
        Claim("equal-parameters", difference(_name(1, 2), WIDE, "accuracy"), COUNTS),
        Claim("equal-compute", difference(_name(1, 2), LONGER, "accuracy"), COUNTS),
        Claim("small-rate", difference(_name(1, 2), SMALL_RATE, "accuracy"), COUNTS),
        Claim("rate-against-layers", difference(SMALL_RATE, _name(1, 1), "accuracy"), COUNTS),
        Claim("neighbours-mixed", difference(MIXED, _name(1, 1), "accuracy"), COUNTS),
        Claim("neighbours-against-layers", difference(MIXED, _name(1, 2), "accuracy"), COUNTS),
        Claim("neighbours-and-encoding", difference(MIXED, CONVOLUTION, "accuracy"), COUNTS),
        _over("spare-layer", 1, more=3, fewer=2),
        _over("second-hop-four-layers", 2, more=4, fewer=3),
        _over("second-hop-six-layers", 2, more=6, fewer=4),
    ),
    x_label="layers",
    evaluations=5,
)
