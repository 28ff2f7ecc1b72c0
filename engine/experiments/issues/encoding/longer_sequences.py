from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from engine.experiments.experiment import Arm, Claim, Role, Values, above, difference, once_learned, rise
from engine.experiments.issues.issue import read_issue

# the metric by length, relative to the trained one
ACCURACY_AT = {1.0: "accuracy@12", 1.5: "accuracy@18", 2.0: "accuracy@24", 4.0: "accuracy@48"}
DEEP_ACCURACY_AT = {1.0: "accuracy@24", 2.0: "accuracy@48", 4.0: "accuracy@96"}  # the same of the deeper models
FAR, DEEP_FAR = ACCURACY_AT[4.0], DEEP_ACCURACY_AT[4.0]
LEARNED_ACCURACY = 0.9  # the accuracy at the trained length from which a model is tested on longer sequences
# The smallest difference of accuracies that counts: one for all claims here. It was .2 or .3 in most and .05 or .1 in others.
SMALLEST_EFFECT = 0.05

# With 220 steps the model that was trained on up to 48 symbols is between .9 and .97 there. At the trained length itself the models that
# are tested on longer ones must have learned their task, so the claims about that length are decided next to a number near 1.
BASE: dict[str, Any] = {"d_model": 32, "learning_rate": 0.01, "schedule": "cosine"}
THREE_BACK: dict[str, Any] = {
    "task": "k_back", "k": 3, "seq_len": 12, "min_seq_len": 5, "test_lengths": (12, 18, 24, 48), "n_layers": 1, "n_heads": 4, "steps": 220,
}  # fmt: skip
ONE_HOP: dict[str, Any] = {
    "task": "hops", "vocab_size": 8, "seq_len": 24, "test_lengths": (24, 48, 96), "n_heads": 2, "batch_size": 32, "steps": 145,
}  # fmt: skip
TWO_HOPS: dict[str, Any] = {
    **ONE_HOP, "n_hops": 2, "vocab_size": 4, "seq_len": 32, "test_lengths": (32, 64), "d_model": 64, "warmup_steps": 50, "steps": 400,
}  # fmt: skip
TWO_HOPS_TRAINED = "accuracy@32"
DROPPED = "1 hop, RoPE dropped at the end, 2 layers"
# A model that reverses cannot know the first symbol of the answer where the lengths vary: nothing marks the end of the question.
REVERSE: dict[str, Any] = {
    "task": "reverse", "seq_len": 10, "min_seq_len": 3, "test_lengths": (10, 15, 20, 30), "n_layers": 2, "n_heads": 2, "d_model": 64,
    "learning_rate": 0.006, "steps": 400,
}  # fmt: skip
# the metric of its answer by length
REVERSE_AT = {length / 10: f"second_half_accuracy@{length}" for length in (10, 15, 20, 30)}
COUPLED, UNCOUPLED = "reverse, coupled table", "reverse, RoPE"
REVERSED: dict[str, dict[str, Any]] = {
    COUPLED: {"pos_encoding": "learned", "coupled_positions": True},
    UNCOUPLED: {"pos_encoding": "rope"},
}
# the encoding by its name in the arms of deeper models
NAMES = {
    "sinusoidal": "sinusoidal", "learned table": "learned", "T5 bias": "t5_bias", "ALiBi": "alibi", "RoPE": "rope", "FIRE": "fire",
    "no encoding": "nope",
}  # fmt: skip


def _arm(
    name: str, role: Role, encoding: str, *, tuned: bool = True, extended: bool = False, **settings: object
) -> Arm:
    config = {**THREE_BACK, "pos_encoding": encoding, **settings}
    return Arm(name, role, config, FAR, points=tuple(ACCURACY_AT.items()), tuned=tuned, extended=extended)


def _stretched(name: str, scaling: str, **settings: object) -> Arm:
    # It trains as the arm RoPE does, at that arm's best rate, and is only tested otherwise.
    return _arm(name, "remedy", "rope", tuned=False, extended=True, rope_scaling=scaling, **settings)


def _extended(name: str, settings: dict[str, Any], points: dict[float, str], metric: str, *measured: str) -> Arm:
    return Arm(
        name, "comparison", settings, metric, measured, extended=True, evaluations=5, points=tuple(points.items())
    )


def _hop(encoding: str, layers: int = 4) -> str:
    return f"1 hop, {encoding}, {layers} layers"


def _one_hop(encoding: str, layers: int, *measured: str) -> Arm:
    settings = {**ONE_HOP, "pos_encoding": NAMES[encoding], "n_layers": layers}
    return _extended(_hop(encoding, layers), settings, DEEP_ACCURACY_AT, DEEP_FAR, *measured)


def _two_hops(encoding: str) -> Arm:
    settings = {**TWO_HOPS, "pos_encoding": NAMES[encoding], "n_layers": 4}
    return _extended(f"2 hops, {encoding}", settings, {1.0: TWO_HOPS_TRAINED, 2.0: "accuracy@64"}, TWO_HOPS_TRAINED)


_learned = partial(once_learned, ACCURACY_AT[1.0], LEARNED_ACCURACY)


def _farther(name: str, one: str, other: str, direction: Literal["more", "less"] = "more") -> Claim:
    return _learned(Claim(name, difference(one, other, FAR), SMALLEST_EFFECT, direction))


def _deeper(name: str, one: str, other: str, metric: str = DEEP_FAR) -> Claim:
    return once_learned(
        DEEP_ACCURACY_AT[1.0], LEARNED_ACCURACY, Claim(name, difference(one, other, metric), SMALLEST_EFFECT)
    )


def _two(name: str, one: str, other: str) -> Claim:
    return Claim(
        f"two-hops-{name}", difference(f"2 hops, {one}", f"2 hops, {other}", TWO_HOPS_TRAINED), SMALLEST_EFFECT
    )


