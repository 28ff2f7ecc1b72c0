"""A scene on the real server, as a visitor's tabs see it."""

import asyncio
import subprocess
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import psutil

from engine.runs.events import Progress
from engine.runs.run import Run
from engine.runs.store import Runs
from tests.serving import start_server
from tools.load.session import Board, Session, open_session

LONG = "steps=50000"
ENDED = "The app ended during this run. You see its data up to then."
PAGES = (
    "", "lab", "lab?preset=next-word", "encodings", "questions", "questions?issue=heads", "cost", "notebooks",
)  # fmt: skip


@dataclass
class Site:
    server: subprocess.Popen[bytes]
    address: str
    http: aiohttp.ClientSession

    def tab(self, page: str, query: str = "") -> AbstractAsyncContextManager[Session]:
        return open_session(self.http, self.address, page, query)

    async def train(self, tab: Session, state: str = "running") -> Board:
        """Press Train once a worker is ready; return the board of the new run, once it is in this state."""
        await until(self.is_ready)
        before = tab.board
        await tab.press("Train")
        await until(lambda: tab.board is not before or tab.alerts or tab.errors)
        board = tab.board
        assert board is not None, tab.alerts
        await until(lambda: board.state == state and (state != "running" or board.step > 0))
        return board

    async def open_every_page(self) -> None:
        """Check that none shows an exception."""
        for page in PAGES:
            name, _, query = page.partition("?")
            async with self.tab(name, query) as tab:
                assert tab.errors == 0, page

    def is_ready(self) -> bool:
        return healthz(self.address) == 200

    def workers(self) -> list[psutil.Process]:
        """The processes that its fork server has forked."""
        return [worker for server in psutil.Process(self.server.pid).children() for worker in server.children()]

    def processes(self, niceness: int) -> list[psutil.Process]:
        """The workers that train or answer questions (``serving/processes/priority.py``); one that starts does neither yet."""
        return [worker for worker in self.workers() if worker.nice() == niceness]

    def kill(self) -> None:
        self.server.kill()
        self.server.wait()


@asynccontextmanager
async def site(visitor: aiohttp.ClientSession, folder: Path, **environment: str) -> AsyncIterator[Site]:
    """A server with its data in this folder, and its log beside it; at its end no traceback may be in the log."""
    with start_server("app.py", folder, **environment) as (server, address):
        yield Site(server, address, visitor)
    assert "Traceback" not in (folder / "log.txt").read_text()


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(240):
        while not holds():
            await asyncio.sleep(0.05)


async def first_board(tab: Session) -> Board:
    await until(lambda: tab.board is not None and tab.board.has_message)
    return tab.board


def healthz(address: str) -> int:
    try:
        with urllib.request.urlopen(f"{address}healthz", timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def on_disk(folder: Path, run_id: str) -> Run:
    """The run as a later server finds it, without a gap in its steps."""
    run = Runs(folder / "data" / "runs").get(run_id)
    assert [event.step for event in run.events if isinstance(event, Progress)] == list(range(1, run.step + 1))
    return run


def have_ended(processes: list[psutil.Process]) -> bool:
    """True if none is left; one that has ended and that nobody has waited for does not count."""
    return not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in processes)
