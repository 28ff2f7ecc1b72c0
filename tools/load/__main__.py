"""Load on the real server, which this starts itself on an empty data folder and stops again.

    python -m tools.load lab --sessions 30 --steps 2000 --rounds 3     everybody trains and moves controls in the lab
    python -m tools.load issue --sessions 30                           everybody runs the same issue
    python -m tools.load mixed --sessions 30 --minutes 2               issues, and controls on the lab and Encodings
    python -m tools.load attack --sessions 29 --steps 2000             the lab beside one visitor who does the worst
    python -m tools.load attack --sessions 1 --attacks "a crowd that stays"    one session beside a crowd at another address
    python -m tools.load chaos --minutes 8 --seed 7                    sudden ends of all processes: what is lost?
    python -m tools.load lab --sessions 30 --rounds 3 --against 5644cba8    the same with that commit, in turns, and the ratio

The sessions run in one process on the same machine. The table, for ``docs/load.md``, has the share that this process takes.
"""

import argparse
import asyncio
import os
import platform
import signal
import sys
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from engine.foundation.code_hash import installed_version
from engine.foundation.provenance import today
from tools.against import checkout, name_of
from tools.load.attacks import ATTACKS, attacked
from tools.load.chaos import chaos
from tools.load.figures import Figures, at_rest, medians, table, with_ratio
from tools.load.scenarios import issue, lab, mixed, until_ready, warm_up
from tools.server import ROOT, start_server

# from the server's process and address to figures by the name of their column
Scenario = Callable[[psutil.Process, str], Coroutine[Any, Any, dict[str, Figures]]]


def scenarios_of(given: argparse.Namespace) -> list[Scenario]:
    sessions, seconds, together = given.sessions, given.minutes * 60, f"{given.sessions} sessions"

    async def play(part: str, server: psutil.Process, address: str) -> dict[str, Figures]:
        await until_ready(address)
        if given.scenario != "lab":  # who presses Train together does so at a server that has trained nothing yet
            await warm_up(address)
        await at_rest(server)
        match given.scenario:
            case "mixed":
                return {part: await mixed(server, address, sessions, seconds)}
            case "issue":
                return {part: await issue(server, address, sessions if part == together else 1, seconds)}
            case "lab":
                return {part: await lab(server, address, sessions if part == together else 1, given.steps, seconds)}
        async with attacked({"nobody": None, **ATTACKS}[part], address):
            return {part: await lab(server, address, sessions, given.steps, seconds)}

    attacks = ["nobody", *(given.attacks or ATTACKS)]
    # on one server the second part would find what the first has left
    parts = {"attack": attacks, "mixed": [together]}.get(given.scenario, ["one session", together])
    return [partial(play, part) for part in parts]


def served(scenario: Scenario, root: Path = ROOT) -> dict[str, Figures]:
    with tempfile.TemporaryDirectory() as folder, start_server("app.py", Path(folder), root=root) as (server, address):
        return asyncio.run(scenario(psutil.Process(server.pid), address))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", choices=("lab", "issue", "mixed", "attack", "chaos"))
    parser.add_argument("--sessions", type=int, default=2)
    parser.add_argument("--steps", type=int, default=100, help="steps of each run in the lab")
    parser.add_argument("--rounds", type=int, default=1, help="the table has the medians over this many rounds")
    parser.add_argument("--minutes", type=float, default=5.0, help="the most minutes for each part")
    parser.add_argument("--attacks", nargs="*", choices=list(ATTACKS), help="only these")
    parser.add_argument("--seed", type=int, default=7, help="seed of the plan for chaos")
    parser.add_argument("--against", metavar="COMMIT", help="measure this commit, too, in turns with the present one")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # so that the server is stopped then, too
    if given.scenario == "chaos":
        with tempfile.TemporaryDirectory() as folder:
            print(*asyncio.run(chaos(Path(folder), given.minutes, given.seed)), sep="\n")
        return
    with ExitStack() as stack:
        try:
            roots = [ROOT, *([stack.enter_context(checkout(given.against))] if given.against else [])]
        except ValueError as error:
            parser.error(str(error))
        names = [name_of(root) for root in roots]
        names[1:] = [f"{name}, once more" * (name == names[0]) or name for name in names[1:]]
        rounds: dict[str, dict[str, list[Figures]]] = {}
        for number in range(1, given.rounds + 1):
            for scenario in scenarios_of(given):
                for name, root in zip(names, roots, strict=True):
                    for column, figures in served(scenario, root).items():
                        rounds.setdefault(column, {}).setdefault(name, []).append(figures)
                        title = f"Round {number}, {column}, commit {name}:"
                        print(title, table({column: figures}), sep="\n\n", end="\n\n", flush=True)
    columns = {column: {name: medians(all_) for name, all_ in sides.items()} for column, sides in rounds.items()}
    if given.against:
        for column, sides in columns.items():
            print(f"{column}:", table(with_ratio(sides)), sep="\n\n", end="\n\n")
    else:
        print(table({column: sides[names[0]] for column, sides in columns.items()}), end="\n\n")
    of = " and ".join(names) + ", in turns" * bool(given.against)
    versions = f"Python {platform.python_version()}, torch {installed_version('torch')}"
    print(
        f"Medians of {given.rounds} round{'s' * (given.rounds > 1)}, commit {of}, {os.cpu_count()} cores, {versions}, {today()}."
    )


if __name__ == "__main__":
    main()
