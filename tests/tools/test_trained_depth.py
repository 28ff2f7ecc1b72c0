"""The program stores the numbers by depth of both arms, before training and after it."""

from pathlib import Path

import numpy as np
import pytest

from engine.experiments.issues import ISSUES
from engine.experiments.trained_depth import read_trained_depth
from tests.engine.experiments.fake_issue import fake_issue
from tools import trained_depth


def test_both_arms_are_measured_before_and_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    issue = fake_issue(base={"steps": 3, "learning_rate": 0.05, "d_model": 8, "n_layers": 2, "seq_len": 6})
    monkeypatch.setitem(ISSUES, "fake", issue)
    monkeypatch.setattr(trained_depth, "SEEDS", (0, 1))
    trained_depth.main(["fake", "--write", str(tmp_path)])
    found = {one.arm: one for one in read_trained_depth(issue, tmp_path)}
    assert found.keys() == {"long", "short"}
    for before, after in zip(found["long"].untrained, found["long"].trained, strict=True):
        assert before["token_share"].shape == after["token_share"].shape == (2,)
        assert not np.allclose(before["token_share"], after["token_share"])
    first = found["long"].untrained[0], found["short"].untrained[0]
    np.testing.assert_array_equal(first[0]["token_share"], first[1]["token_share"])  # one seed, one first model
