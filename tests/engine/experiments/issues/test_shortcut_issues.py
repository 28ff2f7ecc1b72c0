"""The issues about positions and trivial solutions: claims speak of arms and numbers that exist; arms differ as they say."""

from __future__ import annotations

import numpy as np
import pytest

from engine.analysis.measurements.held_out import band, exposures
from engine.experiments.issues import ISSUES
from engine.experiments.issues.encoding.learned_needs_data import MOSTLY_SHORT, OFTEN, RARELY
from engine.experiments.issues.issue import Issue

OURS = [
    ISSUES[slug]
    for slug in ("position-shortcut", "learned-needs-data", "table-scale", "trivial-solutions", "missing-mask")
]
NUMBERS = {
    "decorrelated": {"decorrelated_accuracy"},
    "shuffle_meters": {"unchanged_by_content", "unchanged_by_positions"},
    "accuracy_by_position": {OFTEN, RARELY},
    "table_structure": {"table_structure"},
}
"""What the measurements give that claims speak of."""


def slug_of(issue: Issue) -> str:
    return issue.slug


@pytest.mark.parametrize("issue", OURS, ids=slug_of)
def test_every_claim_speaks_of_numbers_that_its_arms_give(issue: Issue) -> None:
    for claim in issue.claims:
        asked: list[tuple[str, str]] = []

        def values(arm: str, metric: str, asked: list[tuple[str, str]] = asked) -> np.ndarray:
            asked.append((arm, metric))
            return np.zeros(3)

        assert claim.effect(values).shape == (3,)
        for name, metric in asked:
            arm = issue.arm(name)
            given = {"accuracy", "first_half_accuracy", "second_half_accuracy", "written_accuracy"}
            assert metric in given.union(*(NUMBERS[m] for m in arm.measurements)), (claim.sentence, metric)
            assert claim.extended or not arm.extended, claim.sentence


@pytest.mark.parametrize("issue", OURS, ids=slug_of)
def test_every_arm_is_a_run_of_its_own(issue: Issue) -> None:
    names = [arm.name for arm in issue.arms]
    assert len(set(names)) == len(names)
    configs = [issue.config(arm, seed=3) for arm in issue.arms]
    assert len(set(configs)) == len(configs)


def test_positions_are_visited_as_often_as_the_bands_say() -> None:
    issue = ISSUES["learned-needs-data"]
    arm = issue.arm("learned, mostly short")
    bands = {band(times) for times in exposures(issue.config(arm))}
    assert {OFTEN, RARELY} <= bands
    assert MOSTLY_SHORT.items() <= dict(arm.settings).items()
