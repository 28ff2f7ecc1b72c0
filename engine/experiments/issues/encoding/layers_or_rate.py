"""layers-or-rate: more sinusoidal layers against one layer that is told where its tokens stand."""

from engine.experiments.experiment import Arm, Claim, Role, difference, rise
from engine.experiments.issues.issue import read_issue

MEASURED = ("position_probe", "neighbour_cosine")


def _sinusoidal(layers: int, role: Role, *, extended: bool = False) -> Arm:
    points = tuple((float(layer), f"position_probe.{layer}") for layer in range(layers + 1))
    name = "one sinusoidal layer" if layers == 1 else f"{layers} sinusoidal layers"
    return Arm(name, role, {"n_layers": layers}, measurements=MEASURED, extended=extended, points=points)


def _slow(name: str, **settings: object) -> Arm:
    """An arm that stays at the one rate of the base, for the finding of a comparison in which no rate is tuned."""
    return Arm(f"{name}, rate .003", "comparison", settings, tuned=False)


BASE = {
    "task": "k_back", "k": 2, "seq_len": 64, "batch_size": 8, "d_model": 32, "n_heads": 4, "learning_rate": 0.003,
    "schedule": "cosine", "steps": 200, "pos_encoding": "sinusoidal",
}  # fmt: skip

ISSUE = read_issue(
    __file__,
    base=BASE,
    arms=(
        _sinusoidal(4, "fault"),
        _sinusoidal(2, "comparison"),
        _sinusoidal(1, "control"),
        Arm("one RoPE layer", "remedy", {"pos_encoding": "rope", "n_layers": 1}),
        _slow("4 sinusoidal layers", n_layers=4),
        _slow("one sinusoidal layer", n_layers=1),
        _slow("one RoPE layer", n_layers=1, pos_encoding="rope"),
        _sinusoidal(6, "comparison", extended=True),
        Arm("2 RoPE layers", "remedy", {"pos_encoding": "rope", "n_layers": 2}, extended=True),
    ),
    claims=(
        Claim("four-against-rope", difference("4 sinusoidal layers", "one RoPE layer", "accuracy"), 0.2, "less"),
        Claim("rope", difference("one RoPE layer", "one sinusoidal layer", "accuracy"), 0.2),
        Claim("four-layers", difference("4 sinusoidal layers", "one sinusoidal layer", "accuracy"), 0.2),
        Claim("four-over-two", difference("4 sinusoidal layers", "2 sinusoidal layers", "accuracy"), 0.1),
        Claim(
            "one-rate",
            difference("4 sinusoidal layers, rate .003", "one RoPE layer, rate .003", "accuracy"),
            0.2,
            "less",
        ),
        Claim(
            "one-rate-four-layers",
            difference("4 sinusoidal layers, rate .003", "one sinusoidal layer, rate .003", "accuracy"),
            0.2,
        ),
        Claim("best-rate", difference("one sinusoidal layer", "one sinusoidal layer, rate .003", "accuracy"), 0.2),
        Claim("probe", rise("4 sinusoidal layers", "position_probe.4", "position_probe.0"), 0.1, "less"),
        Claim("neighbours", rise("one sinusoidal layer", "neighbour_cosine@512", "neighbour_cosine@8"), 0.005),
        Claim("squeezed", rise("one sinusoidal layer", "squeezed_cosine@512", "squeezed_cosine@8"), 0.005),
        Claim("six-over-four", difference("6 sinusoidal layers", "4 sinusoidal layers", "accuracy"), 0.1),
    ),
    x_label="layer (0 is the embedding)",
)
