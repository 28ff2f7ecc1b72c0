"""Trials that were left on this machine: who may use them again, and who not."""

from dataclasses import replace
from functools import partial

import pytest

from engine.experiments.comparison import BASE, comparison
from engine.experiments.experiment import Experiment
from engine.experiments.issues import ISSUES
from engine.experiments.running import trial_cache
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.trial import Trial
from engine.workers.pool import Pool
from tests.engine.experiments.fake_issue import fake_issue

pytestmark = pytest.mark.usefixtures("own_data_folder")


def trial_of(arm: str, seed: int, accuracy: float = 0.5) -> Trial:
    return Trial(arm, seed, {"accuracy": accuracy}, {"loss": [(1, 2.0), (2, 1.5)]})


def trained(experiment: Experiment, pool: Pool, *, extended: bool = False) -> tuple[ExperimentRun, set[str]]:
    """The run over the cache, and the arms that it trained."""
    saved: set[str] = set()

    def save(trial: Trial) -> None:
        saved.add(trial.arm)
        trial_cache.save(experiment, trial)

    find = partial(trial_cache.find, experiment)
    run = ExperimentRun(experiment, pool, extended=extended, find=find, save=save).start()
    assert run.wait(600)
    assert run.state == "finished", run.problem
    return run, saved


def test_comparing_again_with_one_more_rival_trains_that_one_only(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.experiments.comparison.BASE", {**BASE, "steps": 3})
    compare = partial(comparison, {"design_features": "table"}, tasks=("permutation",), seeds=2)
    first, saved = trained(compare(("rope",)), pool)
    assert saved == {arm.name for arm in first.arms}
    again, saved = trained(compare(("alibi", "rope")), pool)
    assert saved == {arm.name for arm in again.arms} - {arm.name for arm in first.arms}
    assert set(map(repr, first.trials)) <= set(map(repr, again.trials))
    same, saved = trained(compare(("alibi", "rope")), pool)
    assert (saved, len(same.reused)) == (set(), 6)


def test_an_issue_uses_the_same_cache_and_its_extended_arms_and_claims_come_when_asked_for(pool: Pool) -> None:
    first, _ = trained(fake_issue(seeds=2), pool)
    more, saved = trained(fake_issue(seeds=3), pool, extended=True)
    assert len(more.reused) == 4
    assert saved == {"short", "long", "longest"} == {arm.name for arm in more.report.arms}
    assert [len(run.report.claims) for run in (first, more)] == [2, 3]
    numbers = {(trial.arm, trial.seed): trial.number("loss") for trial in more.trials}
    assert numbers["longest", 2] < numbers["long", 2] < numbers["short", 2]


def test_a_trial_is_found_wherever_the_same_is_trained() -> None:
    experiment = comparison({}, ("rope",), ("permutation", "k_back"))
    ours, rival = (arm.name for arm in experiment.arms[:2])
    for arm in (ours, rival):
        trial_cache.save(experiment, trial_of(arm, 3))
    assert trial_cache.stored_trials(experiment) == [trial_of(ours, 3), trial_of(rival, 3)]
    other_design = comparison({"design_features": "table"}, ("alibi", "rope"), ("permutation",))
    assert trial_cache.stored_trials(other_design) == [trial_of(rival, 3)], "the design is another, the rival is not"
    assert trial_cache.stored_trials(replace(experiment, seeds=3)) == []
    assert trial_cache.stored_trials(replace(experiment, evaluations=5)) == []
    assert trial_cache.stored_trials(replace(experiment, base={**experiment.base, "learning_rate": 0.02})) == []


def test_what_measured_time_or_did_not_finish_or_is_of_other_code_or_cannot_be_read_is_not_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    issue = ISSUES["quadratic-cost"]
    timed = next(arm for arm in issue.arms_of() if arm.alone)
    trial_cache.save(issue, trial_of(timed.name, 0))
    assert trial_cache.stored_trials(issue) == []
    experiment = comparison({}, ("rope",), ("permutation",))
    arm = experiment.arms[0]
    trial_cache.save(experiment, replace(trial_of(arm.name, 0), outcome="The worker was ended."))
    assert trial_cache.stored_trials(experiment) == []
    trial_cache.save(experiment, trial_of(arm.name, 0))
    with monkeypatch.context() as patch:
        patch.setattr(trial_cache, "code_hash", lambda: "other")
        assert trial_cache.stored_trials(experiment) == []
    assert len(trial_cache.stored_trials(experiment)) == 1
    trial_cache.file_of(experiment.identity(arm), 0).write_text("{")
    assert trial_cache.stored_trials(experiment) == []


def test_only_the_newest_trials_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_cache, "MAX_KEPT", 3)
    experiment = comparison({}, ("rope",), ("permutation",))
    for seed in range(5):
        trial_cache.save(experiment, trial_of(experiment.arms[0].name, seed))
    trial_cache.delete_oldest()
    assert len(trial_cache.stored_trials(experiment)) == 3
