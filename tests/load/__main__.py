"""Load on the real server, which this starts itself on an empty data folder and stops again.

    python -m tests.load lab --sessions 30 --steps 2000 --rounds 3     everybody trains and moves controls in the lab
    python -m tests.load issue --sessions 30                           everybody runs the same issue
    python -m tests.load mixed --sessions 30 --minutes 2               issues, and controls on four pages
    python -m tests.load attack --sessions 29 --steps 2000             the lab beside one visitor who does the worst
    python -m tests.load crowd --sessions 44 --steps 300               one visitor beside so many cookies of another address
    python -m tests.load chaos --minutes 8 --seed 7                    sudden ends of all processes, and a full disk: what is lost?

The sessions run in one process on the same machine; what it takes stands in the table, which is written
for ``docs/load.md``.
"""

import argparse
import asyncio
import os
import platform
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import psutil

from tests.load.attacks import ATTACKS, attacked
from tests.load.chaos import chaos
from tests.load.crowd import LEAVE, STAY, crowd
from tests.load.scenarios import issue, lab, mixed, warm_up
from tests.load.table import Figures, medians, table
from tests.load.watch import at_rest
from tests.serving import running

ALONE = "one session"
Scenario = Callable[[psutil.Process, str], Awaitable[dict[str, Figures]]]
"""From the server's process and address to figures by the name of their column."""


def scenarios_of(given: argparse.Namespace) -> list[Scenario]:
    """Those of one round, each on a server of its own."""
    sessions, seconds, together = given.sessions, given.minutes * 60, f"{given.sessions} sessions"

    async def play(part: str, server: psutil.Process, address: str) -> dict[str, Figures]:
        if given.scenario == "mixed":
            return {together: await mixed(server, address, sessions, seconds)}
        if given.scenario == "issue":
            return {part: await issue(server, address, sessions if part == together else 1, seconds)}
        if given.scenario == "crowd":
            return await crowd(server, address, sessions, given.steps, seconds, stays=part == STAY)
        columns = {part: sessions} if part else {ALONE: 1, together: sessions}
        async with attacked({"": None, "nobody": None, **ATTACKS}[part], address):
            return {name: await lab(server, address, number, given.steps, seconds) for name, number in columns.items()}

    match given.scenario:
        case "attack":
            parts = ["nobody", *(given.attacks or ATTACKS)]
        case "crowd":
            parts = [LEAVE, STAY]
        case "issue":
            parts = [ALONE, together]  # on one server the second would find the trials of the first
        case _:
            parts = [""]
    return [partial(play, part) for part in parts]


def served(scenario: Scenario) -> dict[str, Figures]:
    """The figures of a scenario on a server of its own, which is warm when it begins."""

    async def play(process: psutil.Process, address: str) -> dict[str, Figures]:
        await warm_up(address)
        await at_rest(process)
        return await scenario(process, address)

    with tempfile.TemporaryDirectory() as folder, running("app.py", Path(folder)) as (server, address):
        return asyncio.run(play(psutil.Process(server.pid), address))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", choices=("lab", "issue", "mixed", "attack", "crowd", "chaos"))
    parser.add_argument("--sessions", type=int, default=2)
    parser.add_argument("--steps", type=int, default=100, help="of each run in the lab")
    parser.add_argument("--rounds", type=int, default=1, help="the table has the medians of so many")
    parser.add_argument("--minutes", type=float, default=5.0, help="the longest time of each part")
    parser.add_argument("--attacks", nargs="*", choices=list(ATTACKS), help="only these")
    parser.add_argument("--seed", type=int, default=7, help="of the plan of chaos")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # so that the server is stopped then, too
    if given.scenario == "chaos":
        with tempfile.TemporaryDirectory() as folder:
            print(*asyncio.run(chaos(Path(folder), given.minutes, given.seed)), sep="\n")
        return
    rounds: dict[str, list[Figures]] = {}
    for number in range(1, given.rounds + 1):
        for scenario in scenarios_of(given):
            for column, figures in served(scenario).items():
                rounds.setdefault(column, []).append(figures)
                print(f"Round {number}, {column}:", table({column: figures}), sep="\n\n", end="\n\n", flush=True)
    result = table({column: medians(found) for column, found in rounds.items()})
    rounded = f"{given.rounds} round{'s' * (given.rounds > 1)}"
    print(f"{result}\n\nMedians of {rounded}, {os.cpu_count()} cores, Python {platform.python_version()}.")


if __name__ == "__main__":
    main()
