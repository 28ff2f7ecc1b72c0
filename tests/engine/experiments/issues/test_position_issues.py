"""The issues on positional encoding: claims stand on arms that exist, and the levels that they compare with are right."""

from __future__ import annotations

import itertools
from collections import Counter
from statistics import fmean

import numpy as np
import pytest

from engine.experiments.issues import ISSUES
from engine.experiments.issues.encoding.longer_sequences import ISSUE as LONGER
from engine.experiments.issues.encoding.no_encoding import bag_bound
from engine.experiments.issues.issue import Issue

SLUGS = ("longer-sequences", "stacking-does-not-help", "fixed-encoding", "no-encoding")


def asked_for(issue: Issue, *, extended: bool) -> list[tuple[str, str, bool]]:
    """What the claims ask for: arm, metric, and whether the claim is an extended one."""
    asked: list[tuple[str, str, bool]] = []
    for claim in issue.claims_of(extended):

        def values(arm: str, metric: str, is_extended: bool = claim.extended) -> np.ndarray:
            asked.append((arm, metric, is_extended))
            return np.zeros(2)

        assert np.shape(claim.effect(values)) == (2,)
    return asked


@pytest.mark.parametrize("slug", SLUGS)
def test_every_claim_stands_on_arms_that_run_with_it(slug: str) -> None:
    issue = ISSUES[slug]
    extended = {arm.name: arm.extended for arm in issue.arms}
    for arm, _, is_extended in asked_for(issue, extended=True):
        assert arm in extended
        assert is_extended or not extended[arm]


@pytest.mark.parametrize("slug", SLUGS)
def test_test_lengths_and_layers_that_are_asked_for_are_measured(slug: str) -> None:
    issue = ISSUES[slug]
    asked = [(arm, metric) for arm, metric, _ in asked_for(issue, extended=True)]
    asked += [(arm.name, metric) for arm in issue.arms for _, metric in arm.points]
    for name, metric in asked:
        arm = issue.arm(name)
        config = issue.config(arm)
        if metric.startswith("position_probe."):
            assert "position_probe" in arm.measurements
            assert int(metric.split(".")[1]) <= config.n_layers
        elif "cosine" in metric:
            assert "neighbour_cosine" in arm.measurements
        elif "@" in metric:
            assert int(metric.split("@")[1]) in config.test_lengths


@pytest.mark.parametrize("slug", SLUGS)
def test_a_fault_has_a_control_and_a_remedy(slug: str) -> None:
    roles = {arm.role for arm in ISSUES[slug].arms_of(extended=False)}
    assert {"fault", "control", "remedy"} <= roles
    about = [claim.about for claim in ISSUES[slug].claims_of(extended=False)]
    assert about[0] == "issue"
    assert "remedy" in about


def test_the_published_rows_name_arms_that_exist() -> None:
    names = {arm.name for arm in LONGER.arms}
    for table in LONGER.published:
        for row, cells in table.rows.items():
            assert len(cells) == len(table.columns) == len(table.ours[row])
            assert {arm for arm, _ in table.ours[row]} <= names


@pytest.mark.parametrize(("length", "symbols"), [(1, 4), (3, 2), (4, 3), (5, 4)])
def test_the_bag_bound_by_counting_all_sequences(length: int, symbols: int) -> None:
    commonest = [max(Counter(word).values()) for word in itertools.product(range(symbols), repeat=length)]
    assert bag_bound(length, symbols) == pytest.approx(fmean(commonest) / length)


def test_a_table_without_rows_is_told_from_a_trial_that_is_missing() -> None:
    claim = next(claim for claim in LONGER.claims if "no row" in claim.sentence)
    numbers = {"accuracy@12": [1.0, 1.0, np.nan], "accuracy@18": [np.nan, 0.4, np.nan]}
    effect = claim.effect(lambda arm, metric: np.array(numbers[metric]))
    np.testing.assert_array_equal(effect, [1.0, 0.0, np.nan])
