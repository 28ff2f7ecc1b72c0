"""What the comparisons rest on: equal sizes, arms that exist for every claim, formulas told in the text that hold."""

from __future__ import annotations

import numpy as np
import pytest

from engine.architectures import ARCHITECTURES
from engine.estimate.layout import shapes
from engine.estimate.matching import n_parameters
from engine.estimate.memory import count_parameters
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue

MINE = [ISSUES[slug] for slug in ("data-hunger", "quadratic-cost", "parameter-growth")]


@pytest.mark.parametrize("slug", ["data-hunger", "quadratic-cost"])
def test_models_that_are_compared_have_as_many_parameters(slug: str) -> None:
    issue = ISSUES[slug]
    plain = [issue.config(arm) for arm in issue.arms if "pretrain_steps" not in arm.settings]
    plain = [config for config in plain if config.pos_encoding == issue.base["pos_encoding"]]
    for config in plain:
        same_task = [n_parameters(other) for other in plain if other.task == config.task and other.family == "decoder"]
        assert n_parameters(config) == pytest.approx(same_task[0], rel=0.03), config.family
    assert {config.family for config in plain} >= {"decoder", "gru", "cnn"}


def test_every_network_sees_the_whole_sequence_it_is_asked_about() -> None:
    issue = ISSUES["data-hunger"]
    for arm in issue.arms:
        config = issue.config(arm)
        seen = ARCHITECTURES[config.family].sees(config)
        assert seen is None or seen >= shapes(config).length


@pytest.mark.parametrize("issue", MINE, ids=lambda issue: issue.slug)
@pytest.mark.parametrize("extended", [False, True])
def test_every_claim_asks_for_arms_that_run_with_it(issue: Issue, extended: bool) -> None:
    running = {arm.name for arm in issue.arms_of(extended)}
    asked: set[str] = set()

    def values(arm: str, metric: str) -> np.ndarray:
        asked.add(arm)
        return np.ones(2)

    for claim in issue.claims_of(extended):
        claim.effect(values)
    assert asked <= running
    assert len(running) == len(issue.arms_of(extended)), "names are unique"


def test_a_block_has_the_parameters_that_the_text_says() -> None:
    issue = ISSUES["parameter-growth"]
    for arm in issue.arms:
        config = issue.config(arm)
        d, f = config.d_model, config.mlp_width // config.d_model
        told = (4 * d**2 + 4 * d) + (2 * f * d**2 + (f + 1) * d) + 4 * d
        counts = count_parameters(config, **shapes(config).of_model)
        blocks = 1 if config.share_layers else config.n_layers
        assert counts["attention"] + counts["mlp"] + counts["norm"] == blocks * told + 2 * d  # and the last norm
