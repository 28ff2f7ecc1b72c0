"""The real server on a disk that is full, read-only, or holds damaged, newer and foreign files: it starts, its pages open, and a
failure to store or read is a sentence at most."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from engine.config.run_config import RunConfig
from engine.runs.events import Ended
from engine.runs.store import Runs
from tests.acceptance.scene import LONG, first_board, on_disk, site, until
from tests.tables import tables_beside
from tools.load.session import messages, visitor

pytestmark = pytest.mark.acceptance
small_disk = pytest.mark.skipif(sys.platform != "linux", reason="mounts a small disk")

FULL, READ_ONLY = "No space left on device", "Read-only file system"
UNSAVED = "This run cannot be saved: {}. It keeps running, but will be lost if the server restarts. Download what you want to keep."
NO_RESULT = (
    "The sweep is over, and its result cannot be saved: {}. It will be lost if the server restarts. "
    "Download what you want to keep."
)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    data = tmp_path / "data"
    data.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", data], capture_output=True)
    if mounted.returncode:
        pytest.skip("Only root may mount a small disk.")
    yield data
    while data.is_mount():
        subprocess.run(["umount", "--lazy", data], check=True)


def refuse(disk: Path, problem: str) -> None:
    """Let the disk take nothing from now on."""
    if problem == READ_ONLY:
        # Above the disk: itself it cannot become read-only while the server holds a file of it open.
        subprocess.run(["mount", "--bind", disk, disk], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", disk], check=True)
        return
    with (disk / "filler").open("ab", buffering=0) as file:
        for size in (2**16, 1):  # what is left, to the last byte
            with suppress(OSError):
                while True:
                    file.write(b"x" * size)


def refused(disk: Path, problem: str, what: str = "The run cannot be saved: {}.") -> str:
    """The sentence if nothing is taken. ``what``: of a full disk that can be written."""
    if problem == READ_ONLY:
        return f"The data folder {disk} cannot be written ({problem}); set ATTENTION_LAB_DATA to a folder that can be written."
    return what.format(problem)


def accept(disk: Path, problem: str) -> None:
    if problem == READ_ONLY:
        subprocess.run(["umount", disk], check=True)
    else:
        (disk / "filler").unlink()


@small_disk
@pytest.mark.parametrize("problem", [FULL, READ_ONLY])
async def test_the_server_starts_and_pages_open(tmp_path: Path, disk: Path, problem: str) -> None:
    refuse(disk, problem)
    async with visitor() as me, site(me, tmp_path) as one:
        await one.open_every_page()
        async with one.tab("lab") as tab:
            await until(one.is_ready)
            for _ in range(2):
                await tab.press("Train")
                assert refused(disk, problem) in tab.alerts
                assert tab.board is None
            assert tab.errors == 0
        async with one.tab("lab", "preset=next-word") as tab:
            await tab.write("Or paste it here", "To be, or not to be. " * 500)
            await tab.press("Use this text")
            assert refused(disk, problem, "Could not save: {}.") in tab.alerts
        async with one.tab("questions", "issue=heads") as tab:
            await tab.press("Train it here")
            await until(lambda: refused(disk, problem) in str(tab.experiment) or tab.errors)
            assert tab.errors == 0
        async with one.tab("cost", "longest=128&rounds=1") as tab:
            await tab.press("Measure")
            await until(lambda: NO_RESULT.format(problem) in tab.alerts or tab.errors)
            assert tab.errors == 0
        assert one.server.poll() is None
    assert not list(disk.glob("runs/*")), "nothing half-made is left of the refused runs"


@small_disk
@pytest.mark.parametrize("problem", [FULL, READ_ONLY])
@pytest.mark.parametrize("mended", [True, False])
async def test_it_refuses_while_a_run_trains(tmp_path: Path, disk: Path, problem: str, mended: bool) -> None:
    async with visitor() as me, site(me, tmp_path) as one, one.tab("lab", LONG) as tab, one.tab("lab") as other:
        board = await one.train(tab)
        refuse(disk, problem)
        step = board.step
        await until(lambda: board.step > step + 20)
        await other.press("Train")
        assert refused(disk, problem) in other.alerts
        await tab.press("Pause")
        await until(lambda: board.state == "paused" and tab.has("Resume"))
        await tab.press("Resume")
        await until(lambda: board.state == "running")
        assert UNSAVED.format(problem) in tab.alerts
        if mended:
            accept(disk, problem)
        await tab.press("Stop")
        await until(lambda: board.state == "stopped")
        await tab.rerun("again")
        assert (UNSAVED.format(problem) in tab.alerts) is not mended
        if mended:
            await one.train(other)
        assert tab.errors == other.errors == 0
    found = on_disk(tmp_path, board.run)
    assert not list(found.folder.rglob("*.part"))
    if mended:
        assert found.ending == Ended(board.step, "stopped")
        assert found.weights is not None
    else:
        assert 0 < found.step < board.step
        assert (found.state, found.weights) == (
            "lost" if problem == FULL else "paused",
            None,
        )  # what asks for it stays, too


FOREIGN = tables_beside(__file__)


async def test_the_server_starts_on_damaged_newer_and_foreign_files(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for name, content in FOREIGN.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(content)
    runs = Runs(data / "runs")
    cut, newer, tomorrow, nobody = (runs.create(RunConfig().replace(steps=5)) for _ in range(4))
    (cut.folder / "events.jsonl").write_text('{"event": "prog')
    (newer.folder / "events.jsonl").write_text('{"event": "telepathy", "step": 3}\n')
    settings = json.loads((newer.folder / "config.json").read_text())["config"]
    rewrite(newer.folder / "config.json", config=settings | {"telepathy": True})
    rewrite(tomorrow.folder / "config.json", created=time.time() + 86_400)
    tomorrow.append([Ended(0, "stopped")])
    (nobody.folder / "config.json").write_text('{"id": ')

    async with visitor() as me, site(me, tmp_path) as one:
        await one.open_every_page()
        for run, state in ((cut, "lost"), (newer, "lost"), (tomorrow, "stopped")):
            async with one.tab("lab", f"run={run.id}") as tab:
                assert tab.errors == 0
            message = await anext(messages(me, one.address, run.id, 0))
            assert message["status"]["state"] == state
        async with one.tab("lab", f"run={nobody.id}") as tab:
            assert any("this server has no such run" in alert for alert in tab.alerts)
    for name in ("runs/notes.txt", "runs/lost+found/x", "evidence/heads/2-bb.json"):
        assert (data / name).exists(), "what is not ours stays"


async def test_after_the_clock_was_set_back_everything_in_the_folder_is_from_tomorrow(tmp_path: Path) -> None:
    data, now = tmp_path / "data", time.time()
    runs = Runs(data / "runs")
    old, newer, tomorrow, cut = (runs.create(RunConfig().replace(steps=5)) for _ in range(4))
    for run, created in ((old, now - 7200), (newer, now - 3600), (tomorrow, now + 86_400)):
        rewrite(run.folder / "config.json", created=created)
        run.append([Ended(0, "stopped")])
    rewrite(cut.folder / "config.json", created=now - 1800)
    for file in data.rglob("*"):
        os.utime(file, (now + 86_400, now + 86_400))

    # The newest three of four are kept; what is from tomorrow is the newest.
    limits = {"ATTENTION_LAB_KEPT_RUNS": "3"}
    async with visitor() as me, site(me, tmp_path, **limits) as one, one.tab("lab", "steps=100") as tab:
        await until(lambda: not old.folder.exists())
        board = await one.train(tab, "finished")
        assert (board.step, tab.errors) == (100, 0)
        for run, state in ((newer, "stopped"), (tomorrow, "stopped"), (cut, "lost")):
            async with one.tab("lab", f"run={run.id}") as other:
                assert ((await first_board(other)).state, other.errors) == (state, 0)
    assert on_disk(tmp_path, board.run).state == "finished"
    assert tomorrow.folder.exists()


def rewrite(file: Path, **values: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | values))
