from engine.experiments.experiment import Arm, Claim, Relative, Role, difference
from engine.experiments.issues.issue import read_issue

SMALLEST_EFFECT = 0.05  # the smallest effect that counts, in accuracy
# the smallest change of a score or a gradient that counts, relative to the smaller: three times as large
TRIPLED = 2.0
LEARNED_ACCURACY = 0.75  # the accuracy that a deep model must reach with warm-up, so that there is something to compare
A_TENTH = 0.1  # the smallest effect that counts, in entropy as a share of that of equal weights
FAST_PLAIN, FAST_QK = "rate .08, plain", "rate .08, QK-norm"
FASTER_PLAIN, FASTER_QK = "rate .1, plain", "rate .1, QK-norm"
SLOW_PLAIN, SLOW_QK = "rate .01, plain", "rate .01, QK-norm"
PRE_AT_START, POST_AT_START = "24 layers, pre-LN, before training", "24 layers, post-LN, before training"
NO_WARM_UP: dict[str, object] = {"warmup_steps": 0}
PRE, POST, WARM = "pre-LN", "post-LN", "post-LN, warm-up"


def _at(name: str, rate: float, role: Role, *, qk_norm: bool, extended: bool = False) -> Arm:
    line = "with QK-norm" if qk_norm else "without QK-norm"
    settings = {"learning_rate": rate, "qk_norm": qk_norm}
    # not tuned, since the rate is its condition
    return Arm(name, role, settings, "accuracy", ("attention_scores",), extended, line=line, x=rate, tuned=False)


def _at_start(name: str, norm: str) -> Arm:
    settings = {**NO_WARM_UP, "n_layers": 24, "steps": 1, "norm": norm}
    return Arm(name, "comparison", settings, "first_grad.last", ("first_gradients",), tuned=False)


def _deep(layers: int, steps: int, longer: int, rate: float) -> tuple[Arm, ...]:
    """Pre-LN and, with more steps, post-LN, both without warm-up, and post-LN whose rate warms up over the first quarter."""
    shape = {"n_layers": layers, **NO_WARM_UP}
    post = {**shape, "norm": "post", "steps": longer, "learning_rate": rate}
    return (
        Arm(_arm_name(layers, PRE), "control", {**shape, "steps": steps}, extended=True),
        Arm(_arm_name(layers, POST), "fault", post, extended=True),
        Arm(_arm_name(layers, WARM), "remedy", {**post, "warmup_steps": longer // 4}, extended=True),
    )


def _arm_name(layers: int, norm: str) -> str:
    return f"{layers} layers, {norm}"


def _post_is_worse(name: str, layers: int) -> Claim:
    return Claim(name, difference(_arm_name(layers, POST), _arm_name(layers, PRE), "accuracy"), SMALLEST_EFFECT, "less")


def _warm_up_helps(name: str, layers: int, learned: float = 0.0) -> Claim:
    warm = _arm_name(layers, WARM)
    effect = difference(warm, _arm_name(layers, POST), "accuracy")
    return Claim(name, effect, SMALLEST_EFFECT, learned=((warm, "accuracy", learned),) if learned else ())


# With 150 steps two layers are nearly always right at rate .01; after 100 they have room to be better or worse.
BASE = {
    "task": "hops", "vocab_size": 8, "seq_len": 16, "n_layers": 2, "n_heads": 2, "d_model": 32, "learning_rate": 0.01,
    "warmup_steps": 50, "steps": 100,
}  # fmt: skip

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        _at(SLOW_PLAIN, 0.01, "control", qk_norm=False),
        _at("rate .03, plain", 0.03, "comparison", qk_norm=False, extended=True),
        _at(FAST_PLAIN, 0.08, "fault", qk_norm=False),
        _at(FASTER_PLAIN, 0.1, "fault", qk_norm=False),
        _at(SLOW_QK, 0.01, "comparison", qk_norm=True),
        _at("rate .03, QK-norm", 0.03, "comparison", qk_norm=True, extended=True),
        _at(FAST_QK, 0.08, "remedy", qk_norm=True),
        _at(FASTER_QK, 0.1, "remedy", qk_norm=True),
        *_deep(8, 110, 260, 0.003),
        _at_start(PRE_AT_START, "pre"),
        _at_start(POST_AT_START, "post"),
        *_deep(16, 130, 600, 0.001),
        *_deep(24, 150, 900, 0.001),
    ),
    claims=(
        Claim("high-rate", difference(FAST_QK, FAST_PLAIN, "accuracy"), SMALLEST_EFFECT),
        Claim("usual-rate", difference(SLOW_QK, SLOW_PLAIN, "accuracy"), SMALLEST_EFFECT),
        Claim("limit", difference(FASTER_QK, FAST_QK, "accuracy"), SMALLEST_EFFECT, "less"),
        Claim("scores-grow", Relative(FASTER_PLAIN, "largest_score", SLOW_PLAIN), TRIPLED),
        Claim("entropy-falls", difference(FASTER_PLAIN, SLOW_PLAIN, "attention_entropy"), A_TENTH, "less"),
        Claim("qk-norm-scores", Relative(FAST_PLAIN, "largest_score", FAST_QK), TRIPLED),
        Claim("qk-norm-entropy", difference(FASTER_QK, FASTER_PLAIN, "attention_entropy"), A_TENTH),
        _post_is_worse("no-warm-up", 8),
        _warm_up_helps("warm-up-post-norm", 8),
        Claim("last-gradient", Relative(POST_AT_START, "first_grad.last", PRE_AT_START), TRIPLED),
        _post_is_worse("no-warm-up-deep", 16),
        _warm_up_helps("warm-up-post-norm-deep", 16, LEARNED_ACCURACY),
        _post_is_worse("no-warm-up-deepest", 24),
        _warm_up_helps("warm-up-post-norm-deepest", 24, LEARNED_ACCURACY),
    ),
    x_label="Learning rate",
    evaluations=5,
)
