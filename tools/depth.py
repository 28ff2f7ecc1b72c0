"""The time of one draw of initial weights, as the page Depth measures it: ``python -m tools.depth [LENGTH ...]``; some seconds.

Processor time of one thread, of which other programs take nothing away: on an idle core it is the time that a reader waits.
"""

import sys
import time
from statistics import median
from typing import Any

from torch import set_num_threads

from engine.analysis.depth.jobs import DEPTHS, dial
from engine.analysis.depth.measure import draw

DRAWS = 5
LENGTHS = (64, 128)
KINDS: tuple[dict[str, Any], ...] = ({}, {"norm": "none"}, {"skips": False, "mlp": False})


def seconds(length: int, draws: int, **settings: object) -> list[float]:
    """The processor seconds of so many draws, in ascending order; the first draw of a process is left out."""
    config, durations = dial(seq_len=length, **settings), []
    for seed in range(draws + 1):
        began = time.process_time()
        draw(config.replace(seed=seed), DEPTHS)
        durations.append(time.process_time() - began)
    return sorted(durations[1:])


def main(lengths: list[int]) -> None:
    set_num_threads(1)
    print(f"| length | settings | least (s) | median of {DRAWS} draws (s) |")
    print("|--:|---|--:|--:|")
    for length in lengths or LENGTHS:
        for settings in KINDS:
            durations = seconds(length, DRAWS, **settings)
            changed = ", ".join(f"{name}={value}" for name, value in settings.items()) or "as on arrival"
            print(f"| {length} | {changed} | {durations[0]:.2f} | {median(durations):.2f} |", flush=True)


if __name__ == "__main__":
    main(list(map(int, sys.argv[1:])))
