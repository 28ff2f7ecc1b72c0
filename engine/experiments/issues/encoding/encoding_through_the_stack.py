"""encoding-through-the-stack: which positional encoding works in a deep model, and whether more layers help on longer sequences."""

from engine.experiments.experiment import Arm, Claim, difference, once_learned, rise
from engine.experiments.issues.issue import read_issue

TRAINED = 24
AT = {1.0: "accuracy@24", 2.0: "accuracy@48", 4.0: "accuracy@96"}
"""The metric by length, relative to the trained one."""
POINTS = tuple(AT.items())
TWICE, FAR = AT[2.0], AT[4.0]
LEARNED_ACCURACY = 0.9
"""The accuracy at the trained length from which on a model is asked about longer sequences."""
COUNTS = 0.05
"""The smallest difference of accuracies that counts: one for all claims here."""
NAMES = {
    "sinusoidal": "sinusoidal", "learned table": "learned", "T5 bias": "t5_bias", "ALiBi": "alibi", "RoPE": "rope", "FIRE": "fire",
    "no encoding": "nope",
}  # fmt: skip
"""The encoding by its name in arms."""
LIVE = (("sinusoidal", 2), ("sinusoidal", 4), ("RoPE", 2), ("RoPE", 6))
"""The encodings and layers of the arms that run live: those of the key figure."""
TWO_HOPS = {
    "n_hops": 2,
    "vocab_size": 4,
    "seq_len": 32,
    "test_lengths": (32, 64),
    "d_model": 64,
    "warmup_steps": 50,
    "steps": 400,
}


def _name(encoding: str, layers: int = 4) -> str:
    return f"{encoding}, {layers} layers"


def _arm(encoding: str, layers: int) -> Arm:
    probed = ("position_probe", "neighbour_cosine") if (encoding, layers) == ("sinusoidal", 4) else ()
    settings, extended = {"pos_encoding": NAMES[encoding], "n_layers": layers}, (encoding, layers) not in LIVE
    return Arm(
        _name(encoding, layers), "comparison", settings, FAR, measurements=probed, extended=extended, points=POINTS
    )


def _two_hops(encoding: str) -> Arm:
    settings = {**TWO_HOPS, "pos_encoding": NAMES[encoding], "n_layers": 4}
    points = ((1.0, "accuracy@32"), (2.0, "accuracy@64"))
    return Arm(f"2 hops, {encoding}", "comparison", settings, "accuracy@32", extended=True, points=points)


def _farther(claim: str, one: str, other: str, metric: str = FAR) -> Claim:
    """The claim that one model is more accurate than another on longer sequences than those that both have learned."""
    return once_learned(AT[1.0], LEARNED_ACCURACY, Claim(claim, difference(one, other, metric), COUNTS))


def _over(claim: str, one: str, other: str) -> Claim:
    """The claim that one model is more accurate than another at the trained length."""
    return Claim(claim, difference(one, other, AT[1.0]), COUNTS)


def _two(claim: str, one: str, other: str) -> Claim:
    """The claim that one encoding is more accurate than another on two hops at the trained length."""
    return Claim(f"two-hops-{claim}", difference(f"2 hops, {one}", f"2 hops, {other}", "accuracy@32"), COUNTS)


BASE = {
    "task": "hops", "vocab_size": 8, "seq_len": TRAINED, "test_lengths": (24, 48, 96), "d_model": 32, "n_heads": 2, "batch_size": 32,
    "learning_rate": 0.01, "schedule": "cosine", "steps": 145,
}  # fmt: skip

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        *(_arm(*each) for each in LIVE),
        _arm("sinusoidal", 6),
        *(_arm(encoding, 4) for encoding in NAMES if (encoding, 4) not in LIVE),
        *(_two_hops(encoding) for encoding in NAMES),
    ),
    claims=(
        _farther("rope-against-layers", _name("RoPE", 2), _name("sinusoidal", 4)),
        _farther("six-layers-twice", _name("sinusoidal", 6), _name("sinusoidal", 2), TWICE),
        _farther("six-layers", _name("sinusoidal", 6), _name("sinusoidal", 2)),
        _farther("four-layers-twice", _name("sinusoidal", 4), _name("sinusoidal", 2), TWICE),
        _farther("six-layers-rope", _name("RoPE", 6), _name("RoPE", 2)),
        _farther("six-layers-rope-twice", _name("RoPE", 6), _name("RoPE", 2), TWICE),
        _farther("rope", _name("RoPE", 6), _name("sinusoidal", 6)),
        _over("trained-sinusoidal-learned", _name("sinusoidal"), _name("learned table")),
        _over("trained-sinusoidal-none", _name("sinusoidal"), _name("no encoding")),
        _over("trained-six-layers", _name("sinusoidal", 6), _name("sinusoidal", 2)),
        Claim("probe", rise(_name("sinusoidal"), "position_probe.4", "position_probe.0"), COUNTS, "less"),
        Claim(
            "neighbours", rise(_name("sinusoidal"), "neighbour_cosine@512", "neighbour_cosine@8"), 0.005, computed=True
        ),
        Claim("squeezed", rise(_name("sinusoidal"), "squeezed_cosine@512", "squeezed_cosine@8"), 0.005, computed=True),
        _farther("t5-bias", _name("T5 bias"), _name("RoPE")),
        _farther("fire", _name("FIRE"), _name("RoPE")),
        _farther("alibi", _name("ALiBi"), _name("RoPE")),
        _two("sinusoidal", "RoPE", "sinusoidal"),
        _two("learned", "RoPE", "learned table"),
        _two("alibi", "RoPE", "ALiBi"),
        _two("none", "RoPE", "no encoding"),
        _two("t5-bias", "T5 bias", "RoPE"),
        _two("fire", "FIRE", "RoPE"),
        once_learned(
            "accuracy@32",
            LEARNED_ACCURACY,
            Claim("two-hops-longer", difference("2 hops, RoPE", "2 hops, sinusoidal", "accuracy@64"), COUNTS),
        ),
    ),
    x_label="length relative to the trained one",
    evaluations=5,
)
