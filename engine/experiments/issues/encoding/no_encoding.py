from math import factorial

import numpy as np

from engine.experiments.experiment import Arm, Claim, Role, above, difference, within
from engine.experiments.issues.issue import read_issue

LENGTH, SYMBOLS = 12, 10  # of "reverse"
POSITIONS = 16  # of "own position"
MARGIN = 0.05  # an accuracy within it of a level known beforehand "stays at" this level
CLOSER = 0.02  # the least distance from the margin that counts
SMALLEST_EFFECT = 0.05  # the least difference of accuracies that counts


def bag_bound(length: int, symbols: int) -> float:
    """The accuracy of naming the commonest symbol everywhere: its expected count over the length.

    A position that knows its own symbol can do slightly better: if two symbols are equally common, it names the other one.

    E[max] = sum over m of P(max > m), and P(max <= m) = length! / symbols^length times the coefficient of x^length in
    (sum_{j <= m} x^j / j!)^symbols.
    """
    at_most = []
    for m in range(length):
        one_symbol = np.array([1 / factorial(j) for j in range(m + 1)])
        power = np.ones(1)
        for _ in range(symbols):
            power = np.convolve(power, one_symbol)[: length + 1]
        coefficient = power[length] if len(power) > length else 0.0
        at_most.append(factorial(length) * coefficient / symbols**length)
    return float(sum(1 - p for p in at_most) / length)


def _reverse(name: str, role: Role, encoding: str, **settings: object) -> Arm:
    # an arm that changes more than the encoding takes too long for a live experiment
    return Arm(name, role, {**settings, "pos_encoding": encoding}, extended=bool(settings))


def _own_position(name: str, *, extended: bool = False, **settings: object) -> Arm:
    config = {
        "task": "own_position",
        "seq_len": POSITIONS,
        "n_layers": 2,
        "pos_encoding": "nope",
        "steps": 150,
        **settings,
    }
    return Arm(f"own position, {name}", "comparison", config, extended=extended)


# With 60 steps sinusoids are between .75 and .97. A learned table is near 1 before sinusoids have begun, so the claims against it are
# decided next to a number near 1; the other arms cannot come near it: without positions no encoder is more than .007 better than naming
# the commonest symbol, and offsets alone do not tell a position.
BASE = {
    "task": "reverse", "family": "encoder", "seq_len": LENGTH, "vocab_size": SYMBOLS, "d_model": 32, "n_layers": 1,
    "n_heads": 1, "learning_rate": 0.01, "schedule": "cosine", "steps": 60,
}  # fmt: skip

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        _reverse("no encoding", "fault", "nope"),
        _reverse("learned table", "control", "learned"),
        _reverse("sinusoidal", "remedy", "sinusoidal"),
        _reverse("RoPE", "comparison", "rope"),
        _reverse("T5 bias", "comparison", "t5_bias"),
        _reverse("ALiBi", "comparison", "alibi"),
        Arm("no encoding, 300 steps", "fault", {"pos_encoding": "nope", "steps": 300}, extended=True),
        _own_position("encoder", family="encoder"),
        _own_position("causal, one symbol", family="decoder", variant="constant"),
        _own_position("causal, one symbol, begin token", family="decoder", variant="constant", bos=True),
        _own_position("causal, random symbols", family="decoder", extended=True),
        _own_position("causal, random symbols, begin token", family="decoder", bos=True, extended=True),
        _reverse("RoPE, 2 layers, 600 steps", "comparison", "rope", n_layers=2, n_heads=4, steps=600),
    ),
    claims=(
        Claim("learned-table", difference("no encoding", "learned table", "accuracy"), SMALLEST_EFFECT, "less"),
        Claim("sinusoidal", difference("sinusoidal", "no encoding", "accuracy"), SMALLEST_EFFECT),
        Claim(
            "commonest-symbol", within("no encoding, 300 steps", "accuracy", bag_bound(LENGTH, SYMBOLS), MARGIN), CLOSER
        ),
        Claim("rope", difference("RoPE", "learned table", "accuracy"), SMALLEST_EFFECT, "less"),
        Claim("t5-bias", difference("T5 bias", "learned table", "accuracy"), SMALLEST_EFFECT, "less"),
        Claim("alibi", difference("ALiBi", "learned table", "accuracy"), SMALLEST_EFFECT, "less"),
        Claim("encoder-positions", within("own position, encoder", "accuracy", 1 / POSITIONS, MARGIN), CLOSER),
        Claim(
            "decoder-same-symbols",
            within("own position, causal, one symbol", "accuracy", 1 / POSITIONS, MARGIN),
            CLOSER,
            computed=True,
        ),
        Claim(
            "begin-token",
            difference("own position, causal, one symbol, begin token", "own position, causal, one symbol", "accuracy"),
            SMALLEST_EFFECT,
        ),
        Claim(
            "decoder-random-symbols",
            above("own position, causal, random symbols", "accuracy", 1 / POSITIONS),
            SMALLEST_EFFECT,
        ),
    ),
)
