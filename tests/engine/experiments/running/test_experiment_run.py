import json
import os
import re
import signal
import time
from collections.abc import Iterable
from dataclasses import replace
from errno import EACCES
from functools import partial
from pathlib import Path
from threading import current_thread
from types import SimpleNamespace
from typing import Any, cast, get_args

import pytest

from engine.experiments.comparison import Comparison
from engine.experiments.experiment import Arm, Experiment
from engine.experiments.running import shared_trials, trial_cache
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.running.shared_trials import SharedRun, SharedTrials
from engine.experiments.trial import Trial
from engine.foundation.errors import JobError, Refused
from engine.foundation.visitor import PROGRAM, Visitor
from engine.runs.events import Started
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.serving.pool import SHARED, Pool
from engine.serving.protocol import Steering
from engine.serving.runs import preemption
from engine.settings.errors import ConfigError
from tests.engine.at_once import at_once
from tests.engine.experiments.fake_issue import fake_issue
from tests.engine.fake_training import RAISES
from tests.engine.serving.test_pool import pool_of, until
from tests.pages.scripted_experiment import MEMORY, ScriptedPool

pytestmark = pytest.mark.usefixtures("own_data_folder")


def wait_for_end(run: ExperimentRun) -> ExperimentRun:
    assert run.start().wait(600)
    return run


