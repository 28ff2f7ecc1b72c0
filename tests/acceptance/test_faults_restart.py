"""The page process is killed: no process is left, and after a restart each run says what became of it or goes on."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from engine.runs.events import Failed, Finished
from tests.acceptance.scene import LONG, are_gone, folder_of, healthz, on_disk, play, shown, steps_of, train, until
from tests.load.session import opened, visitor
from tests.serving import running

pytestmark = pytest.mark.acceptance

ONE_PLACE = {"ATTENTION_LAB_WORKERS": "1", "ATTENTION_LAB_RUNS_PER_WORKER": "1"}
ENDED = "The app ended while this run was going; what it had written is here."
NOT_BEGUN = "The app ended before this run had begun."
UNREADABLE = "What was kept of this run cannot be read, so it cannot continue. The same settings and seed give the same run again."


def test_killed_with_a_run_that_trains_one_that_waits_and_one_that_is_put_away(tmp_path: Path) -> None:
    async def scene() -> None:
        async with visitor() as http:
            with running("app.py", tmp_path, **ONE_PLACE) as (server, address):
                async with (
                    opened(http, address, "lab", "steps=3000") as first,
                    opened(http, address, "lab", LONG) as second,
                    opened(http, address, "lab", LONG) as third,
                ):
                    away = await train(address, first)
                    await first.press("Pause")
                    await until(lambda: away.state == "paused")
                    going = await train(address, second)  # the paused run is put away for it
                    waiting = await train(address, third, "queued")
                    assert (folder_of(tmp_path, away.run) / "put_away.json").exists()
                    children = psutil.Process(server.pid).children(recursive=True)
                    assert children
                    server.kill()
                    server.wait()
                    await until(lambda: are_gone(children))

            lost, never, kept = (on_disk(tmp_path, one.run) for one in (going, waiting, away))
            assert (lost.state, never.state, kept.state, kept.away) == ("lost", "lost", "paused", True)
            assert lost.step >= going.step > 0, "what the reader saw is on disk"
            assert steps_of(lost) == list(range(1, lost.step + 1))

            with running("app.py", tmp_path, **ONE_PLACE) as (_, address):
                for run, sentence in ((lost, ENDED), (never, NOT_BEGUN)):
                    async with opened(http, address, "lab", f"run={run.id}") as tab:
                        board = await shown(tab)
                        assert (board.state, board.step, board.problem) == ("lost", run.step, sentence)
                        assert board.last == len(run.events), "the whole curve"
                        assert tab.errors == 0
                async with opened(http, address, "lab", f"run={kept.id}") as tab:
                    board = await shown(tab)
                    assert (board.state, board.step) == ("paused", kept.step)
                    await until(lambda: healthz(address) == 200)
                    await tab.press("Resume")
                    await until(lambda: board.ended)
                    assert (board.state, board.step) == ("finished", 3000)
                    assert tab.errors == 0
            found = on_disk(tmp_path, kept.id)
            assert isinstance(found.ending, Finished)
            assert steps_of(found) == list(range(1, 3001))
            assert found.weights is not None
            assert not (found.folder / "state.pt").exists()

    play(scene())


@pytest.mark.parametrize("damage", ["empty", "foreign", "cut"])
def test_a_damaged_state_that_was_put_away_is_one_sentence(tmp_path: Path, damage: str) -> None:
    async def scene() -> None:
        async with visitor() as http:
            with running("app.py", tmp_path, **ONE_PLACE) as (server, address):
                async with opened(http, address, "lab", LONG) as tab, opened(http, address, "lab", LONG) as other:
                    board = await train(address, tab)
                    await tab.press("Pause")
                    await until(lambda: board.state == "paused")
                    await train(address, other)  # the paused run is put away for it
                    step = board.step
                    server.kill()
                    server.wait()
            state = folder_of(tmp_path, board.run) / "state.pt"
            content = state.read_bytes()
            state.write_bytes({"empty": b"", "foreign": b"not a state", "cut": content[: len(content) // 2]}[damage])
            with running("app.py", tmp_path, **ONE_PLACE) as (_, address):
                async with opened(http, address, "lab", f"run={board.run}") as tab:
                    again = await shown(tab)
                    assert (again.state, again.step) == ("paused", step)
                    await until(lambda: healthz(address) == 200)
                    await tab.press("Resume")
                    await until(lambda: again.ended)
                    assert (again.state, again.step, again.problem) == ("failed", step, UNREADABLE)
                    assert tab.errors == 0
                    await train(address, tab)  # the worker is well
            found = on_disk(tmp_path, board.run)
            assert isinstance(found.ending, Failed)
            assert found.ending.reason == UNREADABLE
            assert steps_of(found) == list(range(1, step + 1))

    play(scene())
