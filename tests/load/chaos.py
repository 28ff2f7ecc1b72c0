"""Sudden ends, again and again, while visitors train: which runs are lost?

A plan drawn from a seed kills and stops the server's processes and fills its disk. Visitors train, pause, stop and leave; one runs an issue
over and over. At the end the server is asked to stop, and the folders of the runs say what became of each.
"""

import asyncio
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import psutil

from engine.runs.events import Progress
from engine.runs.run import Run
from engine.runs.store import Runs
from tests.load.session import Session, opened, visitor
from tests.serving import free_port, running

PLAN = {
    "SIGTERM of the page process": 5, "kill -9 of the page process": 1, "kill -9 of a worker": 7, "SIGSTOP of a worker": 6,
    "kill -9 of the fork server": 5, "SIGSTOP of the fork server": 3, "kill -9 of all workers and the fork server": 3,
    "full disk": 2,
}  # fmt: skip
"""What happens in eight minutes, and how often."""
PLAN_SECONDS = 480.0
VISITORS = 4
LENGTHS = (331, 3001, 20011)
"""The steps of the visitors' runs, by which they are told apart from trials."""
DISK = 60 * 2**20
"""The bytes of the disk, where one can be mounted."""
FULL_FOR = 8.0
"""Seconds for which the disk is full."""
LIMITS = {
    "ATTENTION_LAB_PROFILE": "public", "ATTENTION_LAB_WORKERS": "2", "ATTENTION_LAB_RUNS_PER_VISITOR": "3",
    "ATTENTION_LAB_SILENT_SECONDS": "20",
}  # fmt: skip
FORK_SERVER = "engine.foundation.fork_server"


@dataclass
class Seen:
    """What the visitors and the script saw."""

    runs: set[str] = field(default_factory=set)
    stopped: set[str] = field(default_factory=set)
    """The runs whose owner pressed Stop: of one that ended while the disk was full the ending is not written."""
    done: Counter[str] = field(default_factory=Counter)
    """What was done to the server, and how often."""
    terminations: list[float] = field(default_factory=list)
    """The seconds that each end by SIGTERM took."""
    errors: int = 0
    """Elements that show an exception."""


class Life:
    """The server, which is started anew on the same data and port after each of its ends."""

    def __init__(self, folder: Path, data: Path, seen: Seen) -> None:
        self.folder, self.data, self.seen = folder, data, seen
        self.up = asyncio.Event()
        self.address = ""
        self._port = str(free_port())
        self._number = 0
        self._server = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        self._number += 1
        own = self.folder / f"life-{self._number}"
        own.mkdir()
        given = {"STREAMLIT_SERVER_PORT": self._port, "ATTENTION_LAB_DATA": str(self.data), **LIMITS}
        self._process, self.address = await asyncio.to_thread(
            self._server.enter_context, running("app.py", own, **given)
        )
        self.up.set()

    async def end(self, how: int) -> None:
        assert self._process is not None
        self.up.clear()
        began = time.perf_counter()
        self._process.send_signal(how)
        await asyncio.to_thread(self._process.wait)
        if how == signal.SIGTERM:
            self.seen.terminations.append(time.perf_counter() - began)
        self._server.close()

    def processes(self) -> list[psutil.Process]:
        """The fork servers of this server and those before it, and what they have forked, also where that has lost its parent."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get("ATTENTION_LAB_DATA") == str(self.data) and FORK_SERVER in process.cmdline():
                    found.append(process)
        return found

    def fork_servers(self) -> list[psutil.Process]:
        assert self._process is not None
        return psutil.Process(self._process.pid).children()

    def tracebacks(self) -> int:
        return sum(log.read_text(errors="replace").count("Traceback") for log in self.folder.glob("life-*/log.txt"))


async def chaos(folder: Path, minutes: float, seed: int) -> list[str]:
    """Play it, and return the lines of the report."""
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # pages break here, and their tasks with them
    draw, seen = random.Random(seed), Seen()
    with disk(folder / "disk") as (data, is_own):
        life = Life(folder, data, seen)
        await life.start()
        going = [asyncio.create_task(visit(life, random.Random(f"{seed} {one}"))) for one in range(VISITORS)]
        going.append(asyncio.create_task(run_issues(life)))
        plan = [what for what, times in PLAN.items() for _ in range(round(times * minutes * 60 / PLAN_SECONDS))]
        draw.shuffle(plan)
        for what in plan:
            await asyncio.sleep(minutes * 60 / (len(plan) + 1) * draw.uniform(0.5, 1.5))
            if what != "full disk" or is_own:
                print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)
                await do(what, life, draw)
                seen.done[what] += 1
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)
        await life.end(signal.SIGTERM)
        return report(life, seen, Runs(data / "runs"))


async def do(what: str, life: Life, draw: random.Random) -> None:
    """One of the plan's events."""
    servers = life.fork_servers()
    workers = [process for process in life.processes() if process not in servers]
    number = signal.SIGSTOP if what.startswith("SIGSTOP") else signal.SIGKILL
    match what.partition(" of ")[2]:
        case "the page process":
            await life.end(signal.SIGTERM if what.startswith("SIGTERM") else signal.SIGKILL)
            await life.start()
        case "a worker":
            send(draw.sample(workers, min(1, len(workers))), number)
        case "the fork server":
            send(servers, number)
        case "all workers and the fork server":
            send([*workers, *servers], number)
        case _:
            await fill(life.data)


