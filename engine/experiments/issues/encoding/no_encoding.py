"""no-encoding: who can tell order without a positional encoding, and who cannot."""

from __future__ import annotations

from math import factorial

import numpy as np

from engine.experiments.experiment import Arm, Claim, Role, above, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.written import worded, written
from engine.experiments.key_figure import KeyFigure, Row

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


ISSUE = Issue(
    slug="no-encoding",
    group="encoding",
    **written(__file__),
    base={
        "task": "reverse",
        "family": "encoder",
        "seq_len": LENGTH,
        "vocab_size": SYMBOLS,
        "d_model": 32,
        "n_layers": 1,
        "n_heads": 1,
        "learning_rate": 0.01,
        "schedule": "cosine",
        "steps": 150,
    },
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
    claims=worded(
        __file__,
        Claim("learned-table", difference("no encoding", "learned table", "accuracy"), "accuracy", 0.2, "less"),
        Claim("sinusoidal", difference("sinusoidal", "no encoding", "accuracy"), "accuracy", 0.2, about="remedy"),
        Claim(
            "commonest-symbol",
            above("no encoding", "accuracy", bag_bound(LENGTH, SYMBOLS)),
            "accuracy above naming the commonest symbol",
            0.03,
            about="condition",
        ),
        Claim("rope", difference("RoPE", "learned table", "accuracy"), "accuracy", 0.2, "less", about="condition"),
        Claim(
            "t5-bias", difference("T5 bias", "learned table", "accuracy"), "accuracy", 0.2, "less", about="condition"
        ),
        Claim("alibi", difference("ALiBi", "learned table", "accuracy"), "accuracy", 0.2, "less", about="condition"),
        Claim(
            "encoder-positions",
            above("own position, encoder", "accuracy", 1 / PLACES),
            "accuracy above chance",
            0.05,
            about="condition",
        ),
        Claim(
            "decoder-same-symbols",
            above("own position, causal, one symbol", "accuracy", 1 / PLACES),
            "accuracy above chance",
            0.05,
            about="condition",
        ),
        Claim(
            "begin-token",
            difference("own position, causal, one symbol, begin token", "own position, causal, one symbol", "accuracy"),
            "accuracy",
            0.3,
            about="condition",
        ),
        Claim(
            "decoder-random-symbols",
            above("own position, causal, random symbols", "accuracy", 1 / PLACES),
            "accuracy above chance",
            0.05,
            about="condition",
            extended=True,
        ),
    ),
    key_figure=KeyFigure(
        claim="learned-table",
        sample="reads 2 9 1 8, must write 8 1 9 2",
        question=(
            "An encoder without any positional encoding reverses 12 symbols. Add a learned table of positions: "
            "what happens to the accuracy?"
        ),
        answers=("It falls", "It stays", "It rises"),
        quantity="Accuracy on new sequences",
        subject="the accuracy",
        change="With a learned table of positions",
        before=Row("No encoding", "no encoding", "accuracy"),
        after=Row("Learned table", "learned table", "accuracy"),
        others=(
            Row("Sinusoids", "sinusoidal", "accuracy"),
            Row("RoPE", "RoPE", "accuracy"),
            Row("T5's bias", "T5 bias", "accuracy"),
            Row("ALiBi", "ALiBi", "accuracy"),
        ),
        remedy="Give an encoder a positional encoding, and an absolute one where each position has a task of its own.",
        also=("commonest-symbol", "begin-token"),
    ),
)
