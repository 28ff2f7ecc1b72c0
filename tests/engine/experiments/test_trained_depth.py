"""What training did by depth is shown only of arms with today's settings."""

from dataclasses import replace

import numpy as np
import pytest

from engine.experiments.evidence import FOLDER
from engine.experiments.issues import ISSUES
from engine.experiments.trained_depth import SEEDS, read_trained_depth, rows


@pytest.mark.parametrize("slug", rows(FOLDER))
def test_the_stored_numbers_are_those_of_both_arms_of_the_question(slug: str) -> None:
    issue = ISSUES[slug]
    found = read_trained_depth(issue)
    assert {one.arm for one in found} == {issue.key_figure.before.arm, issue.key_figure.after.arm}
    for one in found:
        depths = np.arange(1, issue.config(issue.arm(one.arm)).n_layers + 1)
        for numbers in (*one.untrained, *one.trained):
            np.testing.assert_array_equal(numbers["depths"], depths)
        assert len(one.untrained) == len(one.trained) == len(SEEDS)


def test_an_arm_with_other_settings_has_none() -> None:
    issue = ISSUES["tokens-alike"]
    arms = [replace(arm, settings={**arm.settings, "steps": 7}) if arm.name == "skips" else arm for arm in issue.arms]
    assert [one.arm for one in read_trained_depth(replace(issue, arms=tuple(arms)))] == ["no skips"]
    assert read_trained_depth(replace(issue, slug="other")) == []
