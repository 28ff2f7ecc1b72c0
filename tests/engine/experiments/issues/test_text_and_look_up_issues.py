"""What the issues on heads, interpretability and windows compare: one factor at a time, effects of the sign they claim."""

from __future__ import annotations

import numpy as np
import pytest

from engine.estimate.layout import shapes
from engine.estimate.prediction import predict
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue

SLUGS = ("heads", "interpretability", "overlapping-windows")


@pytest.mark.parametrize("slug", SLUGS)
def test_every_arm_is_a_config_that_can_be_predicted(slug: str) -> None:
    issue = ISSUES[slug]
    for arm in issue.arms:
        assert predict(issue.config(arm)).parameters > 0, arm.name


@pytest.mark.parametrize("slug", SLUGS)
def test_every_fault_has_a_control_and_a_claimed_remedy(slug: str) -> None:
    issue = ISSUES[slug]
    assert "control" in {arm.role for arm in issue.arms}
    assert any(claim.about == "remedy" for claim in issue.claims)


def values_of(issue: Issue, numbers: dict[tuple[str, str], float]):  # type: ignore[no-untyped-def]
    def values(arm: str, metric: str) -> np.ndarray:
        assert arm in {known.name for known in issue.arms_of()}, f"a core claim needs a core arm, not {arm}"
        return np.array([numbers.get((arm, metric), 0.0)])

    return values


@pytest.mark.parametrize("slug", SLUGS)
def test_core_claims_need_core_arms_only(slug: str) -> None:
    issue = ISSUES[slug]
    for claim in issue.claims_of():
        assert claim.effect(values_of(issue, {})).shape == (1,)


def test_an_overfitting_overlap_would_speak_for_the_claim() -> None:
    issue = ISSUES["overlapping-windows"]
    overfit = values_of(issue, {("overlapping", "gap"): 2.0, ("side by side", "gap"): 1.0})
    assert issue.claims[0].effect(overfit)[0] == 1.0
    assert issue.claims[0].direction == "more"


def test_heads_of_one_line_have_equally_many_parameters() -> None:
    issue = ISSUES["heads"]
    for line in {arm.line for arm in issue.arms if arm.line}:
        assert len({predict(issue.config(arm)).parameters for arm in issue.arms if arm.line == line}) == 1


def test_windows_side_by_side_and_as_many_are_equally_many() -> None:
    issue = ISSUES["overlapping-windows"]
    config = issue.config(issue.arm("side by side"))
    tokens, length = config.value("text_tokens"), shapes(config).length
    few = issue.config(issue.arm("overlapping, as many windows"))
    assert few.dataset_size == (tokens - length) // length
