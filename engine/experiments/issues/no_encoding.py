"""no-encoding: who can tell order without a positional encoding, and who cannot."""

from __future__ import annotations

from math import factorial

import numpy as np

from engine.experiments.experiment import Arm, Claim, Role, above, difference
from engine.experiments.issues.issue import Issue

LENGTH, SYMBOLS = 12, 10
PLACES = 16
"""The number of positions in "own position"."""


def bag_bound(length: int, symbols: int) -> float:
    """The best accuracy possible from a bag of symbols: the expected count of the commonest symbol over the length.

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
    title="No positional encoding",
    summary=(
        "Attention reads all tokens at once and knows no order: without an encoding an encoder sees a bag of symbols. A causal "
        "decoder can count, if it has something to count from."
    ),
    mechanism=r"""
Let $\Pi$ permute the tokens. Without positions every part of an encoder commutes with it,
$$f(\Pi X) = \Pi f(X),$$
since $\mathrm{softmax}(\Pi Q K^\top \Pi^\top)\, \Pi V = \Pi\, \mathrm{softmax}(Q K^\top) V$: equal symbols get equal answers
wherever they stand. The best such an encoder can do when reversing is to name the commonest symbol everywhere.

A causal mask breaks the symmetry: query $i$ averages over $i + 1$ keys. If all tokens are the same, the average is the same for
every $i$ and nothing is told. With one token that differs, at the start, its weight is
$$\alpha_{i0} = \frac{e^{a}}{e^{a} + i\, e^{b}},$$
which falls with $i$: the position can be read off it (Kazemnejad et al. 2023, theorem 1).
""",
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
    claims=(
        Claim(
            "Without an encoding an encoder cannot reverse.",
            difference("no encoding", "learned table", "accuracy"),
            "accuracy",
            0.2,
            "less",
        ),
        Claim(
            "With sinusoids it can.",
            difference("sinusoidal", "no encoding", "accuracy"),
            "accuracy",
            0.2,
            about="remedy",
        ),
        Claim(
            "It does better than naming the commonest symbol everywhere.",
            above("no encoding", "accuracy", bag_bound(LENGTH, SYMBOLS)),
            "accuracy above the best that a bag of symbols allows",
            0.03,
            about="condition",
        ),
        Claim(
            "An encoding of offsets alone does not do either, in one layer: RoPE.",
            difference("RoPE", "learned table", "accuracy"),
            "accuracy",
            0.2,
            "less",
            about="condition",
        ),
        Claim(
            "Nor does T5's bias.",
            difference("T5 bias", "learned table", "accuracy"),
            "accuracy",
            0.2,
            "less",
            about="condition",
        ),
        Claim(
            "Nor does ALiBi.",
            difference("ALiBi", "learned table", "accuracy"),
            "accuracy",
            0.2,
            "less",
            about="condition",
        ),
        Claim(
            "An encoder without encoding can name its own position.",
            above("own position, encoder", "accuracy", 1 / PLACES),
            "accuracy above chance",
            0.05,
            about="condition",
        ),
        Claim(
            "A causal decoder without encoding can name its own position when all symbols are the same.",
            above("own position, causal, one symbol", "accuracy", 1 / PLACES),
            "accuracy above chance",
            0.05,
            about="condition",
        ),
        Claim(
            "With a begin-of-sequence token to count from it can.",
            difference("own position, causal, one symbol, begin token", "own position, causal, one symbol", "accuracy"),
            "accuracy",
            0.3,
            about="condition",
        ),
        Claim(
            "Random symbols are an anchor too: a causal decoder tells its position from them above chance.",
            above("own position, causal, random symbols", "accuracy", 1 / PLACES),
            "accuracy above chance",
            0.05,
            about="condition",
            extended=True,
        ),
    ),
    remedies=(
        "Give an encoder a positional encoding, always; for jobs like reversing an absolute one.",
        "Give a decoder a begin-of-sequence token, even where it has an encoding.",
        "Test it: shuffle the input; if the outputs are shuffled alike the model is blind to order.",
    ),
    sources=(
        "Vaswani et al. 2017, Attention Is All You Need, section 3.5",
        "Kazemnejad et al. 2023, The Impact of Positional Encoding on Length Generalization in Transformers, section 5",
        "Haviv et al. 2022, Transformer Language Models without Positional Encodings Still Learn Positional Information",
    ),
    notes=(
        "The bound of a bag of symbols is computed exactly: the mean count of the commonest of 12 draws from 10, over 12.",
    ),
)
