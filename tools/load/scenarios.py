"""The scenarios of simulated sessions, and their figures.

lab: every session trains the default task at the same moment, follows its run and moves a control every 3 s. issue: every session
presses Train it here on the same issue at once, and moves a control every 3 s. mixed: five sessions run an issue each; the others
move controls on the lab and on Encodings.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from itertools import cycle, repeat

import psutil

from tools.load.figures import Figures, percentile, watching
from tools.load.session import Board, Session, open_session, visitor

EVERY = 3.0  # seconds from one move of a control to the next; a late answer delays none of the following
SETTLED = 10.0  # seconds after which the rush of all clicks on Train is over
FEWEST = 5  # moves of each session, also if its run ends at once
AT_ONCE = 4  # sessions that open their pages at the same time, before anything is measured
LAB = ("Depth", "Positional encoding", "Length")  # controls that are moved in turn; runs under way keep their settings
ISSUES = ("missing-mask", "no-encoding", "heads", "no-normalization", "learned-table")
MORE = ("More on this question",)  # moved next to an issue that runs
TRAIN = "Train it here"
# the pages of the mixed scenario without runs, and the controls that are moved there
PAGES_WITH_CONTROLS = (
    ("lab", LAB),
    ("encodings", ("Encoding A", "Encoding B")),
)


def phases(sessions: int) -> Iterator[float]:
    """The share of the time between two moves after which each begins, so that they do not move all at once."""
    return (number / sessions for number in range(sessions))


async def lab(server: psutil.Process, address: str, sessions: int, steps: int, seconds: float) -> Figures:
    """``seconds``: a run that has not ended then has no end."""
    queries = [("lab", f"steps={steps}&seed={seed}") for seed in range(sessions)]
    async with open_tabs(address, queries) as tabs, watching(server) as watch:
        began = time.perf_counter()
        runs = await asyncio.gather(*map(train_and_move, tabs, phases(sessions), repeat(began + seconds)))
        return moves_of(tabs) | settled_moves_of(tabs, began + SETTLED) | runs_of(runs) | watch.read()


async def issue(server: psutil.Process, address: str, sessions: int, seconds: float) -> Figures:
    """``seconds``: a run that has not times then never ends."""
    async with open_tabs(address, [("questions", f"issue={ISSUES[0]}")] * sessions) as tabs, watching(server) as watch:
        deadline = time.perf_counter() + seconds
        took = await asyncio.gather(*map(run_and_move, tabs, phases(sessions), repeat(deadline)))
        times = {"Run to its end, median (s)": percentile(took, 0.5), "Run to its end, longest (s)": max(took)}
        return moves_of(tabs) | times | watch.read()


async def mixed(server: psutil.Process, address: str, sessions: int, seconds: float) -> Figures:
    """All for ``seconds``. With fewer than five sessions each runs an issue."""
    issues = [("questions", f"issue={slug}") for slug, _ in zip(ISSUES, range(sessions), strict=False)]
    others = [page for page, _ in zip(cycle(PAGES_WITH_CONTROLS), range(sessions - len(issues)), strict=False)]
    async with open_tabs(address, [*issues, *((page, "") for page, _ in others)]) as tabs, watching(server) as watch:
        deadline = time.perf_counter() + seconds
        await asyncio.gather(*(tab.press(TRAIN) for tab in tabs[: len(issues)]))
        labels = [*(MORE for _ in issues), *(labels for _, labels in others)]
        await asyncio.gather(*map(move_until, tabs, labels, phases(sessions), repeat(deadline)))
        return moves_of(tabs) | watch.read()


@asynccontextmanager
async def open_tabs(address: str, pages: Sequence[tuple[str, str]]) -> AsyncIterator[list[Session]]:
    async with AsyncExitStack() as stack:
        few = asyncio.Semaphore(AT_ONCE)

        async def come(page: str, query: str) -> Session:
            async with few:
                http = await stack.enter_async_context(visitor())
                return await stack.enter_async_context(open_session(http, address, page, query))

        yield await asyncio.gather(*(come(page, query) for page, query in pages))


async def train_and_move(tab: Session, phase: float, deadline: float) -> tuple[float, Board | None]:
    """Press Train and move controls until the run has ended; return the time of the press and the run, None if it was
    refused."""
    clicked = time.perf_counter()
    pressing = asyncio.create_task(tab.press("Train"))
    await move_until(tab, LAB, phase, deadline, until=lambda: tab.board is not None and tab.board.has_ended)
    await pressing
    return clicked, tab.board


async def run_and_move(tab: Session, phase: float, deadline: float) -> float:
    """Press TRAIN and move a control until the issue has ended; return the seconds from press to end, infinite without
    an end."""
    clicked, took = time.perf_counter(), math.inf

    async def watch() -> None:
        nonlocal took
        await tab.press(TRAIN)
        while tab.experiment["status"]["state"] == "running":
            await asyncio.sleep(0.05)
        took = time.perf_counter() - clicked

    watching_it = asyncio.create_task(watch())
    await move_until(tab, MORE, phase, deadline, until=lambda: took < math.inf)
    watching_it.cancel()
    return took


async def move_until(
    tab: Session, labels: Sequence[str], phase: float, deadline: float, until: Callable[[], bool] = lambda: False
) -> None:
    """Move the controls in turn every 3 s, beginning after ``phase`` of that time, until a condition holds or the deadline."""
    due = time.perf_counter() + phase * EVERY
    for done, label in enumerate(cycle(labels)):
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        if (until() and done >= FEWEST) or time.perf_counter() > deadline:
            return
        await tab.move(label)
        due += EVERY


def moves_of(tabs: Sequence[Session]) -> Figures:
    times = [seconds for tab in tabs for seconds in tab.took["move"]]
    readings = [seconds for tab in tabs for seconds in tab.took["look"]]
    mine = [seconds for tab in tabs for cause in ("board", "timer") for seconds in tab.took[cause]]
    return {
        "sessions": len(tabs),
        "interactions": len(times),
        "interaction, median (s)": percentile(times, 0.5),
        "interaction, p95 (s)": percentile(times, 0.95),
        "interactions without an answer": sum(map(math.isinf, times)),
        "controls that were not there": sum(tab.missing for tab in tabs),
        "untrained models shown": len(readings),
        "untrained model, p95 (s)": percentile(readings, 0.95),
        "reruns that the page asked for itself": len(mine),
        "elements with an exception": sum(tab.errors for tab in tabs),
        "page opened, p95 (s)": percentile([seconds for tab in tabs for seconds in tab.took["open"]], 0.95),
    }


def settled_moves_of(tabs: Sequence[Session], after: float) -> Figures:
    moves = [move for tab in tabs for move in zip(tab.began["move"], tab.took["move"], strict=True)]
    settled = [seconds for began, seconds in moves if began > after]
    return {
        f"interactions after {SETTLED:.0f} seconds": len(settled),
        f"interaction after {SETTLED:.0f} seconds, p95 (s)": percentile(settled, 0.95),
    }


def runs_of(runs: Sequence[tuple[float, Board | None]]) -> Figures:
    boards = [board for _, board in runs if board is not None]
    first = [board.points[0] - clicked if board and board.points else math.inf for clicked, board in runs]
    delays = [board.shown_at - clicked if board else math.inf for clicked, board in runs]
    rates = [rate for board in boards if (rate := board.updates_per_second) is not None]
    ended_boards = [board for board in boards if board.has_ended]
    last = max((board.points[-1] for board in boards if board.points), default=math.nan)
    return {
        "click to the run on the page, median (s)": percentile(delays, 0.5),
        "click to the run on the page, p95 (s)": percentile(delays, 0.95),
        "click to first point, median (s)": percentile(first, 0.5),
        "click to first point, p95 (s)": percentile(first, 0.95),
        "steps per second, all together": sum(board.step for board in boards)
        / (last - min(clicked for clicked, _ in runs)),
        "updates per second, least": min(rates, default=math.nan),
        "updates per second, median": percentile(rates, 0.5),
        "runs without an end": len(runs) - len(ended_boards),
        "runs lost or failed": sum(board.state != "finished" for board in ended_boards),
        "streams given up for polling": sum(board.polled for board in boards),
    }


async def until_ready(address: str) -> None:
    async with visitor() as http:
        while True:
            async with http.get(f"{address}healthz") as answer:
                if answer.status == 200:
                    return
            await asyncio.sleep(0.2)


async def warm_up(address: str) -> None:
    """Open each page once and train a short run: everything is imported, the workers are awake and the machine's speed is known."""
    for page, _ in (*PAGES_WITH_CONTROLS, ("questions", ())):
        async with visitor() as http, open_session(http, address, page, "steps=20" if page == "lab" else "") as tab:
            if page == "lab":
                await tab.press("Train")
                with suppress(TimeoutError):
                    await asyncio.wait_for(tab.until_ended(), 120)
