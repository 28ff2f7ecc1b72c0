from collections.abc import Mapping

from engine.experiments.experiment import Arm, Claim, Relative, Role, difference, rise
from engine.experiments.issues.issue import read_issue

SKIPS, NO_SKIPS = "skips", "no skips"
SKIPS_ONLY, NEITHER = "skips, no MLP", "no skips, no MLP"
AFTER = (1, 2, 4, 8)  # the layers, counted from 1, after which the tokens are shown
# the share in which the tokens differ after the last layer: after training and before it
RESIDUAL, BEFORE = "token_residual", "init_token_residual"
HALVED, DOUBLED = 0.5, 1.0  # the smallest relative changes that count: at most half as much, or at least twice as much
# the accuracy from which a model has learned the task; the best guesses that need no look-up reach about half of that
LEVEL = 0.75
MUST_REACH = ((SKIPS, "accuracy", LEVEL),)


def _arm(name: str, role: Role, settings: Mapping[str, object], *, extended: bool = False) -> Arm:
    points = tuple((layer, f"{RESIDUAL}.{layer - 1}") for layer in AFTER)
    return Arm(name, role, settings, RESIDUAL, ("token_collapse",), extended, points=points)


# The models of eight layers of the issue on missing skip connections; no accuracies are compared.
BASE = {
    "task": "hops", "vocab_size": 8, "seq_len": 24, "n_layers": 8, "n_heads": 2, "d_model": 32, "activation": "relu",
    "pos_encoding": "rope", "learning_rate": 0.012, "steps": 80,
}  # fmt: skip

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        _arm(NO_SKIPS, "fault", {"skips": False}),
        _arm(SKIPS, "control", {}),
        _arm(NEITHER, "fault", {"skips": False, "mlp": False}, extended=True),
        _arm(SKIPS_ONLY, "remedy", {"mlp": False}, extended=True),
    ),
    claims=(
        Claim("after-training", Relative(NO_SKIPS, RESIDUAL, SKIPS), HALVED, "less", learned=MUST_REACH),
        Claim("layer-by-layer", Relative(NO_SKIPS, RESIDUAL, NO_SKIPS, f"{RESIDUAL}.0"), HALVED, "less"),
        Claim("training-without-skips", Relative(NO_SKIPS, RESIDUAL, NO_SKIPS, BEFORE), HALVED, "less"),
        Claim("over-smoothing", rise(SKIPS, "token_cosine", "token_cosine.0"), 0.1, learned=MUST_REACH),
        Claim("learning-parts", rise(SKIPS, "token_cosine", "init_token_cosine"), 0.1, "less", learned=MUST_REACH),
        Claim("tokens-alike", Relative(NO_SKIPS, BEFORE, SKIPS), HALVED, "less"),
        Claim("same-direction", difference(NO_SKIPS, SKIPS, "init_token_cosine"), 0.1),
        Claim("mlp-against-collapse", Relative(NO_SKIPS, BEFORE, NEITHER), DOUBLED),
        Claim(
            "skips-alone",
            Relative(NEITHER, RESIDUAL, SKIPS_ONLY),
            HALVED,
            "less",
            learned=((SKIPS_ONLY, "accuracy", LEVEL),),
        ),
    ),
    x_label="Layer",
)
