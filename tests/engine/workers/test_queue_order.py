"""Whose turn it is in the queue, and how long the others wait."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from engine.config.run_config import RunConfig
from engine.estimate.prediction import predict
from engine.foundation.visitor import Visitor
from engine.runs.request import RunRequest
from engine.runs.store import Runs
from engine.workers.protocol import Control
from engine.workers.runs.queue import in_turn, seconds_to_start
from engine.workers.runs.queued import QueuedRun

CONFIG = RunConfig()


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def queued(runs: Runs, who: str, address: str = "", *, trial: bool = False) -> QueuedRun:
    return QueuedRun(runs.create(CONFIG, who), RunRequest(CONFIG, Visitor(who, address), trial=trial), predict(CONFIG))


def owners(queue: list[QueuedRun]) -> list[str]:
    return [run.run.owner for run in queue]


def test_visitors_take_turns(runs: Runs) -> None:
    queue = [queued(runs, who) for who in ("anna", "anna", "anna", "ben", "carla", "ben")]
    assert owners(in_turn(queue, ())) == ["anna", "ben", "carla", "anna", "ben", "anna"]


def test_who_has_a_run_going_had_a_turn(runs: Runs) -> None:
    queue = [queued(runs, who) for who in ("anna", "ben")]
    assert owners(in_turn(queue, [queued(runs, "anna")])) == ["ben", "anna"]


def test_among_first_runs_addresses_take_turns(runs: Runs) -> None:
    thrown_away = [queued(runs, f"cookie {n}", "10.0.0.1") for n in range(8)]
    queue = [*thrown_away, queued(runs, "anna", "10.0.0.2"), queued(runs, "ben", "10.0.0.3")]
    assert owners(in_turn(queue, ()))[:4] == ["cookie 0", "anna", "ben", "cookie 1"]
    assert owners(in_turn(queue[1:], thrown_away[:1]))[:3] == ["anna", "ben", "cookie 1"]
    assert in_turn(in_turn(queue, ()), ()) == in_turn(queue, ()), "looking again changes nothing"


def test_trials_wait_behind_runs_that_somebody_looks_at(runs: Runs) -> None:
    queue = [
        queued(runs, "anna", trial=True),
        queued(runs, "ben"),
        queued(runs, "ben"),
        queued(runs, "carla", trial=True),
    ]
    assert [run.request.trial for run in in_turn(queue, ())] == [False, False, True, True]
    assert owners(in_turn(queue, [queued(runs, "anna", trial=True)]))[2:] == ["carla", "anna"]


def test_the_order_of_equals_is_that_of_submission(runs: Runs) -> None:
    queue = [queued(runs, "anna") for _ in range(5)]
    assert in_turn(queue, ()) == queue


@pytest.mark.parametrize(
    ("going", "waiting", "most", "starts"),
    [
        ([[]], [5, 5], 2, [0, 0]),
        ([[10]], [5, 5], 1, [10, 15]),
        ([[10, 20]], [5], 2, [20]),  # two share a core: the shorter one ends after 20 s
        ([[10], [4]], [5, 5], 1, [4, 9]),
        ([[3, 3]], [6, 6], 2, [6, 6]),
    ],
)
def test_the_time_until_a_run_starts(going: object, waiting: list[float], most: int, starts: list[float]) -> None:
    assert seconds_to_start(cast("list[list[float]]", going), waiting, most) == pytest.approx(starts)


def test_without_workers_nothing_is_known() -> None:
    assert seconds_to_start([], [1.0], 2) == []


def test_a_step_asked_for_while_a_run_is_suspended_is_taken_when_it_is_back(runs: Runs) -> None:
    run = queued(runs, "anna")
    run.begin()
    run.suspending = True
    step = Control(run.run.id, "step")
    run.control_on_worker(step)
    run.begin()
    assert run.asked_since == [step]
    run.control_on_worker(Control(run.run.id, "pause"))
    assert run.asked_since == []
