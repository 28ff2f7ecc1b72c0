"""Experiments over a real pool with a torch-free training."""

import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.experiments.experiment import Arm
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.trial import Trial
from engine.foundation.errors import JobError
from engine.foundation.visitor import Visitor
from engine.settings.errors import ConfigError
from engine.workers.pool import Pool
from tests.engine.experiments.fake_issue import fake_issue
from tests.engine.fake_training import RAISES
from tests.engine.workers.test_pool import pool_of

pytestmark = pytest.mark.usefixtures("own_data_folder")


@pytest.fixture
def own_pool(tmp_path: Path) -> Iterator[Pool]:
    """One worker, which the test may kill."""
    with pool_of(tmp_path) as pool:
        yield pool


def ended(run: ExperimentRun) -> ExperimentRun:
    assert run.start().wait(600)
    return run


def test_every_arm_meets_every_seed_and_the_claims_are_weighed(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a process for questions: those may be busy with others' for longer than anybody waits."""

    def busy(*_: object, **__: object) -> None:
        raise JobError("The question took longer than 30 s.")

    monkeypatch.setattr(pool, "ask", busy)
    run = ended(ExperimentRun(fake_issue(seeds=6, first_seed=10), pool))
    assert run.state == "finished"
    assert {(t.arm, t.seed) for t in run.trials} == {(a, s) for a in ("short", "long") for s in range(10, 16)}
    assert list(pool.runs.folder.glob("*/config.json")) == [], "no trial is left on disk as a run"
    found = run.report
    assert found.claims[0].finding == "holds"
    effects = [1 / (1 + s + 1) - 1 / (9 + s + 1) for s in range(10, 16)]
    assert found.claims[0].effects == pytest.approx(effects)
    assert found.values("short", "loss") == pytest.approx([1 / (2 + s) for s in range(10, 16)])
    assert run.done == 1
    assert not run.running_trials
    row = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert (row["event"], row["slug"], row["finding"]) == ("report", "fake", "holds")
    assert [row[key] for key in ("effect", "ci", "p")] == [row["claims"][0][key] for key in ("effect", "ci", "p")]
    assert {"claim", "finding", "effect", "unit", "ci", "p", "smallest_effect"} <= set(row["claims"][0])
    assert [(arm["role"], arm["metric"], len(arm["values"])) for arm in row["arms"]] == [
        ("fault", "loss", 6), ("control", "loss", 6),
    ]  # fmt: skip


def test_a_trial_that_breaks_is_left_out_of_its_pair_and_said(pool: Pool) -> None:
    run = ended(ExperimentRun(fake_issue(seeds=8, first_seed=RAISES - 7), pool))
    short, long = run.report.to_json()["arms"]
    assert short["values"][-1] is not None  # one step: it ends before it would break
    assert long["values"][-1] is None
    assert "the weights fell over" in long["outcomes"][0]
    assert run.report.claims[0].weighed.seeds == 7


def test_stopping_keeps_what_was_measured(pool: Pool) -> None:
    slow = fake_issue(base={"steps": 40, "learning_rate": 0.02})
    run = ExperimentRun(slow, pool).start()
    while not run.trials and run.state == "running":
        time.sleep(0.01)
    run.stop()
    assert run.wait(600)
    assert run.state == "stopped"
    assert 0 < len(run.trials) < run.total
    assert 0 < run.done < 1
    assert not pool.runs.live()


def test_stored_trials_are_not_trained_again_unless_they_did_not_finish(pool: Pool) -> None:
    first, kept = ended(ExperimentRun(fake_issue(seeds=2), pool)), list[Trial]()
    broken = replace(first.trials[0], outcome="The worker was ended.")
    stored = {(trial.arm, trial.seed): trial for trial in (*first.trials[1:], broken)}
    more = ExperimentRun(
        fake_issue(seeds=3), pool, find=lambda arm, seed: stored.get((arm.name, seed)), save=kept.append
    )
    assert more.done > 0
    assert more.seconds_left is None, "no pace is known yet"
    ended(more)
    assert (len(more.reused), len(more.trials)) == (3, 6)
    assert {(t.arm, t.seed) for t in kept} == {("short", 2), ("long", 2), (broken.arm, broken.seed)}
    assert more.report.claims[0].effects[:2] == first.report.claims[0].effects
    assert (more.done, more.seconds_left) == (1, 0)


def test_an_experiment_waits_for_room_and_what_the_host_refuses_ends_it_with_the_sentence(tmp_path: Path) -> None:
    with pool_of(tmp_path, size=2, queue_length=1, runs_per_worker=1, steps=9) as narrow:
        assert len(ended(ExperimentRun(fake_issue(seeds=2), narrow, visitor=Visitor("me"))).trials) == 4
        run = ended(ExperimentRun(fake_issue(seeds=2, base={"steps": 10}), narrow))
    assert (run.state, run.problem) == ("failed", "steps is 10; this host allows at most 9.")


def test_an_arm_that_does_not_parse_is_refused_before_anything_runs(pool: Pool) -> None:
    with pytest.raises(ConfigError, match="n_heads"):
        ExperimentRun(fake_issue(arms=(Arm("bad", "fault", {"n_heads": 5}),)), pool)


def test_a_trial_that_is_lost_with_its_worker_is_trained_again_once(own_pool: Pool) -> None:
    slow = fake_issue(seeds=2, base={"steps": 9, "learning_rate": 0.2})
    run = ExperimentRun(slow, own_pool).start()
    for _ in range(2):  # the second time it is lost for good
        while not (going := [trial for trial in run.running_trials if 0 < trial.run.step < trial.run.config.steps]):
            time.sleep(0.01)
        os.kill(next(worker.pid for worker in own_pool.health().workers if worker.runs), signal.SIGKILL)
        while going[0] in run.running_trials:
            time.sleep(0.01)
    assert run.wait(600)
    outcomes = {(trial.arm, trial.seed): trial.outcome for trial in run.trials}
    assert len(outcomes) == len(run.trials) == run.total
    assert [bool(outcome) for outcome in outcomes.values()].count(True) == 1
    assert "signal 9" in outcomes[going[0].arm.name, going[0].seed]
