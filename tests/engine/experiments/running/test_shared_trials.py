"""Experiments that wait for the same trials: each is trained once, and who stops takes nothing from the others."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from engine.experiments.experiment import Experiment
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
