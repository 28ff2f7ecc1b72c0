"""Places on workers are shared by people: who has the most gives one to who has two fewer."""

from pathlib import Path

import pytest

from engine.runs.store import Runs
from engine.workers.runs.room import who_makes_room
from tests.engine.workers.test_queue import queued

CROWD = " ".join(f"c{n}@1 c{n}@1 c{n}@1" for n in range(4))


@pytest.mark.parametrize(
    ("short", "going", "gives"),
    [
        ("anna@2", CROWD, "c3@1"),
        ("anna@2 anna@2 ben@3", CROWD, "c3@1 c2@1 c1@1"),
        ("anna@2", "c0@1 c1@1 ben@2", ""),
        ("anna@2 anna@2", "c0@1 c1@1 c2@1 ben@2", "c2@1"),
        ("c4@1", CROWD, "c3@1"),
        ("c0@1", CROWD, ""),
        ("anna@2", "a? b? c? d? e?", ""),
        ("anna", "ben ben carla", "ben"),
    ],
    ids=[
        "a crowd",
        "each in turn",
        "nearly equal",
        "until equal",
        "one of the crowd",
        "not its own",
        "trials",
        "unknown",
    ],
)
def test_who_has_the_most_places_gives_one_to_who_has_two_fewer(
    short: str, going: str, gives: str, tmp_path: Path
) -> None:
    runs = Runs(tmp_path)
    waits, there = ([queued(runs, told) for told in names.split()] for names in (short, going))
    found = who_makes_room(waits, there, [run for run in there if not run.request.trial])
    assert [run.run.owner for run in found] == gives.split()
    assert len({run.run.id for run in found}) == len(found)
