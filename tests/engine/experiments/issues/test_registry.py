"""What holds for every documented issue, whatever comes out of it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from engine.analysis.measurements import MEASUREMENTS
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import GROUPS, Issue
from engine.foundation.glossary import TERMS

EVERY = pytest.mark.parametrize("issue", ISSUES.values(), ids=list(ISSUES))


@EVERY
def test_every_arm_has_a_config_and_a_fault_a_control_and_something_that_mends_it(issue: Issue) -> None:
    for arm in issue.arms:
        config = issue.config(arm, seed=3)
        assert config.seed == 3
        assert set(arm.measurements) <= set(MEASUREMENTS)
        if arm.role in ("fault", "remedy") and arm.settings:
            assert issue.changes(arm), arm.name
    assert len({arm.name for arm in issue.arms}) == len(issue.arms)
    roles = {arm.role for arm in issue.arms}
    if "fault" in roles:
        assert "control" in roles
        assert "remedy" in roles or any(claim.about == "remedy" for claim in issue.claims)
    else:
        assert roles == {"comparison"}


@EVERY
def test_claims_are_about_arms_that_the_same_run_has(issue: Issue) -> None:
    for claim in issue.claims:
        asked: list[tuple[str, str]] = []

        def values(arm: str, metric: str, asked: list[tuple[str, str]] = asked) -> np.ndarray:
            asked.append((arm, metric))
            return np.ones(3)

        effects = claim.effect(values)
        assert np.shape(effects) == (3,)
        assert asked
        assert {arm for arm, _ in asked} <= {arm.name for arm in issue.arms_of(claim.extended)}
        assert claim.smallest_effect > 0
    assert not issue.claims[0].extended
    assert len({claim.id for claim in issue.claims}) == len(issue.claims)


@EVERY
def test_an_effect_is_paired_by_seed(issue: Issue) -> None:
    """Where one seed is missing, the effects of the others stay what they are."""
    rng = np.random.default_rng(0)
    numbers: dict[tuple[str, str], np.ndarray] = {}

    def whole(arm: str, metric: str) -> np.ndarray:
        return numbers.setdefault((arm, metric), rng.uniform(0.1, 0.9, 4))

    def without_the_second(arm: str, metric: str) -> np.ndarray:
        values = whole(arm, metric).copy()
        values[1] = np.nan
        return values

    for claim in issue.claims:
        full, partial = claim.effect(whole), claim.effect(without_the_second)
        assert np.isfinite(full).all()
        np.testing.assert_allclose(np.delete(partial, 1), np.delete(full, 1))
        assert np.isnan(partial[1])


@EVERY
def test_an_issue_is_complete(issue: Issue) -> None:
    assert ISSUES[issue.slug] is issue
    assert issue.group in GROUPS
    assert issue.summary
    assert issue.mechanism.count("$") % 2 == 0
    assert issue.mechanism.count("$") > 0
    assert issue.sources
    assert len(issue.remedies) == 3
    assert all(issue.remedies)
    for table in issue.published:
        assert all(len(row) == len(table.columns) for row in table.rows.values())
        assert set(table.ours) <= set(table.rows)


def test_a_key_comes_before_or_after_a_query_in_every_text() -> None:
    texts = [issue.summary + issue.mechanism + " ".join((*issue.remedies, *issue.notes)) for issue in ISSUES.values()]
    texts += [term.text for term in TERMS.values()]
    for text in texts:
        assert not re.search(
            r"\bbehind\b[^.]*\b(query|key|position|token)|\b(query|key|position|token)\b[^.]*\bbehind\b", text
        )
    assert "every key $j$ that comes after query $i$" in ISSUES["missing-mask"].mechanism.replace("\n", " ")
