"""Sudden ends, again and again, while visitors train: the number of lost runs.

A plan drawn from a seed kills and stops the server's processes. Visitors train, pause, stop and leave; one runs an issue over and
over. At the end the server is asked to stop, and the folders of the runs show the fate of each.
"""

import asyncio
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import aiohttp
import psutil

from engine.runs.events import Progress
from engine.runs.run import Run
from engine.runs.store import Runs
from tools import settings
from tools.load.session import Session, open_session, visitor
from tools.server import free_port, start_server

# the events of eight minutes, and their numbers; in a shorter time once at least
PLAN = {
    "SIGTERM of the page process": 5, "kill -9 of the page process": 1, "kill -9 of a worker": 7, "SIGSTOP of a worker": 6,
    "kill -9 of the fork server": 5, "SIGSTOP of the fork server": 3, "kill -9 of all workers and the fork server": 3,
}  # fmt: skip
PLAN_SECONDS = 480.0
VISITORS = 4
LENGTHS = (331, 3001, 20011)  # the steps of the visitors' runs, which distinguish them from trials
LIMITS = settings("PROFILE=public WORKERS=2 RUNS_PER_VISITOR=3 SILENT_SECONDS=20")
FORK_SERVER = "engine.serving.processes.fork_server"


class Life:
    def __init__(self, folder: Path) -> None:
        self.folder, self.data, self.address = folder, folder / "data", ""
        self.up = asyncio.Event()
        self.runs = set[str]()  # those that pages showed
        self.events_done = Counter[str]()  # times of each event of the plan
        self.terminations = list[float]()  # seconds of each end by SIGTERM
        self.errors = self._number = 0  # elements that show an exception
        self._port, self._server = str(free_port()), ExitStack()
        self.process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        self._number += 1
        mine = self.folder / f"life-{self._number}"
        mine.mkdir()
        variables = {f"ATTENTION_LAB_{name}": value for name, value in {**LIMITS, "DATA": str(self.data)}.items()}
        server = start_server("app.py", mine, STREAMLIT_SERVER_PORT=self._port, **variables)  # type: ignore[arg-type]
        self.process, self.address = await asyncio.to_thread(self._server.enter_context, server)
        self.up.set()

    async def end(self, how: int) -> None:
        assert self.process is not None
        self.up.clear()
        began = time.perf_counter()
        self.process.send_signal(how)
        await asyncio.to_thread(self.process.wait)
        if how == signal.SIGTERM:
            self.terminations.append(time.perf_counter() - began)
        self._server.close()

    def processes(self) -> list[psutil.Process]:
        """The fork servers of this server and of earlier ones, with their children, orphans included."""
        servers = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get("ATTENTION_LAB_DATA") == str(self.data) and FORK_SERVER in process.cmdline():
                    servers.append(process)
        return servers


async def chaos(folder: Path, minutes: float, seed: int) -> list[str]:
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # pages break here, and their tasks with them
    draw, life = random.Random(seed), Life(folder)
    await life.start()
    tasks = [asyncio.create_task(visit(life, random.Random(f"{seed} {one}"))) for one in range(VISITORS)]
    tasks.append(asyncio.create_task(run_issues(life)))
    plan = [what for what, times in PLAN.items() for _ in range(max(1, round(times * minutes * 60 / PLAN_SECONDS)))]
    draw.shuffle(plan)
    for what in plan:
        await asyncio.sleep(minutes * 60 / (len(plan) + 1) * draw.uniform(0.5, 1.5))
        print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)
        await do(what, life, draw)
        life.events_done[what] += 1
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await life.end(signal.SIGTERM)
    return report(life, Runs(life.data / "runs"))


