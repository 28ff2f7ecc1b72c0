"""What scenes on the real server share: waiting, pressing Train, and looking at its processes and at its data folder."""

from __future__ import annotations

import asyncio
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Coroutine
from pathlib import Path

import aiohttp
import psutil

from engine.runs.events import Progress
from engine.runs.run import Run
from engine.runs.store import Runs
from tests.load.board import Board
from tests.load.session import Session, opened

PATIENCE = 90.0
LONG = "steps=50000"
PAGES = (
    "", "lab", "text", "attention", "encodings", "issues", "issues?issue=heads", "design", "memory-and-time", "notebooks",
)  # fmt: skip


def play(scene: Coroutine[None, None, None]) -> None:
    asyncio.run(scene)


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.05)


async def train(address: str, tab: Session, state: str = "running") -> Board:
    """Press Train once a worker is ready; the board of the new run, once it is in this state."""
    await until(lambda: healthz(address) == 200)
    before = tab.board
    await tab.press("Train")
    await until(lambda: tab.board is not before or tab.alerts or tab.errors)
    board = tab.board
    assert board is not None, tab.alerts
    await until(lambda: board.state == state and (state != "running" or board.step > 0))
    return board


async def open_every_page(http: aiohttp.ClientSession, address: str) -> None:
    """None of them shows an exception."""
    for page in PAGES:
        name, _, query = page.partition("?")
        async with opened(http, address, name, query) as tab:
            assert tab.errors == 0, page


async def shown(tab: Session) -> Board:
    """The board of the run that a link names, once a first message has come."""
    await until(lambda: tab.board is not None and tab.board.heard)
    assert tab.board is not None
    return tab.board


def healthz(address: str) -> int:
    """200 once a worker is ready."""
    try:
        with urllib.request.urlopen(f"{address}healthz", timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def folder_of(folder: Path, run_id: str) -> Path:
    return folder / "data" / "runs" / run_id


def on_disk(folder: Path, run_id: str) -> Run:
    """What a later server finds."""
    run = Runs(folder / "data" / "runs").get(run_id)
    assert run is not None
    return run


def steps_of(run: Run) -> list[int]:
    return [event.step for event in run.events if isinstance(event, Progress)]


def workers_of(server: subprocess.Popen[bytes]) -> list[psutil.Process]:
    children = psutil.Process(server.pid).children(recursive=True)
    return [child for child in children if child.cmdline()[2:3] == ["engine.workers.worker"]]


def are_gone(processes: list[psutil.Process]) -> bool:
    """Whether none is left; one that has ended and that nobody has waited for does not count."""
    return not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in processes)
