"""encoding-fits-task: a fixed table of waves where the relation is a fixed shift, a fixed order, or told by the content."""

from collections.abc import Mapping

from engine.experiments.experiment import Arm, Claim, Role, difference
from engine.experiments.issues.issue import read_issue

Settings = Mapping[str, object]
PERMUTATION: Settings = {"task": "permutation"}
THREE_BACK: Settings = {"task": "k_back", "k": 3}
CONTENT: Settings = {"task": "content_offset"}


def _arm(
    name: str, role: Role, encoding: str, task: Settings = PERMUTATION, *, extended: bool = False, **settings: object
) -> Arm:
    return Arm(name, role, {**task, **settings, "pos_encoding": encoding}, extended=extended)


def _slow(name: str, task: Settings) -> Arm:
    """An arm with sinusoids that stays at the rate of the base, for the finding of a comparison in which no rate is tuned."""
    return Arm(f"{name}, rate .005", "comparison", {**task, "pos_encoding": "sinusoidal"}, tuned=False)


BASE = {
    "family": "encoder", "vocab_size": 8, "seq_len": 16, "d_model": 32, "n_layers": 1, "n_heads": 4,
    "learning_rate": 0.005, "schedule": "cosine", "steps": 300,
}  # fmt: skip

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        _arm("sinusoidal", "fault", "sinusoidal"),
        _arm("learned table", "remedy", "learned"),
        _arm("RoPE", "comparison", "rope"),
        _slow("sinusoidal", PERMUTATION),
        _slow("3 back, sinusoidal", THREE_BACK),
        _arm("3 back, sinusoidal", "control", "sinusoidal", THREE_BACK),
        _arm("content offset, sinusoidal", "comparison", "sinusoidal", CONTENT),
        _arm("content offset, learned table", "comparison", "learned", CONTENT),
        _arm("content offset, RoPE", "remedy", "rope", CONTENT),
        _arm("sinusoidal, 900 steps", "comparison", "sinusoidal", steps=900, extended=True),
        _arm("T5 bias", "comparison", "t5_bias", extended=True),
        _arm("Shaw relative", "comparison", "shaw", extended=True),
        _arm("3 back, learned table", "comparison", "learned", THREE_BACK, extended=True),
        _arm("no encoding", "comparison", "nope", extended=True),
        _arm("RoPE, 2 layers, 900 steps", "comparison", "rope", n_layers=2, steps=900, extended=True),
        _arm("3 back, RoPE", "comparison", "rope", THREE_BACK, extended=True),
        _arm("content offset, Shaw relative", "remedy", "shaw", CONTENT, extended=True),
    ),
    claims=(
        Claim("sinusoidal", difference("sinusoidal", "3 back, sinusoidal", "accuracy"), 0.2, "less"),
        Claim("learned-table", difference("learned table", "sinusoidal", "accuracy"), 0.2),
        Claim("rope", difference("RoPE", "learned table", "accuracy"), 0.2, "less"),
        Claim("t5-bias", difference("T5 bias", "learned table", "accuracy"), 0.2, "less"),
        Claim(
            "one-rate", difference("sinusoidal, rate .005", "3 back, sinusoidal, rate .005", "accuracy"), 0.2, "less"
        ),
        Claim("best-rate", difference("sinusoidal", "sinusoidal, rate .005", "accuracy"), 0.2),
        Claim("learned-table-offset", difference("learned table", "3 back, learned table", "accuracy"), 0.05, "less"),
        Claim(
            "content-offset-rope", difference("content offset, RoPE", "content offset, learned table", "accuracy"), 0.2
        ),
        Claim(
            "content-offset-sinusoidal",
            difference("content offset, sinusoidal", "content offset, learned table", "accuracy"),
            0.05,
        ),
        Claim("more-steps", difference("sinusoidal, 900 steps", "sinusoidal", "accuracy"), 0.3),
    ),
)
