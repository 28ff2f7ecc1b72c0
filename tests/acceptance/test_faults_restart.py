from pathlib import Path

import psutil
import pytest

from engine.runs.events import Finished
from tests.acceptance.scene import LONG, first_board, have_ended, on_disk, site, until
from tools.load.session import visitor

pytestmark = pytest.mark.acceptance

ONE_SLOT = {"ATTENTION_LAB_WORKERS": "1", "ATTENTION_LAB_RUNS_PER_WORKER": "1"}


async def test_killed_with_a_run_that_trains_one_that_waits_and_one_that_is_checkpointed(tmp_path: Path) -> None:
    async with visitor() as me:
        async with (
            site(me, tmp_path, **ONE_SLOT) as one,
            one.tab("lab", "steps=3000") as first, one.tab("lab", LONG) as second, one.tab("lab", LONG) as third,
        ):  # fmt: skip
            away = await one.train(first)
            await first.press("Pause")
            await until(lambda: away.state == "paused")
            going = await one.train(second)  # the paused run gives it its place
            waiting = await one.train(third, "queued")
            assert (on_disk(tmp_path, away.run).folder / "request.json").exists()
            children = psutil.Process(one.server.pid).children(recursive=True)
            assert children
            one.kill()
            await until(lambda: have_ended(children))

        cut, never, checkpointed = (on_disk(tmp_path, board.run) for board in (going, waiting, away))
        assert [(run.state, run.checkpointed) for run in (cut, never, checkpointed)] == [("paused", True)] * 3
        assert cut.step >= going.step > 0, "what the reader saw is on disk"

        async with site(me, tmp_path, **ONE_SLOT) as one:
            for run in (cut, never):
                async with one.tab("lab", f"run={run.id}") as tab:
                    board = await first_board(tab)
                    await until(lambda: board.step > run.step)  # noqa: B023 called at once
                    await tab.press("Stop")
                    await until(lambda: board.has_ended)  # noqa: B023 called at once
                    assert (board.state, tab.errors) == ("stopped", 0)
            async with one.tab("lab", f"run={checkpointed.id}") as tab:
                board = await first_board(tab)
                assert (board.state, board.step) == ("paused", checkpointed.step)
                await until(one.is_ready)
                await tab.press("Resume")
                await until(lambda: board.has_ended)
                assert (board.state, board.step, tab.errors) == ("finished", 3000, 0)
        found = on_disk(tmp_path, checkpointed.id)
        assert (type(found.ending), found.step) == (Finished, 3000)
        assert found.weights is not None
        assert not (found.folder / "state.pt").exists()
