from pathlib import Path
from types import SimpleNamespace
from typing import Any

from engine.foundation.visitor import Visitor
from engine.runs.store import Runs
from engine.serving.protocol import Audience, Followers
from engine.serving.runs.presence import AWAY_SECONDS, Presence
from tests.engine.serving.test_queue import queued


def worker_with(runs: Any) -> tuple[Any, list[Audience]]:
    audiences = list[Audience]()
    return SimpleNamespace(runs={run.run.id: run for run in runs}, audience={}, send=audiences.append), audiences


def test_a_worker_is_told_with_each_change_who_waits_for_its_runs(tmp_path: Path) -> None:
    here, runs = {"anna"}, Runs(tmp_path)
    anna, ben, trial = (queued(runs, audiences) for audiences in ("anna@10.0.0.1", "ben@10.0.0.1", "ben@10.0.0.1?"))
    trial.followers = (Visitor("ben", "10.0.0.1"), Visitor("anna", "10.0.0.1"))
    presence, (worker, audiences) = Presence(here.__contains__), worker_with([anna, ben, trial])

    def update(now: float) -> list[Followers]:
        presence.update([anna, ben, trial], now)
        presence.send_audience(worker)
        return [audiences[-1].runs[run.run.id] for run in (anna, ben, trial)]

    first = update(100.0)
    assert [followers.present for followers in first] == [True] * 3
    assert update(100.0 + AWAY_SECONDS) == first, "a page that is loaded anew is closed for a moment"
    assert len(audiences) == 1
    later = update(101.0 + AWAY_SECONDS)
    assert [followers.present for followers in later] == [True, False, True]
    assert later[2].flows == later[0].flows == first[0].flows, "who has left counts no more"
    here.add("ben")
    assert update(102.0 + AWAY_SECONDS) == first


def test_nothing_is_kept_of_visitors_without_a_run(tmp_path: Path) -> None:
    runs, presence = Runs(tmp_path), Presence(lambda _: False)
    run = queued(runs, "anna@1")
    presence.update([run], 100.0)
    presence.update([run], 107.0)
    assert presence.seconds_disconnected(run) == 7.0
    presence.update([], 108.0)
    presence.update([run], 109.0)
    assert presence.seconds_disconnected(run) == 0.0, "counted anew"


def test_the_program_itself_never_leaves(tmp_path: Path) -> None:
    presence, run = Presence(lambda _: False), queued(Runs(tmp_path), "")
    presence.update([run], 100.0)
    presence.update([run], 900.0)
    assert not presence.is_disconnected(run)
