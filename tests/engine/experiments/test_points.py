"""An arm that is a line by itself: each point's values come from the trials, seed by seed."""

from __future__ import annotations

import json
from dataclasses import replace

from engine.experiments.issues import ISSUES
from engine.experiments.report import report
from engine.experiments.trial import Trial


def test_points_are_filled_from_the_trials() -> None:
    issue = ISSUES["missing-mask"]
    arm = replace(issue.arms[0], points=((1.0, "accuracy@6"), (2.0, "accuracy@12")))
    issue = replace(issue, arms=(arm, *issue.arms[1:]))
    trials = [Trial(arm.name, 0, {"accuracy@6": 1.0, "accuracy@12": 0.5}), Trial(arm.name, 1, {"accuracy@6": 0.9})]
    first, *others = json.loads(json.dumps(report(issue, trials, range(3)).to_json()))["arms"]
    assert [(point["x"], point["values"]) for point in first["points"]] == [
        (1.0, [1.0, 0.9, None]),
        (2.0, [0.5, None, None]),
    ]
    assert not any(other["points"] for other in others)
    assert first["points"][1]["metric"] == "accuracy@12"
