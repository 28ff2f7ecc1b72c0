"""Two servers on one data folder: a run is steered where it goes on, seen at both, and lost at both once its server is killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.scene import LONG, are_gone, healthz, on_disk, play, shown, steps_of, train, until, workers_of
from tests.load.session import opened, visitor
from tests.serving import running

pytestmark = pytest.mark.acceptance

ELSEWHERE = "This run goes on at another server that shares the data folder; it can be steered there only."
ENDED = "The app ended while this run was going; what it had written is here."


def test_the_second_shows_the_run_of_the_first_and_leaves_it_alone_until_the_first_is_killed(tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    same = str(tmp_path / "data")

    async def scene() -> None:
        async with visitor() as http:
            with (
                running("app.py", tmp_path) as (server, there),
                running("app.py", beside, ATTENTION_LAB_DATA=same) as (_, here),
            ):
                async with opened(http, there, "lab", LONG) as owner:
                    board = await train(there, owner)
                    await until(lambda: healthz(here) == 200)
                    async with opened(http, here, "lab", f"run={board.run}") as tab:
                        seen = await shown(tab)
                        assert (seen.state, seen.run) == ("running", board.run)
                        step = seen.step
                        await until(lambda: seen.step > step)
                        assert ELSEWHERE in tab.alerts
                        assert tab.disabled >= {"Pause", "Step", "Stop"}
                        step = board.step
                        await until(lambda: board.step > step)
                        assert board.state == "running", "the first goes on"
                        assert len(list((tmp_path / "data" / "servers").iterdir())) == 2

                        workers = workers_of(server)
                        server.kill()
                        server.wait()
                        await until(lambda: seen.ended)
                        assert (seen.state, seen.problem) == ("lost", ENDED)
                        assert seen.step >= board.step
                        await until(lambda: are_gone(workers))
                        await train(here, tab)  # the second goes on, too
                        assert tab.errors == 0
        found = on_disk(tmp_path, board.run)
        assert (found.state, found.step) == ("lost", seen.step)
        assert steps_of(found) == list(range(1, found.step + 1))

    play(scene())
