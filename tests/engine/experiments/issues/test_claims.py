from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from engine.analysis.measurements import depth, head_pruning, pointing
from engine.analysis.measurements.take import take_measurement
from engine.estimate import layout
from engine.experiments.experiment import Claim
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.trial import Trial, read_trial
from engine.training.train import train

CLAIMS = [
    pytest.param(issue, claim, id=f"{issue.slug}: {claim.id}", marks=[pytest.mark.acceptance] * (claim not in core))
    for issue, core in ((issue, issue.claims_of(issue.arms_of())) for issue in ISSUES.values())
    for claim in issue.claims
]
COUNTS_VISITS = "_seen_"
"""In the names of numbers over positions that were met often enough: these need all steps of the arm."""


@pytest.fixture(scope="module", autouse=True)
def _measurements_are_short() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(depth, "DRAWS", 2)
        patch.setattr(head_pruning, "SAMPLES", 32)
        patch.setattr(pointing, "SAMPLES", 32)
        patch.setattr(layout, "VALIDATION_SIZE", 32)
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
    assert all(np.isfinite(values(arm, metric)).all() for arm, metric, _ in claim.learned)
