"""no-encoding: who can tell order without a positional encoding, and who cannot."""

from math import factorial

import numpy as np

from engine.experiments.experiment import Arm, Claim, Role, above, difference
from engine.experiments.issues.issue import read_issue

LENGTH, SYMBOLS = 12, 10
PLACES = 16
"""The number of positions in "own position"."""


def bag_bound(length: int, symbols: int) -> float:
    """The accuracy of naming the commonest symbol everywhere: its expected count over the length.

    A position that knows its own symbol can do slightly better: where two symbols are equally common, it names the other one.

    E[max] = sum over m of P(max > m), and P(max <= m) = length! / symbols^length times the coefficient of x^length in
    (sum_{j <= m} x^j / j!)^symbols.
    """
    at_most = []
    for m in range(length):
        one = np.array([1 / factorial(j) for j in range(m + 1)])
        power = np.ones(1)
        for _ in range(symbols):
            power = np.convolve(power, one)[: length + 1]
        coefficient = power[length] if len(power) > length else 0.0
        at_most.append(factorial(length) * coefficient / symbols**length)
    return float(sum(1 - p for p in at_most) / length)


def _reverse(name: str, role: Role, encoding: str, **settings: object) -> Arm:
    return Arm(name, role, {**settings, "pos_encoding": encoding}, extended=bool(settings))


def _own(name: str, *, extended: bool = False, **settings: object) -> Arm:
    given = {"task": "own_position", "seq_len": PLACES, "n_layers": 2, "pos_encoding": "nope", **settings}
    return Arm(f"own position, {name}", "comparison", given, extended=extended)


BASE = {
    "task": "reverse", "family": "encoder", "seq_len": LENGTH, "vocab_size": SYMBOLS, "d_model": 32, "n_layers": 1,
    "n_heads": 1, "learning_rate": 0.01, "schedule": "cosine", "steps": 150,
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
        _own("encoder", family="encoder"),
        _own("causal, one symbol", family="decoder", variant="constant"),
        _own("causal, one symbol, begin token", family="decoder", variant="constant", bos=True),
        _own("causal, random symbols", family="decoder", extended=True),
        _own("causal, random symbols, begin token", family="decoder", bos=True, extended=True),
        _reverse("RoPE, 2 layers, 600 steps", "comparison", "rope", n_layers=2, n_heads=4, steps=600),
    ),
    claims=(
        Claim("learned-table", difference("no encoding", "learned table", "accuracy"), 0.2, "less"),
        Claim("sinusoidal", difference("sinusoidal", "no encoding", "accuracy"), 0.2),
        Claim("commonest-symbol", above("no encoding", "accuracy", bag_bound(LENGTH, SYMBOLS)), 0.03),
        Claim("rope", difference("RoPE", "learned table", "accuracy"), 0.2, "less"),
        Claim("t5-bias", difference("T5 bias", "learned table", "accuracy"), 0.2, "less"),
        Claim("alibi", difference("ALiBi", "learned table", "accuracy"), 0.2, "less"),
        Claim("encoder-positions", above("own position, encoder", "accuracy", 1 / PLACES), 0.05),
        Claim("decoder-same-symbols", above("own position, causal, one symbol", "accuracy", 1 / PLACES), 0.05),
        Claim(
            "begin-token",
            difference("own position, causal, one symbol, begin token", "own position, causal, one symbol", "accuracy"),
            0.3,
        ),
        Claim("decoder-random-symbols", above("own position, causal, random symbols", "accuracy", 1 / PLACES), 0.05),
    ),
)