def send(processes: list[psutil.Process], number: int) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


async def fill(folder: Path) -> None:
    filler = folder / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(2**16))
    await asyncio.sleep(FULL_FOR)
    filler.unlink()


@contextmanager
def disk(folder: Path) -> Iterator[tuple[Path, bool]]:
    """A folder for the data, and whether it is a small disk of its own: that takes the right to mount one."""
    folder.mkdir()
    mounted = os.name == "posix" and not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", folder], capture_output=True, check=False
    ).returncode  # fmt: skip
    try:
        yield folder, mounted
    finally:
        if mounted:
            subprocess.run(["umount", folder], check=False)


async def visit(life: Life, draw: random.Random) -> None:
    """Visitors who come one after the other and train a run each."""

    async def train(http: aiohttp.ClientSession) -> None:
        steps = draw.choice(LENGTHS)
        async with opened(http, life.address, "lab", f"steps={steps}&seed={draw.randrange(1000)}") as tab:
            await press(life, tab, "Train")
            await asyncio.sleep(draw.uniform(2, 10))
            match draw.choice(("Stop", "Pause", "Stop", "leave", "watch")):
                case "watch":
                    with suppress(TimeoutError):
                        await asyncio.wait_for(tab.until_ended(), 20)
                case "leave":
                    pass
                case button:
                    await press(life, tab, button)

    await again_and_again(life, train)


async def run_issues(life: Life) -> None:
    """A visitor who runs an issue, and another one where the server was gone."""

    async def run(http: aiohttp.ClientSession) -> None:
        async with opened(http, life.address, "issues", "issue=missing-mask") as tab:
            await press(life, tab, "Run")
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
    """Press a button that is there and can be pressed."""
    if tab.has(label) and label not in tab.disabled:
        await tab.press(label)
    if tab.board is not None:
        life.seen.runs.add(tab.board.run)
        if label == "Stop":
            life.seen.stopped.add(tab.board.run)
    life.seen.errors += tab.errors
    tab.errors = 0


def report(life: Life, seen: Seen, runs: Runs) -> list[str]:
    """What became of the runs, as the next server finds them."""
    found = [run for path in runs.folder.glob("*/config.json") if (run := runs.get(path.parent.name)) is not None]
    own = [run for run in found if run.config.steps in LENGTHS]
    trials = [run for run in found if run not in own]
    lost = Counter(reason_of(run, seen) for run in own if run.state == "lost")
    going = {run.id for run in runs.going()}
    gaps = [run.id for run in found if steps_of(run) != list(range(1, run.step + 1))]
    left = life.processes()
    slowest = max(seen.terminations, default=0.0)
    return [
        f"Done: {', '.join(f'{times} x {what}' for what, times in seen.done.items())}.",
        f"Runs of visitors, {len(own)}: {outcomes(own, going)}.",
        *(f"  lost, {times}: {why}" for why, times in lost.items()),
        f"Trials, {len(trials)}: {outcomes(trials, going)}.",
        f"Runs that a page showed and that no folder holds: {len(seen.runs - {run.id for run in found})}.",
        f"Runs with a step that is missing or there twice: {len(gaps)}.",
        f"Half-written files: {len(list(life.data.rglob('*.part')))}. Processes left: {len(left)}.",
        f"Elements with an exception: {seen.errors}. Tracebacks in the log: {life.tracebacks()}.",
        f"Ends by SIGTERM: {len(seen.terminations)}, the slowest {slowest:.1f} s.",
    ]


def reason_of(run: Run, seen: Seen) -> str:
    stopped = "Its owner had stopped it, which the disk did not take. " if run.id in seen.stopped else ""
    return f"{stopped}{getattr(run.ending, 'reason', '')} (step {run.step} of {run.config.steps})"


def outcomes(runs: list[Run], going: set[str]) -> str:
    counted = Counter("going on" if run.id in going else run.state for run in runs)
    return ", ".join(f"{times} {state}" for state, times in counted.most_common()) or "none"


def steps_of(run: Run) -> list[int]:
    return [event.step for event in run.events if isinstance(event, Progress)]
