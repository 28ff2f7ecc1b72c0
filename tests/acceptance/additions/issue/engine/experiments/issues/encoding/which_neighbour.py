"""which-neighbour: a bias that falls with distance against no encoding, where the symbol before is asked for."""

from __future__ import annotations

from engine.experiments.experiment import Arm, Claim, difference
from engine.experiments.issues.issue import Issue
from engine.experiments.issues.written import worded, written
from engine.experiments.key_figure import KeyFigure, Row

ISSUE = Issue(
    slug="which-neighbour",
    group="encoding",
    **written(__file__),
    base={"task": "k_back", "k": 1, "seq_len": 12, "d_model": 32, "n_layers": 1, "n_heads": 4, "steps": 200},
    arms=(
        Arm("ALiBi", "comparison", {"pos_encoding": "alibi"}),
        Arm("no encoding", "comparison", {"pos_encoding": "nope"}),
    ),
    claims=worded(__file__, Claim("alibi", difference("ALiBi", "no encoding", "accuracy"), "accuracy", 0.1)),
    key_figure=KeyFigure(
        claim="alibi",
        sample="reads 7 2 9 4, must write · 7 2 9",
        question="Give a layer without an encoding a bias that falls with distance: what happens to the accuracy?",
        answers=("It falls", "It stays", "It rises"),
        quantity="Accuracy on new sequences",
        subject="the accuracy",
        change="With ALiBi",
        before=Row("no encoding", "no encoding", "accuracy"),
        after=Row("ALiBi", "ALiBi", "accuracy"),
        remedy="Give the scores a bias that falls with distance.",
    ),
)
