import time
from pathlib import Path

import pytest

from engine.runs.store import Runs
from engine.serving.protocol import Control
from engine.serving.runs.preemption import MAX_RETURNS, fate, plan
from engine.serving.runs.queued import QueuedRun
from tests.engine.serving.test_queue import queued

CROWD = ", ".join(f"c{n}@1, c{n}@1, c{n}@1" for n in range(4))
NOW = time.monotonic() + 1000.0


def described_run(runs: Runs, words: str, state: str) -> QueuedRun:
    """A run described by its owner and by words, each of which may have a number of seconds: "anna@1 paused 31 away 9"."""
    name, *rest = words.split()
    run = queued(runs, name)
    if state:
        run.run.append([], "paused" if "paused" in rest else "running")
    for word in rest:
        match word:
            case "paused":
                run.control(Control(run.run.id, "pause"))
            case "step" | "resume":
                run.control(Control(run.run.id, word))
            case "stopped":
                run.stop()
            case "leaving":
                run.leaving = True
            case "kept":
                run.stays_until = NOW + 1
    run.active_at = NOW - number_after("paused", words)
    return run


def number_after(word: str, words: str) -> float:
    rest = words.split()
    return float(rest[rest.index(word) + 1]) if word in rest else 0.0


@pytest.mark.parametrize(
    ("waiting", "on_workers", "leave"),
    [
        ("", "anna paused 29", ""),
        ("", "anna paused 31, ben", "anna"),
        ("carla", "anna paused 1, ben paused 3", "ben"),
        ("carla away 9", "ben paused 3", ""),
        ("carla own", "ben paused 3", "ben"),
        ("", "anna paused 31 step, ben paused 31 resume, carla paused 31 kept, dora paused 31 stopped", ""),
        ("", "anna? paused 31", ""),
        # One of who has left, the longest away before the others, for each that waits.
        ("carla", "anna away 9, ben away 20, dora", "ben"),
        ("carla, carla", "anna away 9, ben away 20, dora", "anna, ben"),
        ("carla", "anna away 4, dora", ""),
        ("carla?", "anna away 9, dora", "anna"),
        ("carla own", "anna away 9", ""),
        ("carla", "anna away 9 own", ""),
        ("carla away 9", "anna away 20", ""),
        ("carla", "anna away 9, ben away 20 leaving", ""),
        ("carla", "anna away 9, ben paused 3", "ben"),
        ("carla", "anna away 9 step", ""),
        ("carla", "anna away 9 paused 1, ben away 9 kept, dora away 9 stopped, emil? away 9", ""),
        # Who has the most gives a place to who has two fewer.
        ("anna@2", CROWD, "c3"),
        ("anna@2, anna@2, ben@3", CROWD, "c1, c2, c3"),
        ("anna@2", "c0@1, c1@1, ben@2", ""),
        ("anna@2, anna@2", "c0@1, c1@1, c2@1, ben@2", "c2"),
        ("c4@1", CROWD, "c3"),
        ("c0@1", CROWD, ""),
        ("anna@2", "a?, b?, c?, d?, e?", ""),
        ("anna", "ben, ben, carla", "ben"),
    ],
)
def test_who_stands_still_has_left_or_has_most_leaves_a_worker(
    waiting: str, on_workers: str, leave: str, tmp_path: Path
) -> None:
    runs, away, dedicated = Runs(tmp_path), dict[QueuedRun, float](), dict[QueuedRun, bool]()

    def all_of(many: str, state: str) -> list[QueuedRun]:
        found = list[QueuedRun]()
        for words in filter(None, many.split(", ")):
            found.append(run := described_run(runs, words, state))
            away[run], dedicated[run] = number_after("away", words), "own" in words.split()
        return found

    waits, there = all_of(waiting, ""), all_of(on_workers, "running")
    found = plan(waits, there, away.__getitem__, lambda run: not dedicated[run], NOW)
    assert [run.run.owner.partition("@")[0] for run in found.workers] == leave.split(", " if leave else None)
    assert len(set(found.workers)) == len(found.workers)
    assert found.queue == []


def test_who_has_left_waits_for_a_minute(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    soon, later, trial = (queued(runs, name) for name in ("anna", "ben", "carla?"))
    away = {soon: 59.0, later: 61.0, trial: 99.0}
    assert plan([soon, later, trial], [], away.__getitem__, lambda run: True, NOW).queue == [later]


@pytest.mark.parametrize(
    ("words", "becomes"),
    [
        ("", "queue"),
        ("suspect", "queue"),
        ("suspect returned", "checkpoint"),
        ("returned", "queue"),
        ("blamed", "over"),
        ("stopped", "over"),
        ("closing", "checkpoint"),
        ("closing stopped", "over"),
        ("trial", "queue"),
        ("trial suspect returned", "over"),
        ("trial closing", "over"),
    ],
)
def test_what_becomes_of_a_run_whose_worker_has_ended(words: str, becomes: str, tmp_path: Path) -> None:
    run = queued(Runs(tmp_path), "anna?" if "trial" in words else "anna")
    run.returns = MAX_RETURNS if "returned" in words else MAX_RETURNS - 1
    if "stopped" in words:
        run.stop()
    found = fate(run, blamed="blamed" in words, suspect="suspect" in words, closing="closing" in words)
    assert found == becomes
