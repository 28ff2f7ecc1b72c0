from collections.abc import Mapping

from engine.experiments.experiment import Arm, Change, Claim, Role, difference
from engine.experiments.issues.issue import read_issue

Settings = Mapping[str, object]
# Steps and largest offset are chosen for headroom: at their best rates, RoPE is between .75 and .97 if the token gives the offset, as
# are sinusoids on three back and a learned table on the shuffle.
CONTENT: Settings = {"task": "content_offset", "max_offset": 8, "steps": 260, "learning_rate": 0.03}
THREE_BACK: Settings = {"task": "k_back", "k": 3, "steps": 70, "learning_rate": 0.05}
PERMUTATION: Settings = {"task": "permutation", "steps": 28, "learning_rate": 0.05}
# The smallest effect that counts, in accuracy: one for all claims here. It was .2 in most, .05 in two and .3 in one, so that .89
# against 1.00 was no effect next to a claim that counted .05.
SMALLEST_EFFECT = 0.05


def _arm(name: str, role: Role, encoding: str, task: Settings, *, extended: bool = False, **settings: object) -> Arm:
    return Arm(name, role, {**task, **settings, "pos_encoding": encoding}, extended=extended)


def _minus(one: str, other: str) -> Change:
    return difference(one, other, "accuracy")


BASE = {
    "family": "encoder", "vocab_size": 8, "seq_len": 16, "d_model": 32, "n_layers": 1, "n_heads": 4,
    "schedule": "cosine",
}  # fmt: skip

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        _arm("content offset, sinusoidal", "fault", "sinusoidal", CONTENT),
        _arm("content offset, RoPE", "remedy", "rope", CONTENT),
        _arm("content offset, learned table", "comparison", "learned", CONTENT),
        _arm("3 back, sinusoidal", "control", "sinusoidal", THREE_BACK),
        _arm("shuffle, sinusoidal", "comparison", "sinusoidal", PERMUTATION),
        _arm("shuffle, learned table", "remedy", "learned", PERMUTATION),
        _arm("shuffle, RoPE", "comparison", "rope", PERMUTATION),
        _arm("content offset, sinusoidal, 780 steps", "comparison", "sinusoidal", CONTENT, steps=780, extended=True),
        _arm("content offset, Shaw relative", "remedy", "shaw", CONTENT, extended=True),
        _arm("shuffle, sinusoidal, 280 steps", "comparison", "sinusoidal", PERMUTATION, steps=280, extended=True),
        _arm("shuffle, T5 bias", "comparison", "t5_bias", PERMUTATION, extended=True),
        _arm(
            "shuffle, RoPE, 2 layers, 900 steps",
            "comparison",
            "rope",
            PERMUTATION,
            n_layers=2,
            steps=900,
            extended=True,
        ),
    ),
    claims=(
        Claim("content-offset", _minus("content offset, sinusoidal", "content offset, RoPE"), SMALLEST_EFFECT, "less"),
        Claim(
            "content-offset-longer",
            _minus("content offset, sinusoidal, 780 steps", "content offset, RoPE"),
            SMALLEST_EFFECT,
            "less",
        ),
        Claim("content-offset-rope", _minus("content offset, RoPE", "content offset, learned table"), SMALLEST_EFFECT),
        Claim("told-offset", _minus("content offset, sinusoidal", "3 back, sinusoidal"), SMALLEST_EFFECT, "less"),
        Claim("learned-table", _minus("shuffle, learned table", "shuffle, sinusoidal"), SMALLEST_EFFECT),
        Claim("rope", _minus("shuffle, RoPE", "shuffle, learned table"), SMALLEST_EFFECT, "less"),
        Claim("t5-bias", _minus("shuffle, T5 bias", "shuffle, learned table"), SMALLEST_EFFECT, "less"),
        Claim("more-steps", _minus("shuffle, sinusoidal, 280 steps", "shuffle, sinusoidal"), SMALLEST_EFFECT),
    ),
)