def _has_no_row(values: Values) -> np.ndarray:
    """1 for a seed at which the learned table works at the trained length and cannot run at one and a half times it,
    [seed]."""
    trained, longer = values("learned table", ACCURACY_AT[1.0]), values("learned table", ACCURACY_AT[1.5])
    return np.where(np.isfinite(trained), np.isnan(longer).astype(float), np.nan)


ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        _arm("sinusoidal", "fault", "sinusoidal"),
        _arm("sinusoidal, trained to 48", "control", "sinusoidal", seq_len=48, batch_size=10),
        _arm("sinusoidal, 2 layers", "fault", "sinusoidal", n_layers=2),
        _arm("RoPE", "remedy", "rope"),
        _arm("Shaw relative", "remedy", "shaw"),
        _arm("T5 bias", "comparison", "t5_bias"),
        _arm("learned table", "comparison", "learned"),
        _arm("ALiBi", "comparison", "alibi"),
        _arm("no encoding", "comparison", "nope"),
        _arm("RoPE, interpolated", "comparison", "rope", rope_scaling="pi"),
        _stretched("RoPE, NTK", "ntk"),
        _stretched("RoPE, YaRN", "yarn"),
        _stretched("RoPE, YaRN for short sequences", "yarn", yarn_alpha=0.1, yarn_beta=0.5),
        _arm("RoPE, randomized positions", "remedy", "rope", randomized_positions=2, extended=True),
        _one_hop("sinusoidal", 2),
        _one_hop("sinusoidal", 4, "position_probe", "neighbour_cosine"),
        _one_hop("sinusoidal", 6),
        _one_hop("RoPE", 2),
        _one_hop("RoPE", 4),
        _extended(
            DROPPED,
            {**ONE_HOP, "pos_encoding": "rope", "n_layers": 2, "drop_encoding_at": 0.8},
            DEEP_ACCURACY_AT,
            DEEP_FAR,
        ),
        _one_hop("T5 bias", 4),
        _one_hop("FIRE", 4),
        *(
            replace(_extended(name, {**REVERSE, **settings}, REVERSE_AT, REVERSE_AT[3.0]), tuned=False)
            for name, settings in REVERSED.items()
        ),
        *(_two_hops(encoding) for encoding in ("RoPE", "learned table", "ALiBi", "no encoding", "T5 bias")),
    ),
    claims=(
        Claim(
            "sinusoidal",
            difference("sinusoidal", "sinusoidal, trained to 48", FAR),
            SMALLEST_EFFECT,
            "less",
            learned=(
                ("sinusoidal", ACCURACY_AT[1.0], LEARNED_ACCURACY),
                ("sinusoidal, trained to 48", FAR, LEARNED_ACCURACY),
            ),
        ),
        _farther("two-layers", "sinusoidal, 2 layers", "sinusoidal"),
        _farther("rope", "RoPE", "sinusoidal"),
        _farther("shaw", "Shaw relative", "sinusoidal"),
        _learned(Claim("t5-bias", rise("T5 bias", FAR, ACCURACY_AT[1.0]), SMALLEST_EFFECT, "less")),
        _learned(Claim("learned-table", _has_no_row, 0.5, computed=True)),
        Claim("alibi-trained-length", difference("sinusoidal", "ALiBi", ACCURACY_AT[1.0]), SMALLEST_EFFECT),
        Claim("no-encoding-trained-length", difference("sinusoidal", "no encoding", ACCURACY_AT[1.0]), SMALLEST_EFFECT),
        _farther("interpolation", "RoPE, interpolated", "RoPE", "less"),
        _farther("ntk", "RoPE, NTK", "RoPE"),
        _farther("yarn", "RoPE, YaRN", "RoPE", "less"),
        _farther("yarn-short", "RoPE, YaRN for short sequences", "RoPE"),
        _farther("randomized", "RoPE, randomized positions", "RoPE"),
        _deeper("dropped", DROPPED, _hop("RoPE", 2)),
        Claim(
            "dropped-trained-length",
            difference(DROPPED, _hop("RoPE", 2), DEEP_ACCURACY_AT[1.0]),
            SMALLEST_EFFECT,
            "less",
        ),
        _deeper("rope-against-layers", _hop("RoPE", 2), _hop("sinusoidal")),
        _deeper("six-layers-twice", _hop("sinusoidal", 6), _hop("sinusoidal", 2), DEEP_ACCURACY_AT[2.0]),
        _deeper("fire", _hop("FIRE"), _hop("RoPE")),
        _deeper("deep-t5-bias", _hop("T5 bias"), _hop("RoPE")),
        Claim("probe", rise(_hop("sinusoidal"), "position_probe.4", "position_probe.0"), SMALLEST_EFFECT, "less"),
        Claim(
            "neighbours", rise(_hop("sinusoidal"), "neighbour_cosine@512", "neighbour_cosine@8"), 0.005, computed=True
        ),
        Claim("squeezed", rise(_hop("sinusoidal"), "squeezed_cosine@512", "squeezed_cosine@8"), 0.005, computed=True),
        Claim(
            "coupled",
            above(COUPLED, REVERSE_AT[3.0], 0.1),  # guessing among ten symbols
            0.5,
            learned=((COUPLED, REVERSE_AT[1.0], 0.85),),
        ),
        Claim("coupled-trained-length", difference(COUPLED, UNCOUPLED, REVERSE_AT[1.0]), SMALLEST_EFFECT),
        _two("learned", "RoPE", "learned table"),
        _two("alibi", "RoPE", "ALiBi"),
        _two("none", "RoPE", "no encoding"),
        _two("t5-bias", "T5 bias", "RoPE"),
    ),
    x_label="length relative to the trained one",
)
