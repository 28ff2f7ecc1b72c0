"""The issues of depth: every claim asks for numbers that its arms give, and matched arms are matched."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from engine.analysis.measurements.take import take_measurement
from engine.config.run_config import RunConfig
from engine.estimate.prediction import predict
from engine.experiments.experiment import Claim
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.trial import Trial, read_trial
from engine.training.train import train

DEPTH = [issue for issue in ISSUES.values() if issue.group == "depth"]
CLAIMS = [pytest.param(issue, claim, id=claim.sentence) for issue in DEPTH for claim in issue.claims]


@cache
def two_steps(slug: str, arm_name: str) -> Trial:
    """An arm at seed 0 that ends after two steps."""
    issue = ISSUES[slug]
    arm = issue.arm(arm_name)
    config = issue.config(arm)
    config = config.replace(steps=min(2, config.steps), device="cpu")
    return read_trial(arm_name, 0, list(train(config, record=issue.record(arm), measure=take_measurement)))


@pytest.mark.parametrize(("issue", "claim"), CLAIMS)
def test_a_claim_asks_for_numbers_that_its_arms_give(issue: Issue, claim: Claim) -> None:
    def values(arm: str, metric: str) -> np.ndarray:
        if not claim.extended:
            assert not issue.arm(arm).extended, arm
        return np.array([two_steps(issue.slug, arm).numbers[metric]])

    effect = claim.effect(values)
    assert effect.shape == (1,)
    assert np.isfinite(effect).all()


@pytest.mark.parametrize("issue", DEPTH, ids=lambda issue: issue.slug)
def test_names_of_arms_are_told_apart(issue: Issue) -> None:
    names = [arm.name for arm in issue.arms]
    assert len(set(names)) == len(names)


def config_of(slug: str, name: str) -> RunConfig:
    return ISSUES[slug].config(ISSUES[slug].arm(name))


def test_the_wide_shared_block_has_as_many_parameters_as_the_own_blocks() -> None:
    own, wide, shared, once = (
        predict(config_of("shared-layers", name)).parameters
        for name in (
            "own block at each depth",
            "one wide block at 4 depths",
            "one block at 4 depths",
            "one block, once",
        )
    )
    assert wide == pytest.approx(own, rel=0.02)
    assert shared == once
    assert (own, wide, shared) == (9382, 9510, 2710), "the notes of the issue say so"


@pytest.mark.parametrize(
    ("slug", "fault", "control", "what"),
    [
        ("overfitting-depth", "6 layers, 128 sequences", "1 layer, 128 sequences", {"n_layers"}),
        ("missing-skips", "8 layers, no skips", "8 layers, skips", {"skips"}),
        ("missing-skips", "24 layers, no skips", "24 layers, skips", {"skips"}),
        ("missing-skips", "24 layers, no skips, no LayerNorm", "24 layers, no skips", {"norm"}),
        ("no-normalization", "SGD, no norm", "SGD, pre-LN", {"norm"}),
        ("no-normalization", "AdamW, no norm", "AdamW, pre-LN", {"norm"}),
        ("shared-layers", "one block at 4 depths", "own block at each depth", {"share_layers"}),
    ],
)
def test_one_thing_changes(slug: str, fault: str, control: str, what: set[str]) -> None:
    a, b = config_of(slug, fault).flat(), config_of(slug, control).flat()
    assert {name for name in a if a[name] != b[name]} == what
