"""Arms and claims on text for the issue longer-sequences: a character model trained at 20, tested to 120."""

from collections.abc import Callable

import numpy as np

from engine.experiments.experiment import Arm, Claim, Values, difference, rise

TRAINED = 20
AT = {1.0: "loss@20", 2.0: "loss@40", 4.0: "loss@80", 6.0: "loss@120"}
"""The metric by length, relative to the trained one: nats per character on other plays."""
FAR = AT[6.0]
LEARNED = 2.5
"""The loss at the trained length up to which a model is asked about longer texts. One that knows no more than how frequent each character
is has 3.3 nats."""
TEXT = {
    "task": "shakespeare_chars", "plays": 4, "seq_len": TRAINED, "min_seq_len": None, "test_lengths": (20, 40, 80, 120),
    "d_model": 32, "n_layers": 2, "n_heads": 4, "learning_rate": 0.004, "schedule": "cosine", "steps": 1000,
}  # fmt: skip
ENCODINGS: dict[str, dict[str, object]] = {
    "ALiBi": {"pos_encoding": "alibi"},
    "T5 bias": {"pos_encoding": "t5_bias"},
    "no encoding": {"pos_encoding": "nope"},
    "sinusoidal": {"pos_encoding": "sinusoidal"},
    "RoPE": {"pos_encoding": "rope"},
    "RoPE, interpolated": {"pos_encoding": "rope", "rope_scaling": "pi"},
    "RoPE, YaRN": {"pos_encoding": "rope", "rope_scaling": "yarn"},
}

ARMS = tuple(
    Arm(f"text, {name}", "comparison", {**TEXT, **settings}, FAR, extended=True, points=tuple(AT.items()))
    for name, settings in ENCODINGS.items()
)


def rise_beyond(name: str, other: str) -> Callable[[Values], np.ndarray]:
    """The difference between the rises of two encodings' losses with length."""
    one, two = (rise(f"text, {encoding}", FAR, AT[1.0]) for encoding in (name, other))
    return lambda values: one(values) - two(values)


def _learned(*encodings: str) -> tuple[tuple[str, str, float], ...]:
    return tuple((f"text, {name}", AT[1.0], LEARNED) for name in encodings)


def _rises_more(name: str, one: str, other: str) -> Claim:
    return Claim(f"text-{name}", rise_beyond(one, other), 0.1, learned=_learned(one, other))


CLAIMS = (
    Claim(
        "text-yarn",
        difference("text, RoPE, YaRN", "text, RoPE", AT[2.0]),
        0.02,
        "less",
        learned=_learned("RoPE, YaRN", "RoPE"),
    ),
    _rises_more("sinusoidal", "sinusoidal", "ALiBi"),
    Claim("text-alibi", rise("text, ALiBi", FAR, AT[1.0]), 0.05, learned=_learned("ALiBi")),
    _rises_more("no-encoding", "no encoding", "ALiBi"),
    _rises_more("rope", "RoPE", "sinusoidal"),
)
