"""Every issue once from its arms to its claims over the real pool, with a handful of steps: whatever comes out, each claim
finds its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.running.experiment_run import ExperimentRun
from engine.runs.store import Runs
from engine.workers.pool import Pool

pytestmark = pytest.mark.acceptance
STEPS = 6
COUNTS_VISITS = "length_decay"
"""A setting of arms whose numbers depend on how many steps are taken: they keep theirs."""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_LAB_DATA", str(tmp_path_factory.mktemp("data")))
        with Pool(Runs(Path(tmp_path_factory.mktemp("runs"))), size=1) as pool:
            assert pool.wait_until_ready(120)
            yield pool


def shortened(issue: Issue) -> Issue:
    def few_steps(settings: dict[str, object]) -> dict[str, object]:
        if COUNTS_VISITS in settings:
            return settings
        cut = {"steps": STEPS, **({"pretrain_steps": 2} if settings.get("pretrain_steps") else {})}
        return {**settings, **cut}

    return replace(
        issue,
        base=few_steps(dict(issue.base)),
        arms=tuple(replace(arm, settings=few_steps(dict(arm.settings))) for arm in issue.arms),
    )


@pytest.mark.parametrize("slug", ISSUES)
def test_each_claim_finds_its_numbers(slug: str, pool: Pool) -> None:
    run = ExperimentRun(replace(shortened(ISSUES[slug]), seeds=1), pool).start()
    assert run.wait(600)
    assert run.state == "finished", run.problem
    outcomes = {trial.arm: trial.outcome for trial in run.trials if trial.outcome}
    assert all("no longer finite" in outcome for outcome in outcomes.values()), outcomes
    for claim in run.report.claims:
        assert claim.weighed.seeds == 1 or outcomes, claim.claim
