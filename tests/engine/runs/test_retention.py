from pathlib import Path

import pytest

from engine.foundation.visitor import Visitor
from engine.runs.events import Ended
from engine.runs.retention import Retention, StoredRun, no_pin, too_many
from engine.runs.run import Run
from engine.runs.store import Runs
from tests.engine.fake_training import config

TEACHER, PUPIL = Visitor("teacher"), Visitor("pupil")


def add_ended_run(runs: Runs, owner: str) -> Run:
    run = runs.create(config(steps=1), owner)
    run.append([Ended(0, "stopped")])
    return run


def test_many_runs_push_out_their_owner_s_only_and_what_is_pinned_stays(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "runs")
    prepared, other = add_ended_run(runs, "teacher"), add_ended_run(runs, "teacher")
    many = [add_ended_run(runs, "pupil") for _ in range(20)]
    runs.prune(Retention(runs=10, runs_per_visitor=5))
    assert all(runs.get(run.id) for run in (prepared, other))
    assert [run.id for run in many if runs.get(run.id)] == [run.id for run in many[-5:]]

    runs.pin(prepared.id, TEACHER)
    newer = [add_ended_run(runs, f"pupil{i}") for i in range(5)]
    runs.prune(Retention(runs=2))
    assert runs.get(prepared.id)
    assert Runs(runs.folder).get(prepared.id).pinned  # type: ignore[union-attr]
    assert not runs.get(other.id)
    assert [run.id for run in newer if runs.get(run.id)] == [run.id for run in newer[-2:]]
    runs.unpin(prepared.id, TEACHER)
    runs.prune(Retention(runs=2))
    assert not runs.get(prepared.id)


def test_only_its_owner_pins_and_deletes_a_run_and_nobody_one_that_is_live(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "runs")
    run = add_ended_run(runs, "teacher")
    for act in (runs.pin, runs.unpin, runs.delete):
        with pytest.raises(ValueError, match="Somebody else started"):
            act(run.id, PUPIL)
    assert not run.pinned
    runs.delete(run.id, TEACHER)
    assert runs.get(run.id) is None
    assert not run.folder.exists()

    live = runs.create(config(), "teacher")
    runs.delete(live.id, TEACHER)
    runs.prune(Retention(runs=0, bytes=0, runs_per_visitor=0))
    assert runs.get(live.id) is live


def test_pins_are_limited_by_number_and_by_space(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "runs")
    made = [add_ended_run(runs, "teacher") for _ in range(3)]
    allowed = Retention(pinned_per_visitor=2)
    for run in made[:2]:
        runs.pin(run.id, TEACHER, allowed)
        runs.pin(run.id, TEACHER, allowed)
    with pytest.raises(ValueError, match="You keep 2 runs, and this host allows 2"):
        runs.pin(made[2].id, TEACHER, allowed)
    pinned = [StoredRun("a", "x", 40, pinned=True)]
    assert no_pin(pinned, StoredRun("b", "y", 10), Retention(bytes=100)) is None
    assert "space for kept runs is full" in str(no_pin(pinned, StoredRun("b", "y", 11), Retention(bytes=100)))


def test_pinned_and_live_runs_take_their_space_and_those_of_the_program_have_no_quota() -> None:
    apart = [StoredRun("kept", "b", 50, pinned=True), StoredRun("live", "b", 20, live=True)]
    folders = [StoredRun("new", "a", 30), StoredRun("old", "a", 30), *apart]
    assert list(too_many(folders, Retention(bytes=130))) == []
    assert list(too_many(folders, Retention(bytes=129))) == ["old"]
    assert list(too_many(folders, Retention(bytes=50))) == ["new", "old"]

    folders = [StoredRun(str(i), "", 1) for i in range(5)]
    assert list(too_many(folders, Retention(runs_per_visitor=1))) == []
    assert list(too_many(folders, Retention(runs=4, runs_per_visitor=1))) == ["4"]
