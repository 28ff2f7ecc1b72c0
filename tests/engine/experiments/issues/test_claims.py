"""The claims of all issues: each finds its numbers in runs of its arms, and says of made-up numbers what is in them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from engine.analysis.measurements import head_pruning, timing
from engine.analysis.measurements.take import take_measurement
from engine.estimate import layout
from engine.experiments.experiment import Change, Claim
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.report import report
from engine.experiments.trial import Trial, read_trial
from engine.training.train import train

CLAIMS = [
    pytest.param(
        issue,
        claim,
        id=f"{issue.slug}: {claim.sentence}",
        marks=[pytest.mark.acceptance] * (claim not in issue.claims_of()),
    )
    for issue in ISSUES.values()
    for claim in issue.claims
]
DIFFERENCES = [row for row in CLAIMS if isinstance(row.values[1].effect, Change)]
"""Those of which the effect is one number minus another; the other effects have tests of their own."""
COUNTS_VISITS = "_seen_"
"""In the names of numbers over positions that were met often enough: these need all steps of the arm."""
SEEDS = range(6)
"""As few as can decide."""
NOISE = np.linspace(-0.05, 0.05, len(SEEDS))
"""What a number is off by at each seed, as a share of the smallest effect worth naming."""


@pytest.fixture(scope="module", autouse=True)
def _measurements_are_short() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        less = (
            (timing, "FEWEST", 1),
            (timing, "ENOUGH", 0.0),
            (head_pruning, "SAMPLES", 32),
            (layout, "VALIDATION_SIZE", 32),
        )
        for module, name, value in less:
            patch.setattr(module, name, value)
        yield


@cache
def trained(slug: str, arm_name: str, whole: bool) -> Trial:
    """An arm at seed 0, with all its steps or with two on few sequences."""
    issue = ISSUES[slug]
    arm = issue.arm(arm_name)
    config = issue.config(arm).replace(device="cpu")
    if not whole:
        few = min(8, config.batch_size)
        config = config.replace(steps=2, pretrain_steps=min(1, config.pretrain_steps), batch_size=few)
    return read_trial(arm_name, 0, list(train(config, record=issue.record(arm), measure=take_measurement)))


@pytest.mark.parametrize(("issue", "claim"), CLAIMS)
def test_a_claim_asks_for_numbers_that_its_arms_give(issue: Issue, claim: Claim) -> None:
    def values(arm: str, metric: str) -> np.ndarray:
        return np.array([trained(issue.slug, arm, COUNTS_VISITS in metric).number(metric)])

    effect = claim.effect(values)
    assert effect.shape == (1,)
    assert np.isfinite(effect).all()


@pytest.mark.parametrize(("issue", "claim"), DIFFERENCES)
def test_a_claim_says_what_is_in_the_numbers(issue: Issue, claim: Claim) -> None:
    assert {times: found(issue, claim, times) for times in (3.0, 0.0, -3.0)} == {
        3.0: "holds", 0.0: "none", -3.0: "opposite"
    }  # fmt: skip


def found(issue: Issue, claim: Claim, times: float) -> str:
    """The finding where the effect is this multiple of the smallest one worth naming, on the side that the claim names."""
    assert isinstance(claim.effect, Change)
    change = claim.smallest_effect * (times if claim.direction == "more" else -times)
    before = claim.effect.before
    numbers = {claim.effect.after: (before if isinstance(before, float | int) else 0.5) + change}
    if isinstance(before, tuple):
        numbers[before] = 0.5

    trials = [
        Trial(arm.name, seed, {
            metric: number + (claim.smallest_effect * NOISE[seed] if (name, metric) == claim.effect.after else 0.0)
            for (name, metric), number in numbers.items()
            if name == arm.name
        })
        for arm in issue.arms
        for seed in SEEDS
    ]  # fmt: skip
    return report(issue, trials, SEEDS, extended=True).claim(claim.id).finding
