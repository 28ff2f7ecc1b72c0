"""The hash of a design changes with what decides a finding, and not with words."""

from dataclasses import replace

import pytest

from engine.experiments.evidence.design import design_hash, fixed_designs
from engine.experiments.evidence.shipped import is_fresh, sets_of_seeds
from engine.experiments.experiment import Arm, Experiment, difference
from engine.experiments.issues import ISSUES
from tests.engine.experiments.fake_issue import fake_issue

ISSUE = fake_issue()
FIRST = ISSUE.claims[0]


@pytest.mark.parametrize(
    "changed",
    [
        replace(ISSUE, claims=(replace(FIRST, smallest_effect=0.02), *ISSUE.claims[1:])),
        replace(ISSUE, claims=(replace(FIRST, direction="less"), *ISSUE.claims[1:])),
        replace(ISSUE, claims=(replace(FIRST, effect=difference("long", "short", "loss")), *ISSUE.claims[1:])),
        replace(ISSUE, claims=(replace(FIRST, effect=lambda values: 2 * FIRST.effect(values)), *ISSUE.claims[1:])),
        replace(ISSUE, claims=(replace(FIRST, learned=(("long", "loss", 0.5),)), *ISSUE.claims[1:])),
        replace(ISSUE, claims=ISSUE.claims[::-1]),
        replace(ISSUE, claims=ISSUE.claims[:2]),
        replace(ISSUE, arms=(*ISSUE.arms, Arm("more", "remedy", {"steps": 3}, "loss"))),
        replace(ISSUE, rates={"short": 0.1}),
        replace(ISSUE, key_figure=replace(ISSUE.key_figure, claim="long")),
    ],
)
def test_a_change_of_what_is_compared_or_of_what_counts_is_another_design(changed: Experiment) -> None:
    assert design_hash(changed) != design_hash(ISSUE)


def test_words_are_not_the_design() -> None:
    words = replace(FIRST, sentence="Fewer steps, higher loss.", condition="here", about="condition")
    figure = replace(ISSUE.key_figure, question="Why?", remedy="Wait.")
    assert design_hash(
        replace(ISSUE, title="New", claims=(words, *ISSUE.claims[1:]), key_figure=figure)
    ) == design_hash(ISSUE)


def test_the_fixed_designs_are_those_of_today_and_fresh_seeds_were_run_with_them() -> None:
    """Who changes a design fixes it again with ``python -m tools.fresh fix``; after its fresh seeds are run it stays."""
    fixed = fixed_designs()
    assert fixed == {slug: design_hash(issue) for slug, issue in ISSUES.items()}
    for measured in sets_of_seeds():
        if is_fresh(measured["seeds"]):
            assert {slug: row["design"] for slug, row in measured["issues"].items()}.items() <= fixed.items()
