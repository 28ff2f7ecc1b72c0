"""Arms and claims on text for the issue longer-sequences: a character model trained at 20, tested to 120."""

from collections.abc import Callable

import numpy as np

from engine.experiments.experiment import Arm, Claim, Values, difference, rise

TRAINED = 20
AT = {1.0: "loss@20", 2.0: "loss@40", 4.0: "loss@80", 6.0: "loss@120"}
"""The metric by length, relative to the trained one: nats per character on other plays."""
FAR = AT[6.0]
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


CLAIMS = (
    Claim("text-yarn", difference("text, RoPE, YaRN", "text, RoPE", AT[2.0]), 0.02, "less"),
    Claim("text-sinusoidal", rise_beyond("sinusoidal", "ALiBi"), 0.1),
    Claim("text-alibi", rise("text, ALiBi", FAR, AT[1.0]), 0.05),
    Claim("text-no-encoding", rise_beyond("no encoding", "ALiBi"), 0.1),
    Claim("text-rope", rise_beyond("RoPE", "sinusoidal"), 0.1),
)
