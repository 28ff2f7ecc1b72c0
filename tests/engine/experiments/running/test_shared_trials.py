"""Trials that several wait for are trained once, and those left on this machine are used again by whom they fit."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from engine.experiments.comparison import BASE, comparison
from engine.experiments.experiment import Experiment
from engine.experiments.issues import ISSUES
from engine.experiments.running import shared_trials, trial_cache
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.running.shared_trials import SharedRun, SharedTrials
from engine.experiments.trial import Trial
from engine.foundation.visitor import Visitor
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.workers.pool import Pool
from tests.engine.experiments.fake_issue import fake_issue

pytestmark = pytest.mark.usefixtures("own_data_folder")


@pytest.fixture
def submitted(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> list[RunRequest]:
    """The requests of the runs that were really trained."""
    requests, submit = list[RunRequest](), pool.submit

    def counted(request: RunRequest) -> Run:
        requests.append(request)
        return submit(request)

    monkeypatch.setattr(pool, "submit", counted)
    return requests


def together(pool: Pool, experiment: Experiment, number: int, **more: object) -> list[ExperimentRun]:
    """So many visitors press Run at once."""
    shared = SharedTrials()
    runs = [
        ExperimentRun(experiment, pool, visitor=Visitor(f"visitor {n}"), shared=shared, **more)  # type: ignore[arg-type]
        for n in range(number)
    ]
    return [run.start() for run in runs]


def numbers(run: ExperimentRun) -> dict[tuple[str, int], dict[str, float]]:
    return {(trial.arm, trial.seed): trial.numbers for trial in run.trials}


def kept(experiment: Experiment) -> dict[str, object]:
    return {"find": partial(trial_cache.find, experiment), "save": partial(trial_cache.save, experiment)}


def test_a_trial_is_trained_and_stored_once_for_all_who_wait_for_it_or_come_to_it_later(
    pool: Pool, submitted: list[RunRequest]
) -> None:
    issue = fake_issue(seeds=4, base={"steps": 9, "learning_rate": 0.01})
    late = ExperimentRun(issue, pool, **kept(issue))  # type: ignore[arg-type]
    assert late.reused == ()
    stored = list[Trial]()

    def save(trial: Trial) -> None:
        stored.append(trial)
        trial_cache.save(issue, trial)

    runs = together(pool, issue, 5, **kept(issue) | {"save": save})
    assert all(run.wait(600) for run in runs)
    assert [run.state for run in runs] == ["finished"] * 5
    assert late.start().wait(600)
    assert len(submitted) == len(stored) == runs[0].total == 8
    assert (len(late.reused), late.done) == (8, 1)
    assert all(numbers(run) == numbers(runs[0]) for run in (*runs, late))
    assert [run.report.claims for run in (*runs, late)] == [runs[0].report.claims] * 6
    assert not pool.runs.live()
    assert list(pool.runs.folder.glob("*/config.json")) == []


def test_who_stops_takes_nothing_from_the_others_and_the_last_one_stops_the_run(pool: Pool) -> None:
    slow = fake_issue(seeds=2, base={"steps": 9, "learning_rate": 0.2})
    first, second = together(pool, slow, 2)
    going = None
    while going is None:
        both = [trial.shared for trial in first.running_trials], [trial.shared for trial in second.running_trials]
        going = next((shared for shared in both[0] if shared in both[1] and shared.run.live), None)
    first.stop()
    assert first.wait(600)
    assert going.run.state != "stopped"
    second.stop()
    assert second.wait(600)
    assert not pool.runs.live()
    assert [run.state for run in (first, second)] == ["stopped"] * 2


def test_who_leaves_runs_that_do_not_end_waits_for_all_of_them_together(monkeypatch: pytest.MonkeyPatch) -> None:
    now, waited, deleted = [100.0], list[float](), list[str]()
    monkeypatch.setattr(shared_trials, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def wait_for(_: int, timeout: float) -> None:
        waited.append(timeout)
        now[0] += timeout

    runs: list[Any] = [SimpleNamespace(id=name, live=True, wait_for=wait_for) for name in "abc"]
    pool: Any = SimpleNamespace(stop=lambda name: None, runs=SimpleNamespace(delete=deleted.append))
    SharedTrials().leave(pool, [SharedRun(run) for run in runs])
    assert (waited, deleted) == ([shared_trials.TIMEOUT, 0.0, 0.0], ["a", "b", "c"])


def test_a_trial_that_measures_time_is_trained_for_each_who_asks(pool: Pool, submitted: list[RunRequest]) -> None:
    issue = fake_issue(seeds=1)
    timed = replace(issue, arms=tuple(replace(arm, alone=True) for arm in issue.arms))
    runs = together(pool, timed, 2, **kept(timed))
    assert all(run.wait(600) for run in runs)
    assert len(submitted) == 4


def trial_of(arm: str, seed: int, accuracy: float = 0.5) -> Trial:
    return Trial(arm, seed, {"accuracy": accuracy}, {"loss": [(1, 2.0), (2, 1.5)]})


def trained(experiment: Experiment, pool: Pool, *, extended: bool = False) -> tuple[ExperimentRun, set[str]]:
    """The run over the cache, and the arms that it trained."""
    saved: set[str] = set()

    def save(trial: Trial) -> None:
        saved.add(trial.arm)
        trial_cache.save(experiment, trial)

    run = ExperimentRun(experiment, pool, extended=extended, **kept(experiment) | {"save": save}).start()  # type: ignore[arg-type]
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
