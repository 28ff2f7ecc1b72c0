"""The issues of depth: every claim asks for numbers that its arms give, and matched arms are matched."""

from __future__ import annotations

import pytest

from engine.config.run_config import RunConfig
from engine.estimate.prediction import predict
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue

DEPTH = [issue for issue in ISSUES.values() if issue.group == "depth"]


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
