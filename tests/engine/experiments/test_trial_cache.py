"""Trials and comparisons that were left on this machine, and when they are the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.experiments import design_store, trial_cache
from engine.experiments.comparison import Comparison, comparison
from engine.experiments.experiment import Experiment
from engine.experiments.report import report
from engine.experiments.statistics import Weighed
from engine.experiments.trial import Trial
from engine.workers.pool import Pool


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))


def trial_of(arm: str, seed: int, accuracy: float = 0.5) -> Trial:
    return Trial(arm, seed, {"accuracy": accuracy}, {"loss": [(1, 2.0), (2, 1.5)]})


def test_a_trial_is_known_wherever_the_same_is_trained() -> None:
    issue = comparison({}, ("rope",), ("permutation", "k_back"))
    ours, rival = (arm.name for arm in issue.arms[:2])
    for arm in (ours, rival):
        trial_cache.keep(issue, trial_of(arm, 3))
    assert trial_cache.known(issue, range(8)) == [trial_of(ours, 3), trial_of(rival, 3)]
    other_design = comparison({"design_features": "table"}, ("alibi", "rope"), ("permutation",))
    assert trial_cache.known(other_design, range(8)) == [trial_of(rival, 3)], "the design is another, the rival is not"
    other_base = replace(issue, base={**issue.base, "learning_rate": 0.02})
    assert trial_cache.known(other_base, range(8)) == []


def test_a_trial_is_not_known_after_the_code_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    issue = comparison({}, ("rope",), ("permutation",))
    trial_cache.keep(issue, trial_of(issue.arms[0].name, 0))
    monkeypatch.setattr(trial_cache, "code_hash", lambda: "other")
    assert trial_cache.known(issue, range(8)) == []


def test_what_did_not_finish_or_cannot_be_read_is_not_known() -> None:
    issue = comparison({}, ("rope",), ("permutation",))
    arm = issue.arms[0]
    trial_cache.keep(issue, replace(trial_of(arm.name, 0), outcome="The worker was ended."))
    assert trial_cache.known(issue, range(8)) == []
    trial_cache.keep(issue, trial_of(arm.name, 0))
    trial_cache.file_of(issue, arm, 0).write_text("{")
    assert trial_cache.known(issue, range(8)) == []


def test_only_the_newest_trials_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_cache, "MAX_KEPT", 3)
    issue = comparison({}, ("rope",), ("permutation",))
    for seed in range(5):
        trial_cache.keep(issue, trial_of(issue.arms[0].name, seed))
    trial_cache.forget_oldest()
    assert len(trial_cache.known(issue, range(8))) == 3


def test_a_comparison_is_found_again_by_what_was_compared() -> None:
    asked = Comparison({"design_features": "table"}, ("rope",), ("permutation",), 2)
    assert design_store.find(asked.name) is None
    trials = [trial_of(arm.name, seed, 0.5 + 0.1 * seed) for arm in asked.issue.arms for seed in range(2)]
    experiment = Experiment(asked.issue, Pool, seeds=2, known=trials)  # type: ignore[arg-type]  # never started
    weighed = Weighed("inconclusive", 0.1, (-0.1, 0.3), 0.5, 2, "Two are few.")
    experiment.report = report(asked.issue, trials, range(2), weigh=lambda questions: [weighed] * len(questions))
    design_store.keep(asked, experiment)
    found = design_store.find(Comparison({"design_features": "table"}, ("rope",), ("permutation",), 2).name)
    assert found is not None
    assert found[0] == asked
    assert found[1].trials == trials
    assert found[1].report.claims == experiment.report.claims
    assert design_store.find("../" + asked.name) is None
    assert replace(asked, seeds=3).name != asked.name