async def do(what: str, life: Life, draw: random.Random) -> None:
    number = signal.SIGSTOP if what.startswith("SIGSTOP") else signal.SIGKILL
    if what.endswith("the page process"):
        await life.end(signal.SIGTERM if what.startswith("SIGTERM") else number)
        await life.start()
        return
    assert life.process is not None
    servers = psutil.Process(life.process.pid).children()
    workers = [process for process in life.processes() if process not in servers]
    if what.endswith("a worker"):
        workers, servers = draw.sample(workers, min(1, len(workers))), []
    for process in servers if what.endswith("of the fork server") else [*workers, *servers]:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


async def visit(life: Life, draw: random.Random) -> None:
    async def train(http: aiohttp.ClientSession) -> None:
        steps = draw.choice(LENGTHS)
        async with open_session(http, life.address, "lab", f"steps={steps}&seed={draw.randrange(1000)}") as tab:
            await press(life, tab, "Train")
            await asyncio.sleep(draw.uniform(2, 10))
            match draw.choice(("Stop", "Pause", "Stop", "leave", "watch")):
                case "watch":
                    with suppress(TimeoutError):
                        await asyncio.wait_for(tab.until_ended(), 20)
                case "Stop" | "Pause" as button:
                    await press(life, tab, button)

    await again_and_again(life, train)


async def run_issues(life: Life) -> None:
    async def run(http: aiohttp.ClientSession) -> None:
        async with open_session(http, life.address, "questions", "issue=missing-mask") as tab:
            await press(life, tab, "Train it here")
            while life.up.is_set():
                await asyncio.sleep(0.5)

    await again_and_again(life, run)


async def again_and_again(life: Life, play: Callable[[aiohttp.ClientSession], Awaitable[None]]) -> None:
    while True:
        await life.up.wait()
        async with visitor() as http:  # with new cookies: those of before have runs enough
            with suppress(aiohttp.ClientError, OSError, TimeoutError):
                await asyncio.wait_for(play(http), 90)
        await asyncio.sleep(0.5)


async def press(life: Life, tab: Session, label: str) -> None:
    if tab.has(label) and label not in tab.disabled:
        await tab.press(label)
    if tab.board is not None:
        life.runs.add(tab.board.run)
    life.errors += tab.errors
    tab.errors = 0


def report(life: Life, runs: Runs) -> list[str]:
    all_runs = [run for path in runs.folder.glob("*/config.json") if (run := runs.get(path.parent.name)) is not None]
    mine = [run for run in all_runs if run.config.steps in LENGTHS]
    lost = Counter(getattr(run.ending, "reason", "") for run in mine if run.state == "lost")
    under_way = {run.id for run in runs.going()}
    gaps = [run for run in all_runs if steps_of(run) != list(range(1, run.step + 1))]
    tracebacks = sum(log.read_text(errors="replace").count("Traceback") for log in life.folder.glob("life-*/log.txt"))
    return [
        f"Done: {', '.join(f'{times} x {what}' for what, times in life.events_done.items())}.",
        f"Runs of visitors, {len(mine)}: {outcomes(mine, under_way)}.",
        *(f"  lost, {times}: {why}" for why, times in lost.items()),
        f"Trials: {outcomes([run for run in all_runs if run not in mine], under_way)}.",
        f"Runs that a page showed and that no folder holds: {len(life.runs - {run.id for run in all_runs})}.",
        f"Runs with a step that is missing or there twice: {len(gaps)}.",
        f"Half-written files: {len(list(life.data.rglob('*.part')))}. Processes left: {len(life.processes())}.",
        f"Elements with an exception: {life.errors}. Tracebacks in the log: {tracebacks}.",
        f"Ends by SIGTERM: {len(life.terminations)}, the slowest {max(life.terminations, default=0.0):.1f} s.",
    ]


def outcomes(runs: list[Run], under_way: set[str]) -> str:
    counted = Counter("going on" if run.id in under_way else run.state for run in runs)
    return ", ".join(f"{times} {state}" for state, times in counted.most_common()) or "none"


def steps_of(run: Run) -> list[int]:
    return [event.step for event in run.events if isinstance(event, Progress)]