def test_every_arm_meets_every_seed_and_the_claims_are_weighed(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a process for questions: those may be busy with others' for longer than anybody waits."""

    def busy(*_: object, **__: object) -> None:
        raise JobError("The question took longer than 30 s.")

    monkeypatch.setattr(pool, "ask", busy)
    run = wait_for_end(ExperimentRun(fake_issue(seeds=6, first_seed=10), pool))
    assert run.state == "finished"
    assert {(t.arm, t.seed) for t in run.trials} == {(a, s) for a in ("short", "long") for s in range(10, 16)}
    assert list(pool.runs.folder.glob("*/config.json")) == [], "no trial is left on disk as a run"
    found = run.report
    assert found.claims[0].finding == "holds"
    effects = [1 / (1 + s + 1) - 1 / (9 + s + 1) for s in range(10, 16)]
    assert found.claims[0].effects == pytest.approx(effects)
    assert found.values("short", "loss") == pytest.approx([1 / (2 + s) for s in range(10, 16)])
    assert run.share_done == 1
    assert not run.running_trials
    row = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert (row["event"], row["slug"], row["finding"]) == ("report", "fake", "holds")
    assert [row[key] for key in ("effect", "ci", "p")] == [row["claims"][0][key] for key in ("effect", "ci", "p")]
    facts = {"claim", "finding", "effect", "unit", "ci", "p", "p_holm", "detectable", "smallest_effect"}
    assert facts <= set(row["claims"][0])
    assert [(arm["role"], arm["metric"], len(arm["values"])) for arm in row["arms"]] == [
        ("fault", "loss", 6), ("control", "loss", 6),
    ]  # fmt: skip


def test_a_trial_that_breaks_is_left_out_of_its_pair_and_said(pool: Pool) -> None:
    run = wait_for_end(ExperimentRun(fake_issue(seeds=8, first_seed=RAISES - 7), pool))
    short, long = run.report.to_json()["arms"]
    assert short["values"][-1] is not None  # one step: it ends before it would break
    assert long["values"][-1] is None
    assert "the weights fell over" in long["outcomes"][0]
    assert run.report.claims[0].weighed.seeds == 7


def test_stopping_keeps_what_was_measured(pool: Pool) -> None:
    slow = fake_issue(base={"steps": 40, "learning_rate": 0.02})
    run = ExperimentRun(slow, pool).start()
    assert run.seconds_left is None, "no trial was measured yet"
    until(lambda: bool(run.trials) or run.state != "running")
    assert (run.seconds_left or 0) > 0
    run.stop()
    assert run.wait(600)
    assert run.state == "stopped"
    assert 0 < len(run.trials) < run.total
    assert 0 < run.share_done < 1
    assert not pool.runs.live()


def test_stored_trials_are_not_trained_again_unless_they_did_not_finish(pool: Pool) -> None:
    first, saved = wait_for_end(ExperimentRun(fake_issue(seeds=2), pool)), list[Trial]()
    broken = replace(first.trials[0], failure="The worker was ended.")
    stored = {(trial.arm, trial.seed): trial for trial in (*first.trials[1:], broken)}
    more = ExperimentRun(fake_issue(seeds=3), pool, find=lambda arm, n: stored.get((arm.name, n)), save=saved.append)
    assert more.share_done > 0
    assert more.seconds_left is None, "no pace is known yet"
    wait_for_end(more)
    assert (len(more.reused), len(more.trials)) == (3, 6)
    assert {(t.arm, t.seed) for t in saved} == {("short", 2), ("long", 2), (broken.arm, broken.seed)}
    assert more.report.claims[0].effects[:2] == first.report.claims[0].effects
    assert (more.share_done, more.seconds_left) == (1, 0)


def test_an_experiment_waits_for_room_and_what_the_host_refuses_ends_it_with_the_sentence(tmp_path: Path) -> None:
    with pool_of(tmp_path, size=2, queue_length=1, runs_per_worker=1, steps=9) as narrow:
        assert len(wait_for_end(ExperimentRun(fake_issue(seeds=2), narrow, visitor=Visitor("me"))).trials) == 4
        run = wait_for_end(ExperimentRun(fake_issue(seeds=2, base={"steps": 10}), narrow))
    assert (run.state, run.problem) == ("failed", "steps is 10; this host allows at most 9.")


def test_an_arm_that_does_not_parse_is_refused_before_anything_runs(pool: Pool) -> None:
    with pytest.raises(ConfigError, match="n_heads"):
        ExperimentRun(fake_issue(arms=(Arm("bad", "fault", {"n_heads": 5}),)), pool)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"vocab_size": 10},
            "vocab_size is 10; it must be at least 50 in an experiment on this text, because 41.4 % of",
        ),
        ({"text": "0" * 32}, f"text is {'0' * 32}; this server has no text of that name."),
    ],
)
def test_a_text_of_which_too_much_is_unknown_is_refused_before_anything_is_trained(
    pool: Pool, settings: dict[str, object], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = {"task": "shakespeare_chars", "steps": 9, "learning_rate": 1e-6}
    assert wait_for_end(ExperimentRun(fake_issue(seeds=1, base=base), pool)).state == "finished"
    monkeypatch.setattr(pool, "submit", None)
    run = wait_for_end(ExperimentRun(fake_issue(seeds=1, base={**base, **settings}), pool))
    assert (run.state, run.trials) == ("failed", ())
    assert run.problem.startswith(sentence)


def test_a_trial_that_is_lost_with_its_worker_is_trained_again_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preemption, "MAX_RETURNS", 0)  # else it goes on at another worker
    slow = fake_issue(seeds=2, base={"steps": 9, "learning_rate": 0.2})
    with pool_of(tmp_path) as pool:
        run = ExperimentRun(slow, pool).start()
        for _ in range(2):  # the second time it is lost for good
            while not (going := [trial for trial in run.running_trials if 0 < trial.run.step < trial.run.config.steps]):
                time.sleep(0.01)
            os.kill(next(worker.pid for worker in pool.health().workers if worker.runs), signal.SIGKILL)
            until(lambda: going[0] not in run.running_trials)
        assert run.wait(600)
    outcomes = {(trial.arm, trial.seed): trial.failure for trial in run.trials}
    assert len(outcomes) == len(run.trials) == run.total
    assert [bool(failure) for failure in outcomes.values()].count(True) == 1
    assert "signal 9" in outcomes[going[0].arm.name, going[0].seed]


