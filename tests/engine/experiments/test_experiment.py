"""An experiment as a value: its seeds, what makes two arms the same, and what its report gives of each arm."""

import json
from dataclasses import replace

import pytest

from engine.experiments.experiment import Arm
from engine.experiments.report import report
from engine.experiments.trial import Trial
from tests.engine.experiments.fake_issue import fake_issue


def test_the_seeds_follow_the_first_and_bad_numbers_are_refused_in_one_sentence() -> None:
    assert fake_issue(seeds=3, first_seed=10).seed_range == range(10, 13)
    with pytest.raises(ValueError, match=r"seeds is 0; allowed is a whole number from 1 to 16\."):
        fake_issue(seeds=0)
    with pytest.raises(ValueError, match="first_seed is -1; allowed is a whole number from 0"):
        fake_issue(first_seed=-1)


def test_an_arm_is_the_same_under_another_name_but_not_under_other_settings() -> None:
    experiment = fake_issue()
    long = experiment.arm("long")
    other = replace(experiment, slug="other", seeds=2, base={**experiment.base, "learning_rate": 1e-5})
    assert experiment.identity(long) == experiment.identity(Arm("renamed", "fault", {}))
    assert experiment.identity(long) != experiment.identity(replace(long, measurements=("pointing",)))
    assert experiment.identity(long) != experiment.identity(experiment.arm("short"))
    assert experiment.identity(long) != other.identity(long)
    assert experiment.identity(long) != replace(experiment, curves=("grad.0.q",)).identity(long)


def test_claims_on_extended_arms_are_extended() -> None:
    issue = fake_issue()
    assert [claim.id for claim in issue.claims_of()] == ["short", "long"]
    assert issue.claims_of(extended=True) == issue.claims


def test_the_points_of_an_arm_that_is_a_line_by_itself_come_from_its_trials_seed_by_seed() -> None:
    issue = fake_issue()
    arm = replace(issue.arms[0], points=((1.0, "accuracy@6"), (2.0, "accuracy@12")))
    issue = replace(issue, arms=(arm, *issue.arms[1:]))
    trials = [Trial(arm.name, 0, {"accuracy@6": 1.0, "accuracy@12": 0.5}), Trial(arm.name, 1, {"accuracy@6": 0.9})]
    first, *others = json.loads(json.dumps(report(issue, trials, range(3)).to_json()))["arms"]
    assert [(point["x"], point["metric"], point["values"]) for point in first["points"]] == [
        (1.0, "accuracy@6", [1.0, 0.9, None]), (2.0, "accuracy@12", [0.5, None, None]),
    ]  # fmt: skip
    assert not any(other["points"] for other in others)
