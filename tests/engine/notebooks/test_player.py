"""Players: a process of their own, watched over, limited, and ended with what they came to kept."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psutil
import pytest

from engine.foundation.errors import NoRoom
from engine.foundation.visitor import Visitor
from engine.hosting.allowances import Allowances
from engine.hosting.limits import Limits
from engine.notebooks import NOTEBOOKS, player
from engine.notebooks.player import Play
from engine.notebooks.players import Players
from tests.engine.workers.test_pool import until

NOTEBOOK = NOTEBOOKS["fixed-length"]
CODE = [cell.number for cell in NOTEBOOK.cells if cell.kind == "code"]
MESSAGES = "import sys, time\nfrom engine.foundation.messages import receive, send\n"
BUSY = MESSAGES + 'send(sys.stdout.buffer, {"cell": 2, "event": "started"})\ntime.sleep(600)'
"""A notebook whose first cell never ends."""

Start, PlayersOf = Callable[..., Play], Callable[..., tuple[Players, Allowances]]


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
        assert play.wait(240)


def saying(*messages: dict[str, Any]) -> str:
    """A script that says this once it is asked for a cell, not before, and then listens."""
    said = "".join(f"send(sys.stdout.buffer, {message!r})\n" for message in messages)
    return f"{MESSAGES}receive(sys.stdin.buffer)\n{said}sys.stdin.read()"


def test_its_end_is_told_and_what_it_came_to_is_kept(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped, slow, large = start(BUSY), start(BUSY, notebook_seconds=0.01), start(BUSY, notebook_memory=1000)
    for play in (stopped, slow, large):
        play.go(CODE[-1])
    until(lambda: stopped.running_cell == 2)
    stopped.stop()
    died, done = start("import sys; sys.exit(3)"), start(saying({"event": "waiting", "until": CODE[-1]}))
    done.go(CODE[-1])
    for play, why in (
        (stopped, ""),
        (slow, "It took longer than 0.0 s, which this host allows, and was ended."),
        (died, "Its process ended unexpectedly (exit code 3)."),
        (done, ""),
    ):
        assert play.wait(240)
        assert (play.state, play.why_ended) == ("ended", why)
    assert large.wait(240)
    assert "allows 1,000 B" in large.why_ended
    assert stopped.outcomes[2].state == "stopped"

    monkeypatch.setattr(player, "IDLE", 0.0)
    monkeypatch.setattr(player, "UNSEEN", 0.0)
    waiting, working = start(BUSY), start(BUSY)
    working.go(CODE[-1])
    for play, why in ((waiting, "waited for"), (working, "Nobody looked")):
        assert play.wait(240)
        assert why in play.why_ended


def test_a_word_that_it_waits_is_not_believed_when_it_was_told_to_go_on(start: Start) -> None:
    play = start(saying({"event": "waiting", "until": CODE[0]}, {"cell": CODE[1], "event": "started"}))
    play.go(CODE[1])
    until(lambda: play.running_cell == CODE[1])
    assert play.state == "running"


@pytest.fixture
def players_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[PlayersOf]:
    """Players of notebooks that never end, with the limits of a host."""
    monkeypatch.setattr("engine.notebooks.players.Play", partial(Play, command=["-c", BUSY]))
    made = list[Players]()

    def make(**limits: int) -> tuple[Players, Allowances]:
        allowances = Allowances(Limits(**limits))  # type: ignore[arg-type]
        made.append(Players(lambda: allowances))
        return made[-1], allowances

    yield make
    for players in made:
        players.close()


def test_players_limit_processes_and_put_idle_ones_away(players_of: PlayersOf) -> None:
    players, allowances = players_of(notebooks=2)
    anna, bert, carl, dora = map(Visitor, ("anna", "bert", "carl", "dora"))
    first = players.begin(NOTEBOOK, anna)
    first.go(CODE[0])
    idle = players.begin(NOTEBOOK, bert)
    with pytest.raises(NoRoom, match=r"You have 1 notebook going, and this host allows 1 at once\. Stop it"):
        players.begin(NOTEBOOK, anna)
    assert idle.state == "waiting", "nobody gives way to what is refused"
    third = players.begin(NOTEBOOK, carl)
    assert (idle.state, third.state) == ("ended", "waiting")
    assert "Others needed its place" in idle.why_ended
    assert allowances.count("notebook", bert) == 0
    third.go(CODE[0])
    with pytest.raises(NoRoom, match="2 notebooks of all visitors are going, as many as this host allows"):
        players.begin(NOTEBOOK, dora)
    assert players.find(idle.id) is idle, "its outputs can still be seen"
    players.close()
    assert first.wait(240)
    assert (first.state, allowances.count("notebook", anna)) == ("ended", 0)


def test_a_visitor_has_as_many_as_the_host_allows_and_the_one_that_waits_gives_way(players_of: PlayersOf) -> None:
    players, allowances = players_of(notebooks_per_visitor=2)
    anna = Visitor("anna")
    busy, waiting = players.begin(NOTEBOOK, anna), players.begin(NOTEBOOK, anna)
    busy.go(CODE[0])
    third = players.begin(NOTEBOOK, anna)
    assert (busy.state, waiting.state, third.state) == ("running", "ended", "waiting")
    assert waiting.why_ended == "You opened another one, so it was closed."
    assert allowances.count("notebook", anna) == 2
    third.stop()
    assert allowances.count("notebook", anna) == 1
    with pytest.raises(NoRoom, match=r"This host plays no notebooks\. Download this one"):
        players_of(notebooks=0)[0].begin(NOTEBOOK, anna)


def test_a_real_one_goes_on_from_where_it_was_and_holds_no_torch_here() -> None:
    players = Players(lambda: Allowances(Limits()))
    try:
        play = players.begin(NOTEBOOK)
        play.go(CODE[0])
        until(lambda: play.state != "running")
        assert (play.state, play.outcomes[CODE[0]].state) == ("waiting", "passed")
        assert "token vectors    (10, 256)" in play.outcomes[CODE[0]].text
        children = psutil.Process().children(recursive=True)
        process = next(child for child in children if "engine.notebooks.play" in child.cmdline())
        assert process.nice() > psutil.Process().nice(), "pages go first"
        play.go(CODE[-1])
        assert play.wait(240)
        assert [play.outcomes[number].state for number in CODE] == ["passed"] * len(CODE)
        assert sum(len(outcome.figures) for outcome in play.outcomes.values()) == 2
    finally:
        players.close()
