from collections.abc import Mapping

from engine.experiments.experiment import Arm, Claim, Relative, Role, above, difference
from engine.experiments.issues.issue import read_issue
from engine.foundation.formatting import counted

CHANCE = 1 / 8
DEEP, DEEP_SKIPS = "8 layers, no skips", "8 layers, skips"
SHALLOW, SHALLOW_SKIPS = "2 layers, no skips", "2 layers, skips"
LONGER = "2 layers, no skips, 240 steps"
BARE, BARE_SKIPS = "16 layers, no skips", "16 layers, skips"
VANISHING, EXPLODING = "16 layers, no skips, no LayerNorm", "16 layers, skips, no LayerNorm"
SMALL_BRANCHES = "16 layers, small branches, no LayerNorm"
NO_SKIPS, NO_NORM = {"skips": False}, {"norm": "none"}
SMALL = {"residual_scale": 0.18}  # one over the root of twice the number of layers, 16
ROLES: dict[bool, Role] = {True: "control", False: "fault"}  # with and without skips, at any depth
# the smallest relative changes that count: a number vanishes if at most a tenth of it remains, and grows if it is three times as large
TENTH_LEFT, TRIPLED = 0.9, 2.0

# With 150 steps the models with skips are nearly always right; after 80 they have room to be better or worse.
BASE = {
    "task": "hops", "vocab_size": 8, "seq_len": 24, "n_layers": 8, "n_heads": 2, "d_model": 32, "activation": "relu",
    "pos_encoding": "rope", "learning_rate": 0.012, "steps": 80,
}  # fmt: skip


def _trained_arm(layers: int, *, skips: bool, extended: bool = False) -> Arm:
    line, role = "skips" if skips else "no skips", ROLES[skips]
    settings = {"n_layers": layers, "skips": skips}
    return Arm(f"{counted(layers, 'layer')}, {line}", role, settings, extended=extended, line=line, x=layers)


def _untrained(name: str, role: Role, settings: Mapping[str, object]) -> Arm:
    config = {"n_layers": 16, "steps": 1, **settings}
    return Arm(name, role, config, "first_grad.first", ("first_gradients",), tuned=False)


ISSUE = read_issue(
    __file__,
    base=BASE,
    curves=("grad.0.q", "grad.7.q", "grad.7.v"),
    arms=(
        _trained_arm(8, skips=False),
        _trained_arm(8, skips=True),
        *(_trained_arm(layers, skips=False) for layers in (2, 4)),
        _trained_arm(2, skips=True),
        Arm(LONGER, "fault", {**NO_SKIPS, "n_layers": 2, "steps": 240}),
        _untrained(BARE, "fault", NO_SKIPS),
        _untrained(BARE_SKIPS, "control", {}),
        _untrained(VANISHING, "fault", {**NO_SKIPS, **NO_NORM}),
        _untrained(EXPLODING, "fault", NO_NORM),
        _untrained(SMALL_BRANCHES, "remedy", {**NO_NORM, **SMALL}),
        *(_trained_arm(layers, skips=True, extended=True) for layers in (4, 6)),
        _trained_arm(6, skips=False, extended=True),
    ),
    claims=(
        Claim("accuracy", difference(DEEP, DEEP_SKIPS, "accuracy"), 0.05, "less"),
        Claim("two-layers", difference(SHALLOW, SHALLOW_SKIPS, "accuracy"), 0.05, "less"),
        Claim("longer", difference(LONGER, SHALLOW_SKIPS, "accuracy"), 0.05, "less"),
        # Neither of these two models comes near the right answers. That is the finding, so the better one needs no room.
        Claim("deeper-is-worse", difference("4 layers, no skips", SHALLOW, "accuracy"), 0.05, "less"),
        Claim("first-block-gradient", Relative(BARE, "first_grad.first", BARE_SKIPS), TENTH_LEFT, "less"),
        Claim("last-query-gradient", Relative(BARE, "first_grad.last.q", BARE_SKIPS), TENTH_LEFT, "less"),
        Claim("larger-value-gradient", Relative(BARE, "first_grad.last.v", BARE_SKIPS), TRIPLED),
        Claim("larger-whole-gradient", Relative(BARE, "first_grad", BARE_SKIPS), TRIPLED),
        Claim("layer-norm-keeps-gradient", Relative(VANISHING, "first_grad.first", BARE), TENTH_LEFT, "less"),
        Claim("explodes", Relative(BARE_SKIPS, "first_grad.first", EXPLODING), TENTH_LEFT, "less"),
        Claim("small-branches", Relative(SMALL_BRANCHES, "first_grad.first", EXPLODING), TENTH_LEFT, "less"),
        Claim("skips-learn", above(DEEP_SKIPS, "accuracy", CHANCE), 0.5),
    ),
    x_label="Layers",
)