@pytest.fixture
def submitted(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> list[RunRequest]:
    """The requests of the runs that were really trained."""
    requests, submit = list[RunRequest](), pool.submit
    monkeypatch.setattr(pool, "submit", lambda request: requests.append(request) or submit(request))
    return requests


def together(pool: Pool, experiment: Experiment, number: int, **more: object) -> list[ExperimentRun]:
    shared = SharedTrials()
    runs = [
        ExperimentRun(experiment, pool, visitor=Visitor(f"visitor {n}"), shared=shared, **more)  # type: ignore[arg-type]
        for n in range(number)
    ]
    return [run.start() for run in runs]


def numbers(run: ExperimentRun) -> dict[tuple[str, int], dict[str, float]]:
    return {(trial.arm, trial.seed): trial.numbers for trial in run.trials}


def from_cache(experiment: Experiment) -> dict[str, object]:
    return {"find": partial(trial_cache.find, experiment), "save": partial(trial_cache.save, experiment)}


def test_a_trial_is_trained_once_for_all_who_wait_or_come_later(pool: Pool, submitted: list[RunRequest]) -> None:
    issue = fake_issue(seeds=4, base={"steps": 9, "learning_rate": 0.01})
    late = ExperimentRun(issue, pool, **from_cache(issue))  # type: ignore[arg-type]
    assert late.reused == ()
    stored = list[Trial]()

    def save(trial: Trial) -> None:
        stored.append(trial)
        trial_cache.save(issue, trial)

    runs = together(pool, issue, 5, **from_cache(issue) | {"save": save})
    assert all(run.wait(600) for run in runs)
    assert [run.state for run in runs] == ["finished"] * 5
    assert late.start().wait(600)
    assert len(submitted) == len(stored) == runs[0].total == 8
    assert (len(late.reused), late.share_done) == (8, 1)
    assert all(numbers(run) == numbers(runs[0]) for run in (*runs, late))
    assert [run.report.claims for run in (*runs, late)] == [runs[0].report.claims] * 6
    assert not pool.runs.live()
    assert list(pool.runs.folder.glob("*/config.json")) == []


def test_who_stops_takes_nothing_from_the_others_and_the_last_one_stops_the_run(pool: Pool) -> None:
    slow = fake_issue(seeds=2, base={"steps": 9, "learning_rate": 0.2})
    first, second = together(pool, slow, 2)
    going = followed_by(pool, [first, second])
    first.stop()
    assert first.wait(600)
    assert going.run.state != "stopped"
    second.stop()
    assert second.wait(600)
    assert not pool.runs.live()
    assert [run.state for run in (first, second)] == ["stopped"] * 2


def followed_by(pool: Pool, runs: list[ExperimentRun]) -> SharedRun:
    """A trial under way that all of these follow."""
    found = list[SharedRun]()

    def followed() -> bool:
        shared = [[trial.shared for trial in run.running_trials] for run in runs]
        found[:] = [one for one in shared[0] if all(one in others for others in shared) and one.run.live]
        return bool(found)

    until(followed)
    return found[0]


def test_nobody_steers_a_shared_trial_and_one_that_is_stopped_is_trained_again(pool: Pool) -> None:
    """Also not the one in whose name it runs, who may have left it."""
    slow = fake_issue(seeds=1, base={"steps": 9, "learning_rate": 0.1})
    first, second = runs = together(pool, slow, 2)
    trial = followed_by(pool, runs)
    owner = next(run for run in runs if run.visitor.id == trial.run.owner)
    owner.stop()
    assert owner.wait(600)
    with pytest.raises(Refused, match=re.escape(SHARED)):
        pool.stop(trial.run.id, owner.visitor)
    for action in get_args(Steering):
        with pytest.raises(Refused, match=re.escape(SHARED)):
            pool.steer(trial.run.id, action, owner.visitor)
    pool.stop(trial.run.id)
    other = second if owner is first else first
    assert other.wait(600)
    assert [found.failure for found in other.trials] == [""] * other.total, "it was trained once more"


def test_a_trial_is_trained_for_those_who_follow_it(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    followers = dict[str, tuple[str, ...]]()
    follow = pool.follow

    def note(run_id: str, visitors: Iterable[Visitor]) -> None:
        followers[run_id] = tuple(visitor.id for visitor in visitors)
        follow(run_id, visitors)

    monkeypatch.setattr(pool, "follow", note)
    runs = together(pool, fake_issue(seeds=2, base={"steps": 9, "learning_rate": 0.2}), 3)
    trial = followed_by(pool, runs).run.id
    until(lambda: sorted(followers.get(trial, ())) == [run.visitor.id for run in runs])
    runs[0].stop()
    until(lambda: sorted(followers[trial]) == [run.visitor.id for run in runs[1:]])
    for run in runs[1:]:
        run.stop()
    assert all(run.wait(600) for run in runs)


def test_who_leaves_runs_that_do_not_end_waits_for_all_of_them_together(monkeypatch: pytest.MonkeyPatch) -> None:
    now, waited, deleted = [100.0], list[float](), list[str]()
    monkeypatch.setattr(shared_trials, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def wait_for(_: int, timeout: float) -> None:
        waited.append(timeout)
        now[0] += timeout

    runs: list[Any] = [SimpleNamespace(id=name, live=True, wait_for=wait_for) for name in "abc"]
    pool: Any = SimpleNamespace(stop=lambda name: None, runs=SimpleNamespace(delete=deleted.append))
    SharedTrials().leave(pool, [SharedRun(run, [PROGRAM]) for run in runs], PROGRAM)
    assert (waited, deleted) == ([shared_trials.STOP_SECONDS, 0.0, 0.0], ["a", "b", "c"])


def trial_of(arm: str, seed: int, accuracy: float = 0.5) -> Trial:
    return Trial(arm, seed, {"accuracy": accuracy}, {"loss": [(1, 2.0), (2, 1.5)]})


def test_an_issue_uses_the_same_cache_and_its_extended_arms_and_claims_come_when_asked_for(pool: Pool) -> None:
    two, three = fake_issue(seeds=2), fake_issue(seeds=3)
    first = wait_for_end(ExperimentRun(two, pool, **from_cache(two)))  # type: ignore[arg-type]
    more = wait_for_end(ExperimentRun(three, pool, extended=True, **from_cache(three)))  # type: ignore[arg-type]
    assert len(more.reused) == 4
    assert {arm.name for arm in more.report.arms} == {"short", "long", "longest"}
    assert [len(run.report.claims) for run in (first, more)] == [2, 3]
    numbers = {(trial.arm, trial.seed): trial.number("loss") for trial in more.trials}
    assert numbers["longest", 2] < numbers["long", 2] < numbers["short", 2]


def stored(experiment: Experiment) -> list[Trial]:
    return [trial for arm in experiment.arms for trial in trial_cache.stored_trials_of(experiment, arm)]


def test_a_trial_is_found_wherever_the_same_is_trained() -> None:
    experiment = Comparison({}, ("rope",), ("permutation", "k_back")).experiment
    ours, rival = (arm.name for arm in experiment.arms[:2])
    for arm in (ours, rival):
        trial_cache.save(experiment, trial_of(arm, 3))
    assert stored(experiment) == [trial_of(ours, 3), trial_of(rival, 3)]
    other_design = Comparison({"design_features": "table"}, ("alibi", "rope"), ("permutation",)).experiment
    assert stored(other_design) == [trial_of(rival, 3)], "the design is another, the rival is not"
    assert stored(replace(experiment, seeds=3)) == []
    assert stored(replace(experiment, evaluations=5)) == []
    assert stored(replace(experiment, base={**experiment.base, "learning_rate": 0.02})) == []


def test_what_did_not_finish_or_is_of_other_code_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = Comparison({}, ("rope",), ("permutation",)).experiment
    arm = experiment.arms[0]
    trial_cache.save(experiment, replace(trial_of(arm.name, 0), failure="The worker was ended."))
    assert stored(experiment) == []
    trial_cache.save(experiment, trial_of(arm.name, 0))
    with monkeypatch.context() as patch:
        patch.setattr(trial_cache, "code_hash", lambda: "other")
        assert stored(experiment) == []
    assert len(stored(experiment)) == 1
    trial_cache.files_of(experiment, arm, [0])[0].write_text("{")
    assert stored(experiment) == []


def test_only_the_newest_trials_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_cache, "MAX_TRIALS", 3)
    experiment = Comparison({}, ("rope",), ("permutation",)).experiment
    for seed in range(5):
        trial_cache.save(experiment, trial_of(experiment.arms[0].name, seed))
    trial_cache.delete_oldest()
    assert len(stored(experiment)) == 3


def test_stored_trials_are_counted_without_opening_one_and_with_the_key_of_their_arm_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    experiment = Comparison({}, ("rope",), ("permutation",)).experiment
    ours, rival = experiment.arms
    for seed in (0, 1, 5, 99):
        trial_cache.save(experiment, trial_of(ours.name, seed))
    made, identity = list[Arm](), Experiment.identity
    monkeypatch.setattr(Experiment, "identity", lambda self, arm: made.append(arm) or identity(self, arm))
    monkeypatch.setattr(Path, "open", lambda *_, **__: pytest.fail("A file was opened."))
    assert [trial_cache.number_stored(experiment, arm) for arm in (ours, rival)] == [3, 0]
    assert made == [ours, rival]


def test_a_run_that_cannot_be_deleted_costs_the_experiment_nothing(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tried = list[str]()

    def delete(run_id: str) -> None:
        tried.append(run_id)
        raise OSError(EACCES, "Permission denied")

    monkeypatch.setattr(pool.runs, "delete", delete)
    run = wait_for_end(ExperimentRun(fake_issue(seeds=2), pool))
    assert (run.state, run.problem, len(run.trials), len(set(tried))) == ("finished", "", 4, 4)
    assert "The run of a trial could not be deleted: Permission denied" in caplog.text


def test_an_experiment_is_told_of_the_end_of_a_trial_and_looks_at_none_while_it_trains(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its thread shares the interpreter with every page: thirty experiments that poll again and again would delay all of them."""
    looked, live = list[str](), Run.live.fget
    monkeypatch.setattr(Run, "live", property(lambda run: looked.append(current_thread().name) or live(run)))
    scripted = ScriptedPool(lambda config: 0.5, at_once=False)
    run = ExperimentRun(fake_issue(seeds=1), cast(Pool, scripted)).start()
    for trial in range(2):
        until(lambda number=trial: len(scripted.submitted) > number)
        scripted.submitted[trial].append([Started(10, MEMORY, 100.0, {"loss": 2.0}, 2.0, "cpu")])
        if trial:
            time.sleep(1.0)  # nothing happens, for as long as fifty looks took before
            assert looked.count("experiment on “Fake”") < 25
        scripted.finish(scripted.submitted[trial])
    assert run.wait(600)
    assert (run.state, len(run.trials)) == ("finished", 2)


def test_thirty_trials_that_end_at_once_are_all_kept_while_the_oldest_are_deleted() -> None:
    experiment = replace(Comparison({}, ("rope",), ("permutation",)).experiment, seeds=15)
    there = [trial_of(arm.name, seed) for arm in experiment.arms[:2] for seed in range(15)]

    def save(number: int) -> None:
        trial_cache.save(experiment, there[number])
        trial_cache.delete_oldest()

    at_once(save)
    assert stored(experiment) == there
