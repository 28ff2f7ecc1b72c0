"""Players: a process of their own, watched over, limited, and ended with what they came to kept."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from engine.notebooks import NOTEBOOKS, player
from engine.notebooks.player import Play
from engine.notebooks.players import Players
from engine.workers.errors import NoRoom
from engine.workers.limits import Limits

NOTEBOOK = NOTEBOOKS["fixed-length"]
CODE = [cell.number for cell in NOTEBOOK.cells if cell.kind == "code"]
BUSY = 'print(\'{"cell": 2, "event": "started"}\', flush=True)\nimport time\ntime.sleep(600)'
"""A notebook whose first cell never ends."""

Start = Callable[..., Play]


@pytest.fixture
def start() -> Iterator[Start]:
    """A play of a script of its own in the place of the notebook."""
    plays = list[Play]()

    def begin(script: str, **limits: Any) -> Play:
        plays.append(Play(NOTEBOOK, Limits.model_validate(limits), command=["-c", script]))
        return plays[-1]

    yield begin
    for play in plays:
        play.stop()
        assert play.wait(10)


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def saying(*messages: dict[str, Any]) -> str:
    """A script that says this and then listens."""
    return f"import sys\nfor line in {[json.dumps(message) for message in messages]!r}:\n    print(line, flush=True)\nsys.stdin.read()"


def test_stop_ends_the_process_and_keeps_what_it_came_to(start: Start) -> None:
    play = start(BUSY)
    play.go(CODE[-1])
    until(lambda: play.running_cell == 2)
    play.stop()
    assert play.wait(10)
    assert (play.state, play.outcomes[2].state, play.why_ended) == ("ended", "stopped", "")


def test_a_process_that_dies_says_so(start: Start) -> None:
    play = start("import sys; sys.exit(3)")
    assert play.wait(10)
    assert (play.state, play.why_ended) == ("ended", "Its process ended unexpectedly (exit code 3).")


def test_it_ends_at_the_time_and_memory_the_host_allows(start: Start) -> None:
    for limits, said in (
        ({"notebook_seconds": 0.01}, "took longer than 0.0 s"),
        ({"notebook_memory": 1000}, "allows 1,000 B"),
    ):
        play = start(BUSY, **limits)
        play.go(CODE[-1])
        assert play.wait(20)
        assert said in play.why_ended


def test_it_is_put_away_when_nobody_looks_or_asks(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "IDLE", 0.0)
    monkeypatch.setattr(player, "UNSEEN", 0.0)
    waiting, working = start(BUSY), start(BUSY)
    working.go(CODE[-1])
    assert waiting.wait(20)
    assert working.wait(20)
    assert "waited for" in waiting.why_ended
    assert "Nobody looked" in working.why_ended


def test_a_word_that_it_waits_is_not_believed_when_it_was_told_to_go_on(start: Start) -> None:
    play = start(saying({"event": "waiting", "until": CODE[0]}, {"cell": CODE[1], "event": "started"}))
    play.go(CODE[1])
    until(lambda: play.running_cell == CODE[1])
    assert play.state == "running"


def test_after_the_last_cell_the_process_is_not_kept(start: Start) -> None:
    play = start(saying({"event": "waiting", "until": CODE[-1]}))
    play.go(CODE[-1])
    assert play.wait(10)
    assert (play.state, play.why_ended) == ("ended", "")


def test_players_limit_processes_and_put_idle_ones_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.notebooks.players.Play", _sleeper)
    players = Players(Limits(notebooks=2))
    try:
        first = players.begin(NOTEBOOK, "anna")
        first.go(CODE[0])
        with pytest.raises(NoRoom, match="“A table of ten rows” is still running"):
            players.begin(NOTEBOOK, "anna")
        idle = players.begin(NOTEBOOK, "bert")
        third = players.begin(NOTEBOOK, "carl")
        assert (idle.state, third.state) == ("ended", "waiting")
        assert "Others needed its place" in idle.why_ended
        third.go(CODE[0])
        with pytest.raises(NoRoom, match=r"as this host allows at once \(2\)"):
            players.begin(NOTEBOOK, "dora")
        assert players.find(idle.id) is idle, "its outputs can still be seen"
    finally:
        players.close()
    assert first.wait(10)
    assert first.state == "ended"


def _sleeper(notebook: Any, limits: Limits, session: str) -> Play:
    return Play(notebook, limits, session, command=["-c", BUSY])


def test_a_real_one_goes_on_from_where_it_was_and_holds_no_torch_here() -> None:
    players = Players(Limits())
    try:
        play = players.begin(NOTEBOOK)
        play.go(CODE[0])
        until(lambda: play.state != "running")
        assert (play.state, play.outcomes[CODE[0]].state) == ("waiting", "passed")
        assert "token vectors    (10, 256)" in play.outcomes[CODE[0]].text
        process = next(child for child in psutil.Process().children() if "engine.notebooks.play" in child.cmdline())
        assert process.nice() > psutil.Process().nice(), "pages go first"
        play.go(CODE[-1])
        assert play.wait(60)
        assert [play.outcomes[number].state for number in CODE] == ["passed"] * len(CODE)
        assert sum(len(outcome.figures) for outcome in play.outcomes.values()) == 2
    finally:
        players.close()
