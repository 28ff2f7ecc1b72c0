"""Faults of the real server: what a reader's page and board say, and what lies in the data folder afterwards."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Coroutine
from pathlib import Path

import psutil
import pytest

from engine.runs.run import Run
from engine.runs.store import Runs
from tests.load.board import Board
from tests.load.session import Session, opened, visitor
from tests.serving import ROOT, free_port, running

pytestmark = pytest.mark.acceptance

PATIENCE = 90.0
LONG = "steps=50000"


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.05)


def play(scene: Coroutine[None, None, None]) -> None:
    asyncio.run(scene)


async def train(address: str, tab: Session, state: str = "running") -> Board:
    """Press Train; the board of the new run, once it is in this state."""
    await until(lambda: healthz(address) == 200)
    before = tab.board
    await tab.press("Train")
    await until(lambda: tab.board is not before or tab.alerts or tab.errors)
    board = tab.board
    assert board is not None, tab.alerts
    await until(lambda: board.state == state and (state != "running" or board.step > 0))
    return board


def on_disk(folder: Path, run_id: str) -> Run:
    """What a later server finds."""
    run = Runs(folder / "data" / "runs").get(run_id)
    assert run is not None
    return run


def workers_of(server: subprocess.Popen[bytes]) -> list[psutil.Process]:
    return [child for child in psutil.Process(server.pid).children() if "engine.workers.worker" in child.cmdline()]


def test_all_workers_killed_the_run_says_so_and_the_next_one_trains(tmp_path: Path) -> None:
    async def scene() -> None:
        with running("app.py", tmp_path) as (server, address):
            async with visitor() as http, opened(http, address, "lab", LONG) as tab:
                board = await train(address, tab)
                for worker in workers_of(server):
                    worker.kill()
                await until(lambda: board.ended)
                assert (board.state, board.problem) == (
                    "lost",
                    "Its worker process ended unexpectedly (signal 9). The same settings and seed give the same run again.",
                )
                found = on_disk(tmp_path, board.run)
                assert (found.state, found.step) == ("lost", board.step)
                again = await train(address, tab)
                await tab.press("Stop")
                await until(lambda: again.state == "stopped")
                assert healthz(address) == 200
                assert tab.errors == 0

    play(scene())


def healthz(address: str) -> int:
    """200 once a worker is ready."""
    try:
        with urllib.request.urlopen(f"{address}healthz", timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_asked_to_stop_the_server_tells_its_runs_and_leaves_no_process(tmp_path: Path) -> None:
    async def scene() -> None:
        with running("app.py", tmp_path) as (server, address):
            async with visitor() as http, opened(http, address, "lab", LONG) as tab:
                board = await train(address, tab)
                workers = workers_of(server)
                server.terminate()
                await until(lambda: server.poll() is not None)
        assert not any(worker.is_running() for worker in workers)
        found = on_disk(tmp_path, board.run)
        assert found.state == "lost"
        assert found.ending is not None
        assert found.ending.reason == "The app was closed before this run had ended."  # type: ignore[union-attr]
        assert not list((tmp_path / "data" / "servers").iterdir()), "no lease is left"

    play(scene())


@pytest.mark.parametrize("seconds", [0.5, 1.5, 3.0])
def test_asked_to_stop_while_it_starts_the_server_goes_and_starts_again(tmp_path: Path, seconds: float) -> None:
    own = {
        "STREAMLIT_SERVER_PORT": str(free_port()), "STREAMLIT_SERVER_HEADLESS": "true",
        "ATTENTION_LAB_DATA": str(tmp_path / "data"),
    }  # fmt: skip
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py"], cwd=ROOT, env=os.environ | own, start_new_session=True
    )
    time.sleep(seconds)
    server.terminate()
    assert server.wait(30) in (0, -signal.SIGTERM)
    left = [one for one in psutil.process_iter(["pid"]) if _session(one.pid) == server.pid]
    assert not [one for one in left if one.status() != psutil.STATUS_ZOMBIE]
    with running("app.py", tmp_path) as (_, address), urllib.request.urlopen(address, timeout=10) as page:
        assert page.status == 200


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0
