"""Measure what the page Memory and time shows on arrival: ``python -m tools.costs`` writes ``engine/sweeps/shipped.json``.

It takes some minutes; the machine should do nothing else meanwhile.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from engine import sweeps
from engine.cli.cluster import warm_pool
from engine.cli.terminal import follow
from engine.sweeps.plan import Plan
from engine.sweeps.store import to_json
from engine.sweeps.sweep import Sweep

SHIPPED = Path(sweeps.__file__).with_name("shipped.json")
ROUNDS = 15


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each point is visited")
    parser.add_argument("--longest", type=int, default=Plan().longest, help="the last length, in tokens")
    parser.add_argument("--write", type=Path, default=SHIPPED, metavar="FILE")
    given = parser.parse_args(arguments)
    with warm_pool("", 1) as pool:
        sweep = Sweep(Plan(rounds=given.rounds, longest=given.longest), pool).start()
        follow(sweep, "costs")
    if sweep.state == "failed":
        raise SystemExit(sweep.problem)
    given.write.write_text(json.dumps(to_json(sweep.result), allow_nan=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
