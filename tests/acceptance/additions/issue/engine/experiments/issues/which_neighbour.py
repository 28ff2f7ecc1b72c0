"""which-neighbour: a bias that falls with distance against no encoding, where the symbol before is asked for."""

from __future__ import annotations

from engine.experiments.experiment import Arm, Claim, difference
from engine.experiments.issues.issue import Issue

ISSUE = Issue(
    slug="which-neighbour",
    group="encoding",
    title="Finding the neighbour",
    summary="With a bias that falls with distance one layer finds the symbol before; without an encoding it does not.",
    mechanism=r"""
Without an encoding the score $q_i \cdot k_j$ depends on the two symbols alone: equal symbols get equal weights wherever
they stand. A bias $-m\,|i-j|$ makes the weight of the nearest ones the largest (Press et al. 2022, section 3).
""",
    base={"task": "k_back", "k": 1, "seq_len": 12, "d_model": 32, "n_layers": 1, "n_heads": 4, "steps": 200},
    arms=(
        Arm("ALiBi", "comparison", {"pos_encoding": "alibi"}),
        Arm("no encoding", "comparison", {"pos_encoding": "nope"}),
    ),
    claims=(
        Claim(
            "ALiBi finds the symbol before more often than no encoding does.",
            difference("ALiBi", "no encoding", "accuracy"),
            "accuracy",
            0.1,
        ),
    ),
    remedies=(
        "Give the scores a bias that falls with distance.",
        "Turn queries and keys by their positions (RoPE).",
        "Add a learned table to the embedding.",
    ),
    sources=("Press et al. 2022, Train Short, Test Long, section 3",),
)
