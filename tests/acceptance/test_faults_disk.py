"""A full and a read-only disk under the real server: it starts, its pages open, and what could not be stored is said."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from engine.runs.events import Ended
from tests.acceptance.scene import LONG, healthz, on_disk, open_every_page, play, steps_of, train, until
from tests.load.session import opened, visitor
from tests.serving import running

pytestmark = [pytest.mark.acceptance, pytest.mark.skipif(sys.platform != "linux", reason="mounts a small disk")]

FULL, READ_ONLY = "No space left on device", "Read-only file system"
UNSAVED = "This run cannot be saved: {}. It goes on, but it is gone when the app is started anew: download what you want to keep."
NO_RESULT = (
    "The sweep is over, and its result cannot be saved: {}. It is gone when the app is started anew: "
    "download what you want to keep."
)
REFUSED = "The run cannot be saved: {}."


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 8 MiB, at the place of the data folder."""
    data = tmp_path / "data"
    data.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", data], capture_output=True)
    if mounted.returncode:
        pytest.skip("Only root may mount a small disk.")
    yield data
    subprocess.run(["umount", "--lazy", data], check=True)


def fill(disk: Path) -> None:
    """Take what is left of the disk, to the last byte."""
    with (disk / "filler").open("ab", buffering=0) as file:
        for size in (2**16, 1):
            with suppress(OSError):
                while True:
                    file.write(b"x" * size)


def set_writable(disk: Path, *, writable: bool) -> None:
    subprocess.run(["mount", "-o", f"remount,{'rw' if writable else 'ro'}", disk], check=True)


def refuse(disk: Path, problem: str) -> None:
    """From now on the disk takes nothing."""
    if problem == FULL:
        fill(disk)
    else:
        set_writable(disk, writable=False)


def refuses(disk: Path) -> int:
    """The number of the error with which the disk refuses a byte."""
    try:
        (disk / "byte").write_bytes(b"x")
    except OSError as error:
        return error.errno or 0
    (disk / "byte").unlink()
    return 0


@pytest.mark.parametrize(("problem", "number"), [(FULL, errno.ENOSPC), (READ_ONLY, errno.EROFS)])
def test_the_server_starts_on_it_and_its_pages_open(tmp_path: Path, disk: Path, problem: str, number: int) -> None:
    refuse(disk, problem)
    assert refuses(disk) == number

    async def scene() -> None:
        async with visitor() as http:
            with running("app.py", tmp_path) as (server, address):
                await open_every_page(http, address)
                async with opened(http, address, "lab") as tab:
                    await until(lambda: healthz(address) == 200)
                    for _ in range(2):
                        await tab.press("Train")
                        assert REFUSED.format(problem) in tab.alerts
                        assert tab.board is None
                    assert tab.errors == 0
                async with opened(http, address, "text") as tab:
                    await tab.move("Text")
                    await tab.write("Or paste it here", "To be, or not to be. " * 500)
                    await tab.press("Use this text")
                    assert f"The disk does not take it: {problem}." in tab.alerts
                async with opened(http, address, "issues", "issue=heads") as tab:
                    await tab.press("Run")
                    await until(lambda: REFUSED.format(problem) in tab.figures or tab.errors)
                    assert tab.errors == 0
                async with opened(http, address, "memory-and-time", "longest=128&rounds=1") as tab:
                    await tab.press("Measure")
                    await until(lambda: NO_RESULT.format(problem) in tab.alerts or tab.errors)
                    assert tab.errors == 0
                assert server.poll() is None
        assert "Traceback" not in (tmp_path / "log.txt").read_text()
        assert not list(disk.glob("runs/*")), "nothing half-made is left of the refused runs"

    play(scene())


@pytest.mark.parametrize("problem", [FULL, READ_ONLY])
@pytest.mark.parametrize("mended", [True, False])
def test_it_stops_taking_anything_while_a_run_trains(tmp_path: Path, disk: Path, problem: str, mended: bool) -> None:
    def take() -> None:
        if problem == FULL:
            (disk / "filler").unlink()
        else:
            set_writable(disk, writable=True)

    async def scene() -> None:
        async with visitor() as http:
            with running("app.py", tmp_path) as (_, address):
                async with opened(http, address, "lab", LONG) as tab, opened(http, address, "lab") as other:
                    board = await train(address, tab)
                    refuse(disk, problem)
                    step = board.step
                    await until(lambda: board.step > step + 20)
                    await other.press("Train")
                    assert REFUSED.format(problem) in other.alerts
                    await tab.press("Pause")
                    await until(lambda: board.state == "paused" and tab.has("Resume"))
                    await tab.press("Resume")
                    await until(lambda: board.state == "running")
                    assert UNSAVED.format(problem) in tab.alerts
                    if mended:
                        take()
                    await tab.press("Stop")
                    await until(lambda: board.state == "stopped")
                    await tab.rerun("again")
                    assert (UNSAVED.format(problem) in tab.alerts) is not mended
                    if mended:
                        await train(address, other)
                    assert tab.errors == other.errors == 0
        assert "Traceback" not in (tmp_path / "log.txt").read_text()
        found = on_disk(tmp_path, board.run)
        assert steps_of(found) == list(range(1, found.step + 1))
        assert not list(found.folder.rglob("*.part"))
        if mended:
            assert found.ending == Ended(board.step, "stopped")
            assert found.weights is not None
        else:
            assert 0 < found.step < board.step
            assert (found.state, found.weights) == ("lost", None)

    play(scene())
